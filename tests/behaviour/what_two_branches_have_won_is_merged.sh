. "$(dirname "$0")/common.sh"
twice
branch() { # GLOB TEXT RULE: a proposal for the original
  at=$(item twice.hsaco "$1")
  printf '{"parent":0,"edits":[{"first":%d,"last":%d,"text":"%s"}],"rule":"%s"}\n' "$at" $((at + 1)) "$2" "$3"
}
{ branch 's_movk_i32 s8*' 's_movk_i32 s8, 0x800' begin; branch 's_sub_u32 s8*' 's_sub_u32 s8, s8, 2' step; } >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o merged.hsaco --driver replay --proposals proposals.jsonl
run=merged.hsaco.asmevo
merge=$(sqlite3 $run/lineage.sqlite "SELECT parent || ' ' || other_parent || ' ' || outcome FROM attempts WHERE driver = 'composition'")
[ "$merge" = '1 2 accepted' ] || [ "$merge" = '2 1 accepted' ] || fail "the branches were not merged: $merge"
ranks=$(sqlite3 $run/lineage.sqlite 'SELECT (SELECT speedup FROM versions WHERE id = 3) > (SELECT max(speedup) FROM versions WHERE id < 3)')
[ "$ranks" = 1 ] || fail 'the merged version is no faster than both'
expect_exit 0 asmevo lineage $run
expect_text ' with '
expect_exit 0 asmevo recover merged.hsaco -o merged.s
grep -q 's_movk_i32 s8, 0x800' merged.s && grep -q 's_sub_u32 s8, s8, 2' merged.s || fail 'an edit is missing'
expect_exit 0 asmevo verify twice.hsaco merged.hsaco --launch twice.json --seed 12345
