. "$(dirname "$0")/common.sh"
need python3
twice
export CHILD_SLEEPS=600.$$ # nobody else's sleep
agent="python3 $ASMEVO_SOURCE/tests/behaviour/exec_agent.py"
for mode in request session; do
  "$ASMEVO" optimize twice.hsaco --launch twice.json -o out.hsaco --force --driver exec --exec-mode $mode -- $agent hangs >out 2>err &
  search=$!
  for _ in $(seq 100); do pgrep -f "sleep $CHILD_SLEEPS" >/dev/null && break; sleep 0.1; done
  kill -INT $search
  status=0
  wait $search || status=$?
  [ $status -eq 130 ] || fail "exit status $status"
  expect_text 'asmevo optimize --resume'
  ! pgrep -f "sleep $CHILD_SLEEPS" >/dev/null || fail 'a process outlived the search'
done
