. "$(dirname "$0")/common.sh"
twice
sum() {
  asmevo run "$1" --launch twice.json --schedule "$2" --json >run.json || fail "cannot run $1 under $2"
  json run.json '$.cases[0].buffers[0].sha256'
}
right=$(sum twice.hsaco round-robin)
for schedule in run-to-barrier random random:7 late-loads; do
  [ "$(sum twice.hsaco $schedule)" = "$right" ] || fail "$schedule gives another result"
done
asmevo recover twice.hsaco --no-addresses | sed '/s_waitcnt vmcnt(0)/d' >bad.s
expect_exit 0 asmevo build bad.s --like twice.hsaco -o bad.hsaco
[ "$(sum bad.hsaco round-robin)" = "$right" ] || fail 'loads that finish at once should hide it'
[ "$(sum bad.hsaco late-loads)" != "$right" ] || fail 'late loads should show it'
# The oracle asks for it too.
expect_exit 1 asmevo verify twice.hsaco bad.hsaco --launch twice.json
expect_text 'results of loads arrive only when waits force them'
expect_exit 2 asmevo run twice.hsaco --launch twice.json --schedule backwards
expect_one_line --schedule
