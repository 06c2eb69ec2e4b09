. "$(dirname "$0")/common.sh"
expect_exit 0 asmevo optimize "$corpus/softmax.hsaco" --launch "$corpus/softmax.json" -o best.hsaco --driver mcts --budget 6 --seed 5
expect_exit 0 asmevo optimize --resume best.hsaco.asmevo --budget 12
expect_no_text 'proposes other edits'
attempts() { sqlite3 best.hsaco.asmevo/lineage.sqlite "SELECT count(*) FROM attempts WHERE $1"; }
[ "$(attempts 1=1)" = 12 ] || fail 'the run did not go on to 12 evaluations'
[ "$(attempts "rule = 'several-rules' AND rationale LIKE '%, then %'")" -ge 1 ] || fail 'no sequence was proposed'
[ "$(attempts "outcome = 'duplicate'")" = 0 ] || fail 'a program was proposed twice'
[ "$(attempts "outcome = 'accepted' AND speedup > 1.05")" -ge 1 ] || fail 'no sequence was worth anything'
