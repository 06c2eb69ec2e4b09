. "$(dirname "$0")/common.sh"
twice
expect_exit 0 asmevo time twice.hsaco twice.hsaco --launch twice.json --sensitivity
expect_text 'verdict: the same (1.0000x with every parameter at its value)'
expect_text "holds at both ends of every parameter's error bar"
expect_exit 0 asmevo time twice.hsaco --launch twice.json --sensitivity --json
expect_json out
[ "$(json out '$.sensitivity.parameters[0].source')" != "" ] || fail "no source of a parameter"
# An edit that touches memory alone: the time rests on what memory does.
edit rmsnorm 's/^(.*s_waitcnt) vmcnt\(1\)/\1 vmcnt(0)/' waits.hsaco
expect_exit 0 asmevo time "$corpus/rmsnorm.hsaco" waits.hsaco --launch "$corpus/rmsnorm.json" --sensitivity --json
expect_json out
[ "$(json out '$.sensitivity.nominal')" != "" ] || fail "no nominal ratio"
sqlite3 :memory: "SELECT count(*) FROM json_each(CAST(readfile('out') AS TEXT), '\$.sensitivity.parameters')
  WHERE value->>'parameter' IN ('mall_bandwidth', 'l2_latency', 'mall_latency')" | grep -qv '^0$' || fail "no parameter of memory"
expect_exit 0 asmevo time "$corpus/rmsnorm.hsaco" waits.hsaco --launch "$corpus/rmsnorm.json"
expect_no_text 'verdict:'
