. "$(dirname "$0")/common.sh"
search() { asmevo optimize "$corpus/$1.hsaco" --launch "$corpus/$1.json" -o "$2.hsaco" --driver superopt --budget "$3"; }
of() { sqlite3 "$1.hsaco.asmevo/lineage.sqlite" "$2"; }
expect_exit 0 search rope rope 1
[ "$(of rope "SELECT outcome FROM attempts")" = accepted ] || fail 'no integer window of rope became cheaper'
of rope "SELECT rationale FROM attempts" >out
expect_text ' -> '

rules=$XDG_CACHE_HOME/asmevo/superopt/rules
rm "$rules"
expect_exit 0 search gelu first 4
expect_no_text damaged
cp "$rules" sound
head -c 200 sound >"$rules"
expect_exit 0 search gelu second 4
expect_text "$rules: damaged"
expect_same "$rules" sound
story first.hsaco.asmevo >first.txt
story second.hsaco.asmevo >second.txt
expect_same first.txt second.txt
