. "$(dirname "$0")/common.sh"
twice
variant() { # SCRIPT OUT
  asmevo recover twice.hsaco --no-addresses >before.s
  sed -E "$1" before.s >after.s
  expect_different before.s after.s
  expect_exit 0 asmevo build after.s --like twice.hsaco -o "$2"
}
expect_exit 0 asmevo prove twice.hsaco twice.hsaco
variant 's/v_lshlrev_b32_e32 v0, 2, v0/v_mul_lo_u32 v0, v0, 4/' multiplied.hsaco
expect_exit 0 asmevo prove twice.hsaco multiplied.hsaco
expect_text '1 region differs and compute'
variant 's/s_waitcnt vmcnt\(0\)/s_nop 0\n  s_waitcnt vmcnt(0) lgkmcnt(0)/' waits.hsaco
expect_exit 0 asmevo prove twice.hsaco waits.hsaco
variant 's/v_lshlrev_b32_e32 v0, 2, v0/v_lshlrev_b32_e32 v0, 3, v0/' wrong.hsaco
expect_exit 1 asmevo prove twice.hsaco wrong.hsaco
expect_text refuted
variant 's/v_add_f32_e32 v1, v1, v1/v_mul_f32_e32 v1, 2.0, v1/' float.hsaco
expect_exit 4 asmevo prove twice.hsaco float.hsaco --json
expect_json out
[ "$(json out '$.outcome')" = unknown ] || fail 'JSON does not say unknown'
