. "$(dirname "$0")/common.sh"
twice
# what computes the same for all inputs is proved
asmevo recover twice.hsaco --no-addresses | sed -E 's/v_lshlrev_b32_e32 v0, 2, v0/v_mul_lo_u32 v0, v0, 4/' >same.s
expect_exit 0 asmevo build same.s --like twice.hsaco -o same.hsaco
expect_exit 0 asmevo verify twice.hsaco same.hsaco --launch twice.json --seed 1
expect_text 'proved for all inputs, and tested on'
expect_exit 0 asmevo verify twice.hsaco same.hsaco --launch twice.json --seed 1 --json
[ "$(json out '$.equivalence')" = proved ] || fail "equivalence: $(json out '$.equivalence')"
expect_exit 0 asmevo verify twice.hsaco same.hsaco --launch twice.json --seed 1 --prove-limit 0
expect_text 'tested + strict clean on'
# a loop less is not proved, but watched; the lineage and the end say so
delay=$(item twice.hsaco 's_movk_i32 s8*')
propose "$delay" $((delay + 1)) 's_movk_i32 s8, 0x10' >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o faster.hsaco --driver replay --proposals proposals.jsonl --json
[ "$(json out '$.best.verdict.receipt.equivalence')" = tested_strict_clean ] || fail 'the receipt does not say that strict mode found nothing'
case $(json out '$.best.verdict.evidence') in *'not proved: '*) ;; *) fail 'the verdict does not say why there is no proof' ;; esac
expect_exit 0 asmevo lineage faster.hsaco.asmevo
expect_text 'tested + strict clean'
# what reads a register that nothing wrote works by luck
asmevo recover twice.hsaco --no-addresses | sed -E 's/^(.*)v_add_f32_e32 v1, v1, v1/\1v_mov_b32_e32 v2, v5\n&/' >luck.s
expect_exit 0 asmevo build luck.s --like twice.hsaco -o luck.hsaco
expect_exit 1 asmevo verify twice.hsaco luck.hsaco --launch twice.json --seed 1
expect_text 'strict mode: '
