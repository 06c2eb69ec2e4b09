. "$(dirname "$0")/common.sh"
k="$corpus/rmsnorm.hsaco --launch $corpus/rmsnorm.json"
expect_exit 0 asmevo profile $k --windows 1
expect_text 'simulated MI300X'
expect_text 'speed of light'
expect_text 'occupancy: 8 waves a SIMD'
expect_text 'bound by'
grep -qE '^1\. [0-9.]+ %' out || fail "no first window"
! grep -qE '^2\. ' out || fail "more windows than asked for"
# The wait stands beside its bar, with the instruction whose result it waits for.
grep -qE '^  0x[0-9a-f]+ +[0-9.]+ %  #*[vm]+n? +s_waitcnt vmcnt\([0-9]\)   <- 0x[0-9a-f]+ global_' out || fail "no wait with its bar"
grep -qE '^bars: .*v vmcnt' out || fail "no legend"

# One wave more where fewer registers allow it.
edit rmsnorm 's/^(.*)s_endpgm/\1v_mov_b32_e32 v135, 0\n\1s_endpgm/' wide.hsaco
expect_exit 0 asmevo profile wide.hsaco --launch "$corpus/rmsnorm.json"
expect_text 'what if: 8 fewer VGPRs (128 instead of 136): 4 waves a SIMD, 4 workgroups a compute unit; the same code would take '

expect_exit 2 asmevo profile missing.hsaco --launch "$corpus/rmsnorm.json"
expect_exit 2 asmevo profile $k --trace no/such/directory/t.json
expect_one_line no/such/directory/t.json
expect_exit 2 asmevo profile "$corpus/rmsnorm.hsaco" --launch "$corpus/softmax.json"
