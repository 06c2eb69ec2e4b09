. "$(dirname "$0")/common.sh"
twice
variant() { # SCRIPT OUT
  asmevo recover twice.hsaco --no-addresses >before.s
  sed -E "$1" before.s >after.s
  expect_different before.s after.s
  expect_exit 0 asmevo build after.s --like twice.hsaco -o "$2"
}
variant 's/s_movk_i32 s8, .*/s_movk_i32 s8, 16/' faster.hsaco
expect_exit 0 asmevo verify twice.hsaco faster.hsaco --launch twice.json
expect_text equivalent
variant 's/v_add_f32_e32 v1, v1, v1/v_mul_f32_e32 v1, v1, v1/' wrong.hsaco
expect_exit 1 asmevo verify twice.hsaco wrong.hsaco --launch twice.json
expect_text divergence
expect_text out
expect_text 'was stored last by workgroup 0, wave 0, lane 0 at 0x'
variant 's/(global_store_dword .*)/\1 offset:4/' past.hsaco
expect_exit 1 asmevo verify twice.hsaco past.hsaco --launch twice.json
expect_text 'guard after `out`'
variant 's/s_sub_u32 s8, s8, 1/s_nop 0/' endless.hsaco
expect_exit 1 asmevo verify twice.hsaco endless.hsaco --launch twice.json
expect_text fault
variant 's/kernarg_segment_size: +16/kernarg_segment_size: 24/' abi.hsaco
expect_exit 1 asmevo verify twice.hsaco abi.hsaco --launch twice.json
expect_text 'not a drop-in replacement'
expect_exit 1 asmevo verify twice.hsaco wrong.hsaco --launch twice.json --json
expect_json out
[ "$(json out '$.equivalent')" = 0 ] || fail 'JSON says equivalent'
expect_exit 1 asmevo time twice.hsaco wrong.hsaco --launch twice.json
expect_text 'not timed'
