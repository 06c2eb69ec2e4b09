. "$(dirname "$0")/common.sh"
need python3
twice
export CHILD_SLEEPS=600.$$ # nobody else's sleep
agent="python3 $ASMEVO_SOURCE/tests/behaviour/exec_agent.py"
optimize() { asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --driver exec --force "$@"; }
nothing_left() {
  ! pgrep -f "sleep $CHILD_SLEEPS" >/dev/null || fail "a process outlived $1"
  [ ! -e out.hsaco.asmevo/lineage.sqlite ] || fail "$1 left a run without evaluations behind"
}
misbehave() { # BEHAVIOUR TEXT OPTION...
  local behaviour=$1 text=$2
  shift 2
  for mode in request session; do
    expect_exit 2 optimize --exec-mode $mode "$@" -- $agent "$behaviour"
    expect_text "$text"
    nothing_left "$behaviour as $mode"
  done
}
misbehave garbage 'no JSON object'
misbehave dies 'ended with status 3'
expect_text 'segmentation fault, or so'
misbehave hangs 'no answer in 1 s' --answer-timeout 1
misbehave floods 'bytes of output'
expect_exit 2 optimize -- ./no-such-program
expect_text 'no such program'
expect_exit 2 optimize
expect_text 'needs a command'
expect_exit 2 asmevo optimize twice.hsaco extra --launch twice.json -o out.hsaco
expect_text extra

# What is strange but answers is listened to.
expect_exit 0 optimize --budget 1 -- $agent corrected
[ "$(sqlite3 out.hsaco.asmevo/lineage.sqlite 'SELECT count(*) FROM attempts')" -eq 1 ] || fail 'refused answers cost evaluations'
expect_exit 0 optimize --budget 1 -- $agent complains
expect_exit 0 optimize --budget 1 -- $agent leaves_a_child
! pgrep -f "sleep $CHILD_SLEEPS" >/dev/null || fail 'a child of the program outlived it'

# Who has no idea ends the search; who dies ends the session, and the run goes on with the next.
expect_exit 0 optimize --budget 3 -- $agent tired
expect_text 'no more ideas'
expect_exit 0 optimize --budget 3 -- $agent once
expect_text 'ended with status 1'
expect_text 'driver stopped'
expect_different out.hsaco twice.hsaco
expect_exit 0 asmevo optimize --resume out.hsaco.asmevo --budget 1
expect_text 'budget spent'
