. "$(dirname "$0")/common.sh"
twice
propose "$(item twice.hsaco 's_movk_i32 s8*')" "$(($(item twice.hsaco 's_movk_i32 s8*') + 1))" 's_movk_i32 s8, 0x7000' >slower.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o same.hsaco --driver replay --proposals slower.jsonl
expect_text 'none found: the output is K0, byte for byte'
expect_same same.hsaco twice.hsaco
