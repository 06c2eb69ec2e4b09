. "$(dirname "$0")/common.sh"
twice
asmevo recover twice.hsaco --no-addresses | sed 's/s_sub_u32 s8, s8, 1/s_nop 0/' >endless.s
expect_exit 0 asmevo build endless.s --like twice.hsaco -o endless.hsaco
expect_exit 1 asmevo run endless.hsaco --launch twice.json --max-instructions 5000
expect_text 'over its budget'
grep -Eq 'workgroup [0-9]+ wave 0 at 0x[0-9a-f]+ `s_(nop|cmp_lg_u32|cbranch_scc1).*instructions executed' out || fail 'no standing'
expect_exit 1 asmevo run endless.hsaco --launch twice.json --max-seconds 0.2 --json
expect_json out
[ "$(json out '$.cases[0].standing[0].wave')" = 0 ] || fail 'no standing in JSON'
# A wave that is halted waits for nobody.
asmevo recover twice.hsaco --no-addresses | sed 's/s_movk_i32 s8, .*/s_sethalt 1/' >halted.s
expect_exit 0 asmevo build halted.s --like twice.hsaco -o halted.hsaco
expect_exit 1 asmevo run halted.hsaco --launch twice.json
expect_text deadlock
expect_text '`s_sethalt 1`, waits for nobody: it is halted'
