. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo inspect twice.hsaco --loops
expect_text '3 instructions, 4,096 iterations'
expect_exit 0 asmevo inspect twice.hsaco --loops --json
[ "$(json out '$.kernels[0].loops[0].iterations')" = 4096 ] || fail 'JSON does not say how often'
expect_exit 0 asmevo inspect twice.hsaco
expect_no_text 'iterations'
