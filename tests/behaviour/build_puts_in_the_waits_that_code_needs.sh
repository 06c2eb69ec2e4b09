. "$(dirname "$0")/common.sh"
twice
asmevo recover twice.hsaco --no-addresses | sed '/s_waitcnt/d' >none.s
expect_exit 0 asmevo build none.s --like twice.hsaco -o none.hsaco
expect_exit 1 asmevo check none.hsaco
expect_exit 0 asmevo build none.s --like twice.hsaco --auto-waits -o auto.hsaco
expect_exit 0 asmevo check auto.hsaco
expect_exit 0 asmevo verify twice.hsaco auto.hsaco --launch twice.json
# Again changes nothing.
asmevo recover auto.hsaco --no-addresses >auto.s
expect_exit 0 asmevo build auto.s --like auto.hsaco --auto-waits -o again.hsaco
expect_same auto.hsaco again.hsaco
