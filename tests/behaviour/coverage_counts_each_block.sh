. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo run twice.hsaco --launch twice.json --coverage
grep -Eq '32,768 .* 3 instructions .*\.L_0$' out || fail 'the loop is not counted 8 * 4096 times'
grep -Eq ' 8 .* 4 instructions .*twice' out || fail 'the entry is not counted once a wave'
expect_text '3 of 3 basic blocks executed'
expect_exit 0 asmevo run twice.hsaco --launch twice.json --coverage --json
expect_json out
[ "$(json out '$.cases[0].coverage[1].executed')" = 32768 ] || fail 'coverage in JSON'
