. "$(dirname "$0")/common.sh"
twice
: >none.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --driver replay --proposals none.jsonl
sed -i 's/512/500/' twice.json
expect_exit 2 asmevo optimize --resume out.hsaco.asmevo
expect_text twice.json
expect_exit 2 asmevo optimize --resume nowhere
expect_one_line nowhere
