. "$(dirname "$0")/common.sh"
k="$corpus/rmsnorm.hsaco --launch $corpus/rmsnorm.json"
expect_exit 0 asmevo profile $k --json
expect_json out
cp out p.json
sum() { sqlite3 :memory: "SELECT $1"; }
file="CAST(readfile('p.json') AS TEXT)"
busy=$(sum "sum(value->>'busy') FROM json_each($file, '\$.instructions')")
exposed=$(sum "sum(s.value) FROM json_each($file, '\$.instructions') i, json_each(i.value, '\$.exposed') s")
rest=$(sum "($file->>'\$.speed.dispatch_cycles') + ($file->>'\$.speed.drain_cycles')")
cycles=$(sum "4 * ($file->>'\$.speed.simulated_cycles')")
[ "$(sum "$busy + $exposed + $rest")" = "$cycles" ] || fail "$busy + $exposed + $rest is not $cycles"
[ "$(sum "sum(value->>'share') > 0.9 FROM json_each($file, '\$.windows')")" = 1 ] || fail "windows hold less than 90 %"
# The time is that of `time`.
expect_exit 0 asmevo time $k --json
[ "$(json out '$.original.median_seconds')" = "$(json p.json '$.speed.seconds')" ] || fail "another time than that of time"
