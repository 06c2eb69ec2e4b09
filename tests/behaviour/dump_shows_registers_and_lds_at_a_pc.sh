. "$(dirname "$0")/common.sh"
twice
address=$(asmevo recover twice.hsaco | sed -n 's|.*s_sub_u32 s8, s8, 1.*0x\([0-9a-f]*\).*|0x\1|p')
[ -n "$address" ] || fail 'no address in the listing'
expect_exit 0 asmevo run twice.hsaco --launch twice.json --dump-at "$address:3" --dump-wave 2
expect_text "workgroup 2 wave 0 before $address \`s_sub_u32 s8, s8, 1\` (arrival 3)"
grep -q '^  s8 *00000ffe' out || fail 's8 is not what the third iteration finds'
grep -q '^  v0 *\[ 0\] 00000200 00000204' out || fail 'v0 is not the offset'
expect_exit 0 asmevo run twice.hsaco --launch twice.json --dump-at "$address:2" --json
expect_json out
[ "$(json out '$.cases[0].dumps[0].s[8]')" = 4095 ] || fail 's8 in JSON'
expect_exit 2 asmevo run twice.hsaco --launch twice.json --dump-at here
expect_one_line --dump-at
