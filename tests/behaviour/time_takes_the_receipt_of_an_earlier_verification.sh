. "$(dirname "$0")/common.sh"
twice
asmevo recover twice.hsaco --no-addresses >before.s
sed -E 's/s_movk_i32 s8, .*/s_movk_i32 s8, 16/' before.s >after.s
expect_exit 0 asmevo build after.s --like twice.hsaco -o faster.hsaco
sed -E 's/v_add_f32_e32 v1, v1, v1/v_mul_f32_e32 v1, v1, v1/' before.s >after.s
expect_exit 0 asmevo build after.s --like twice.hsaco -o wrong.hsaco

expect_exit 0 asmevo verify twice.hsaco faster.hsaco --launch twice.json
expect_exit 0 asmevo time twice.hsaco faster.hsaco --launch twice.json
expect_text 'verified before'
# What a receipt does not speak of is verified.
sed 's/"kernel": "twice",/"kernel": "twice", "seed": 77,/' twice.json >other.json
cmp -s twice.json other.json && fail 'the launch did not change'
expect_exit 0 asmevo time twice.hsaco faster.hsaco --launch other.json
expect_no_text 'verified before'
expect_exit 0 asmevo time twice.hsaco twice.hsaco --launch twice.json
expect_no_text 'verified before'
# A wrong kernel has none, however often it is asked for.
for try in 1 2; do
  expect_exit 1 asmevo time twice.hsaco wrong.hsaco --launch twice.json
  expect_text 'not timed'
done
# Without a place for receipts everything works.
XDG_CACHE_HOME=/dev/null/nowhere expect_exit 0 asmevo time twice.hsaco faster.hsaco --launch twice.json
expect_no_text 'verified before'
