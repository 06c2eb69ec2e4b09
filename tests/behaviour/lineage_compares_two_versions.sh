. "$(dirname "$0")/common.sh"
twice
delays 9 >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o first.hsaco --driver replay --proposals proposals.jsonl
run=first.hsaco.asmevo
last=$(sqlite3 $run/lineage.sqlite 'SELECT max(id) FROM versions')
[ "$last" -gt 0 ] || fail 'no version to compare'
expect_exit 0 asmevo lineage $run --diff 0 "$last"
cp out difference
asmevo lineage $run --version 0 >0.s
asmevo lineage $run --version "$last" >last.s
diff 0.s last.s | grep '^<' | cut -c3- | sort >taken
diff 0.s last.s | grep '^>' | cut -c3- | sort >put
sed 1,2d difference | grep '^-' | cut -c2- | sort >out.taken
sed 1,2d difference | grep '^+' | cut -c2- | sort >out.put
expect_same taken out.taken
expect_same put out.put
[ -s taken ] || [ -s put ] || fail 'the versions are the same'
expect_exit 0 asmevo lineage $run --diff "$last" "$last"
[ "$(wc -l <out)" -eq 2 ] || fail 'a version differs from itself'
expect_exit 0 asmevo lineage $run --diff 0 "$last" --json
expect_json out
[ "$(json out '$.to')" = "$last" ] || fail 'which versions'
expect_exit 2 asmevo lineage $run --diff 0 999
expect_one_line $run
expect_exit 2 asmevo lineage $run --diff 0
