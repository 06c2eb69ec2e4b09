. "$(dirname "$0")/common.sh"
need python3
twice
agent="python3 $ASMEVO_SOURCE/tests/behaviour/exec_agent.py"
for mode in request session prompt; do
  expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o $mode.hsaco --driver exec --exec-mode $mode --budget 5 -- $agent $mode
  expect_different $mode.hsaco twice.hsaco
  expect_exit 0 asmevo verify twice.hsaco $mode.hsaco --launch twice.json --seed 99
  expect_exit 0 asmevo lineage $mode.hsaco.asmevo --proposals
  cp out $mode.jsonl
  expect_text prompt_hash
  expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o again.hsaco --driver replay --proposals $mode.jsonl --force --budget 5
  story $mode.hsaco.asmevo >first.txt
  story again.hsaco.asmevo >second.txt
  expect_same first.txt second.txt
  expect_same $mode.hsaco again.hsaco
done
# Cheats cost an evaluation each and change nothing.
outcomes=$(sqlite3 request.hsaco.asmevo/lineage.sqlite 'SELECT group_concat(outcome) FROM (SELECT outcome FROM attempts ORDER BY number)')
[ "$outcomes" = divergence,static_inconsistency,accepted,accepted,accepted ] || fail "outcomes: $outcomes"
grep -q '"model":"script"' request.jsonl || fail 'no model in the record'
grep -q '"verdict":"divergence"' request.jsonl || fail 'no verdict in the record'
grep -q '"input_tokens":100' request.jsonl || fail 'no tokens in the record'
# A session hears what came of its proposals.
[ "$(head -4 heard.txt | tr '\n' ,)" = 'question ,verdict divergence,question ,verdict static_inconsistency,' ] || fail "heard: $(cat heard.txt)"
[ "$(wc -l <request.hsaco.asmevo/transcript.jsonl)" -eq 5 ] || fail 'not one line of transcript for each question'
