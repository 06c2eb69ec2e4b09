. "$(dirname "$0")/common.sh"
twice
asmevo recover twice.hsaco -o twice.s || fail 'cannot recover'
expect_exit 0 asmevo build twice.s --like twice.hsaco -o same.hsaco
[ ! -s out ] || fail 'nothing has changed and something is said'
sed 's/next_free_vgpr [0-9]*/next_free_vgpr 200/' twice.s >more.s
expect_different twice.s more.s
expect_exit 0 asmevo build more.s --like twice.hsaco -o more.hsaco
expect_text 'twice: before: '
expect_text 'twice: after:  '
expect_text '2 waves a SIMD (limit: vgpr)'
expect_exit 0 asmevo build more.s --like twice.hsaco -o more.hsaco --json
expect_json out
[ "$(json out '$.kernels[0].after.occupancy.waves_per_simd')" -lt "$(json out '$.kernels[0].before.occupancy.waves_per_simd')" ] ||
  fail 'occupancy does not follow'
