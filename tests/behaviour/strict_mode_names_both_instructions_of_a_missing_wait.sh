. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo run twice.hsaco --launch twice.json --strict
expect_text 'no findings in strict mode'
asmevo recover twice.hsaco --no-addresses | sed '/s_waitcnt vmcnt(0)/d' >bad.s
expect_exit 0 asmevo build bad.s --like twice.hsaco -o bad.hsaco
expect_exit 0 asmevo run bad.hsaco --launch twice.json
expect_exit 1 asmevo run bad.hsaco --launch twice.json --strict
expect_text 'missing wait: 0x'
expect_text '`v_add_f32_e32 v1, v1, v1` reads v1 before the load has finished: s_waitcnt vmcnt(0) is missing'
expect_text '`global_load_dword v1, v0, s[6:7]`'
expect_text '8 times, first in workgroup 0, wave 0'
expect_exit 1 asmevo run bad.hsaco --launch twice.json --strict --json
expect_json out
[ "$(json out '$.cases[0].strict.findings[0].kind')" = 'missing wait' ] || fail 'no kind'
[ "$(json out '$.cases[0].strict.findings[0].count')" = 8 ] || fail 'not counted'
[ "$(json out '$.cases[0].strict.findings[0].cause')" = 'global_load_dword v1, v0, s[6:7]' ] || fail 'no cause'
