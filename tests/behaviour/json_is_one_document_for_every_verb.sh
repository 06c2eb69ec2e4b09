. "$(dirname "$0")/common.sh"
twice
asmevo recover twice.hsaco >twice.s
: >none.jsonl
while read -r command; do
  expect_exit 0 asmevo $command --json
  expect_json out
done <<'END'
inspect twice.hsaco
extract twice.hsaco
recover twice.hsaco
build twice.s --like twice.hsaco -o built.hsaco
bundle built.hsaco --into twice.hsaco -o copy.hsaco
roundtrip twice.hsaco
check twice.hsaco
run twice.hsaco --launch twice.json
verify twice.hsaco twice.hsaco --launch twice.json
prove twice.hsaco twice.hsaco
time twice.hsaco --launch twice.json
profile twice.hsaco --launch twice.json
optimize twice.hsaco --launch twice.json -o out.hsaco --driver replay --proposals none.jsonl
lineage out.hsaco.asmevo
isa twice.hsaco
isa --target gfx942
completion bash
man
END
expect_exit 2 asmevo inspect missing.hsaco --json
expect_json out
