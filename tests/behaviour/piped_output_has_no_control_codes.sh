. "$(dirname "$0")/common.sh"
twice
delays 30 >proposals.jsonl
expect_exit 0 asmevo optimize twice.hsaco --launch twice.json -o out.hsaco --driver replay --proposals proposals.jsonl
! grep -q $'[\x1b\r]' out err || fail 'control codes'
expect_text 'simulated MI300X'
expect_text 'speedup'
expect_text 'tested + strict clean on'
expect_text 'exact'
expect_text 'out.hsaco.asmevo'
