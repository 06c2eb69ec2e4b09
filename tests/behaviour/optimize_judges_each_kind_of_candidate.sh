. "$(dirname "$0")/common.sh"
twice
delay=$(item twice.hsaco 's_movk_i32 s8*')
step=$(item twice.hsaco 's_sub_u32 s8*')
wait=$(item twice.hsaco 's_waitcnt vmcnt(0)')
add=$(item twice.hsaco 'v_add_f32*')
store=$(item twice.hsaco 'global_store_dword*')
at() { propose "$1" $(($1 + 1)) "$2"; }
{
  at "$add" 'v_bogus v1'                                      # does not assemble
  at "$wait" ''                                               # lacks a wait
  at "$add" '.incbin "/etc/passwd"'                           # reads a file
  at "$add" 'v_mul_f32_e32 v1, v1, v1'                        # wrong result
  at "$step" 's_nop 0'                                        # loops forever
  at "$store" 'global_store_dword v0, v1, s[4:5] offset:4'    # writes past the buffer
  at "$delay" 's_movk_i32 s8, 0x7000'                         # slower
  at "$delay" 's_movk_i32 s8,  0x1000'                        # the same
  at "$delay" 's_movk_i32 s8, 0x10'                           # faster
} >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o faster.hsaco --driver replay --proposals proposals.jsonl --json
expect_json out
[ "$(sqlite3 faster.hsaco.asmevo/lineage.sqlite 'SELECT outcome FROM attempts ORDER BY number' | tr '\n' ' ')" = \
  'assembly_failure static_inconsistency static_inconsistency divergence runtime_fault guard_corruption insufficient_speedup duplicate accepted ' ] ||
  fail "verdicts: $(sqlite3 faster.hsaco.asmevo/lineage.sqlite 'SELECT outcome, evidence FROM attempts')"
[ "$(json out '$.improved')" = 1 ] || fail 'no improvement'
[ "$(json out '$.device')" = 'simulated MI300X' ] || fail 'the device is not named'
cp faster.hsaco kept.hsaco
expect_exit 0 asmevo verify twice.hsaco kept.hsaco --launch twice.json
expect_text 'equivalent'
# only what passed was timed, and only with a receipt
[ "$(sqlite3 faster.hsaco.asmevo/lineage.sqlite 'SELECT count(*) FROM attempts WHERE (candidate_seconds IS NOT NULL) AND receipt_candidate IS NULL')" = 0 ] ||
  fail 'something was timed without a receipt'
