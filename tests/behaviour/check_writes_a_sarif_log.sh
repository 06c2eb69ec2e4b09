. "$(dirname "$0")/common.sh"
twice
sed '/s_waitcnt vmcnt(0)/d' "$ASMEVO_SOURCE/tests/behaviour/twice.s" >bad.s
expect_exit 1 asmevo check bad.s --sarif
expect_json out
[ "$(json out '$.version')" = 2.1.0 ] || fail "not SARIF 2.1.0"
[ "$(json out '$.runs[0].results[0].ruleId')" = W001 ] || fail "no W001"
[ "$(json out '$.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri')" = bad.s ] || fail "not the file"
use=$(grep -n v_add_f32 bad.s | head -1 | cut -d: -f1)
[ "$(json out '$.runs[0].results[0].locations[0].physicalLocation.region.startLine')" = "$use" ] || fail "not line $use"
rule=$(json out '$.runs[0].results[0].ruleIndex')
[ "$(json out "\$.runs[0].tool.driver.rules[$rule].id")" = W001 ] || fail "the rule's index is another's"
expect_exit 0 asmevo check twice.hsaco --sarif
expect_json out
[ "$(json out '$.runs[0].results')" = "[]" ] || fail "results without findings"
