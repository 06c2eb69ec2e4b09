. "$(dirname "$0")/common.sh"
twice
: >none.jsonl
common="optimize twice.hsaco --launch twice.json -o out.hsaco --driver replay --proposals none.jsonl"
expect_exit 0 asmevo $common
expect_exit 2 asmevo $common
expect_one_line out.hsaco.asmevo
expect_text '--resume out.hsaco.asmevo'
expect_exit 0 asmevo $common --force
expect_exit 0 asmevo $common --run elsewhere
[ -e elsewhere/lineage.sqlite ] || fail 'the run is not where --run says'
