. "$(dirname "$0")/common.sh"
twice
run() { asmevo run twice.hsaco --launch twice.json "$@"; }
address=$(asmevo recover twice.hsaco | sed -n 's|.*v_add_f32_e32 v1, v1, v1.*0x\([0-9a-f]*\).*|0x\1|p')
[ -n "$address" ] || fail 'no address in the listing'
expect_exit 0 run --trace-pc "$address"
expect_text "$address  v_add_f32_e32 v1, v1, v1"
[ "$(grep -c v_add_f32_e32 out)" = 8 ] || fail 'not one line a wave'
expect_text '    v1 = 0:'
expect_exit 0 run --trace --trace-wave 3.0 --trace-register s8 --trace-pc 0x0:0xffff
expect_text '3.0 #3 '
expect_text 's_movk_i32 s8, 0x1000'
expect_no_text 'v_add_f32'
expect_no_text '2.0 #'
expect_exit 0 run --trace-wave 1 --trace-lane 5 --trace-register v1
expect_text 'global read 4 bytes: 5:['
expect_no_text ' 4:['
expect_exit 0 run --trace-pc "$address" --trace-wave 0 --trace-lane 2 --json
expect_json out
[ "$(json out '$.cases[0].trace[0].instruction')" = 'v_add_f32_e32 v1, v1, v1' ] || fail 'no trace in JSON'
[ -n "$(json out '$.cases[0].trace[0].written.v1')" ] || fail 'no value in JSON'
expect_exit 0 run --trace --trace-limit 10
[ "$(grep -c ' #' out)" = 10 ] || fail 'the trace does not end after ten lines'
expect_text 'more lines; --trace-limit takes them'
expect_exit 2 run --trace-register w3
expect_one_line --trace-register
