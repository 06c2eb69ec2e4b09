. "$(dirname "$0")/common.sh"
listing softmax >k.s
sed '0,/s_endpgm/s//v_mov_b32_e32 v200, 5\n  v_accvgpr_write_b32 a99, v200\n  s_mov_b32 s90, 1\n  s_endpgm/' k.s >more.s
expect_different k.s more.s
expect_exit 0 asmevo build more.s --like "$corpus/softmax.hsaco" -o more.hsaco
expect_exit 0 asmevo check more.hsaco
expect_exit 0 asmevo inspect more.hsaco --json
[ "$(json out '$.kernels[0].declared.vgprs')" -ge 201 ] || fail "fewer than 201 VGPRs"
[ "$(json out '$.kernels[0].declared.agprs')" -ge 100 ] || fail "fewer than 100 AGPRs"
[ "$(json out '$.kernels[0].declared.sgprs')" -ge 91 ] || fail "fewer than 91 SGPRs"
sed 's/v200/v255/; s/a99/a255/' more.s >most.s
expect_exit 0 asmevo build most.s --like "$corpus/softmax.hsaco" -o most.hsaco
expect_exit 0 asmevo check most.hsaco
