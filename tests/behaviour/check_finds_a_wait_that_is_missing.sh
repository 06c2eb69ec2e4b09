. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo check twice.hsaco
expect_text 'no findings'
asmevo recover twice.hsaco --no-addresses | sed '/s_waitcnt vmcnt(0)/d' >bad.s
expect_exit 0 asmevo build bad.s --like twice.hsaco -o bad.hsaco
expect_exit 1 asmevo check bad.hsaco
expect_text 'W001'
expect_exit 1 asmevo check bad.hsaco --json
expect_json out
