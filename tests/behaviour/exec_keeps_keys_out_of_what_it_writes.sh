. "$(dirname "$0")/common.sh"
need python3
twice
export TEST_API_KEY=very-secret-value-0123
agent="python3 $ASMEVO_SOURCE/tests/behaviour/exec_agent.py"
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --driver exec --budget 3 -- $agent talks_of_keys
expect_no_text "$TEST_API_KEY"
expect_text 'Bearer [removed]'
! grep -rq "$TEST_API_KEY" out.hsaco.asmevo || fail 'the key is stored with the run'
grep -q 'paid with \[removed\]' out.hsaco.asmevo/transcript.jsonl || fail 'the transcript lacks the answer'
expect_exit 2 asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --force --driver exec -- $agent session --key "$TEST_API_KEY"
expect_text 'looks like a key'
expect_no_text "$TEST_API_KEY"
