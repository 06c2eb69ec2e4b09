. "$(dirname "$0")/common.sh"
good=$ASMEVO_SOURCE/tests/behaviour/twice.s
sed '/s_waitcnt vmcnt(0)/d; /amdgcn_target/d' "$good" >bad.s
# A listing that names no target needs one.
expect_exit 2 asmevo check bad.s
expect_one_line bad.s
expect_text "--target"
expect_exit 1 asmevo check bad.s --target gfx942
# The line of the use, its rule, and both lines marked.
use=$(grep -n v_add_f32 bad.s | head -1 | cut -d: -f1)
expect_text "bad.s:$use: W001"
expect_text "<- here"
expect_text "<- cause"
expect_exit 0 asmevo check "$good"
# With the target in the file, and as JSON.
{ echo '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"'; cat bad.s; } >named.s
expect_exit 1 asmevo check named.s --json
expect_json out
[ "$(json out '$.findings[0].rule')" = W001 ] || fail "not W001"
[ "$(json out '$.findings[0].at.line')" = $((use + 1)) ] || fail "not line $((use + 1))"
# What does not assemble is told with its place.
sed "${use}s/v_add_f32/v_wrong_f32/" bad.s >wrong.s
expect_exit 2 asmevo check wrong.s --target gfx942
expect_one_line "wrong.s:$use"
