. "$(dirname "$0")/common.sh"
mkdir kernels
cp "$corpus/softmax.hsaco" "$corpus/softmax.json" kernels/
compare() { asmevo suite compare kernels -o runs --budget 6 "$@"; }
expect_exit 0 compare --drivers rewrite,random
expect_text 'rewrite is better than random on 1 of 1 kernels'
grep -q '<polyline' runs/suite.svg || fail 'no plot'
expect_json runs/suite.json
[ "$(json runs/suite.json '$.runs[1].evaluations')" = 6 ] || fail 'suite.json does not hold the curve'
accepted=$(json runs/suite.json '$.runs[0].accepted')
[ "$accepted" -ge 1 ] || fail 'rewrite found nothing'

before=$(stat -c %Y.%s runs/softmax.rewrite.asmevo/lineage.sqlite)
expect_exit 1 compare --drivers rewrite,random,nobody
expect_text 'softmax by nobody: '
expect_text 'no such driver'
[ "$before" = "$(stat -c %Y.%s runs/softmax.rewrite.asmevo/lineage.sqlite)" ] || fail 'a finished search ran again'

# Curves of one plot have one budget and one seed.
expect_exit 2 compare --drivers rewrite,random --seed 3
expect_one_line runs/softmax.rewrite.asmevo
expect_exit 2 asmevo suite compare kernels -o runs --budget 7 --drivers rewrite
expect_one_line runs/softmax.rewrite.asmevo
expect_exit 2 asmevo suite compare kernels -o runs --budget many
expect_one_line "--budget many"

expect_exit 0 asmevo suite audit runs
expect_text "$accepted of $accepted accepted versions hold"
expect_exit 2 asmevo suite compare runs -o other
expect_one_line runs
expect_exit 2 asmevo suite audit kernels
expect_one_line kernels
