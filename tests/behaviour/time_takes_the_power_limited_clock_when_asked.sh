. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo time twice.hsaco --launch twice.json --json
peak=$(json out '$.original.median_seconds')
expect_exit 0 asmevo time twice.hsaco --launch twice.json --power-limited --json
limited=$(json out '$.original.median_seconds')
[ "$(sqlite3 :memory: "SELECT $limited > $peak")" = 1 ] || fail "$limited s is not more than $peak s"
[ "$(json out '$.device')" = "simulated MI300X, power-limited clock" ] || fail "the device does not say so"
expect_exit 0 asmevo profile twice.hsaco --launch twice.json --power-limited --windows 0
expect_text 'simulated MI300X, power-limited clock'
