. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo check twice.hsaco --launch twice.json
expect_text 'no findings'
# a missing wait is seen on paths and in a run
asmevo recover twice.hsaco --no-addresses >twice.listing
sed '/s_waitcnt vmcnt(0)/d' twice.listing >hasty.s
expect_exit 1 asmevo check hasty.s --launch twice.json
expect_text ': W001 '
expect_text ': S001 '
expect_text '<- here'
expect_exit 1 asmevo check hasty.s --launch twice.json --only 'S*' --json
[ "$(json out '$.findings[0].rule')" = S001 ] || fail 'S001 is not the only finding'
expect_no_text W001
[ "$(json out '$.findings[0].at.line')" -gt 0 ] || fail 'the finding has no line'
[ "$(json out '$.findings[0].cause.line')" -gt 0 ] || fail 'the cause has no line'
# what no path shows: a register that nothing wrote, an access beyond a buffer
sed -E 's/v_add_f32_e32 v1, v1, v1/v_add_f32_e32 v1, v1, v5/' twice.listing >luck.s
expect_exit 0 asmevo check luck.s
expect_exit 1 asmevo check luck.s --launch twice.json
expect_text ': S004 '
expect_exit 0 asmevo check luck.s --launch twice.json --without S004
sed -E 's/(global_load_dword v1, v0, s\[6:7\])/\1 offset:2048/' twice.listing >beyond.s
expect_exit 1 asmevo check beyond.s --launch twice.json --only 'S*'
grep -qE ': S00[57] ' out || fail 'an access beyond the buffer is no finding'
expect_exit 1 asmevo check luck.s --launch twice.json --sarif
expect_json out
[ "$(json out '$.runs[0].results[0].ruleId')" = S004 ] || fail 'the SARIF log lacks the finding'
asmevo check --rules | grep -q '^S003  ' || fail 'the rules of strict mode are not listed'
