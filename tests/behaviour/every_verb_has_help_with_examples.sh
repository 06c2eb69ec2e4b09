. "$(dirname "$0")/common.sh"
verbs='inspect recover build roundtrip check run verify prove time profile optimize mcp lineage isa completion man'
expect_exit 0 asmevo --help
for verb in $verbs; do expect_text "  $verb "; done
for verb in $verbs; do
  expect_exit 0 asmevo $verb --help
  expect_text 'Examples:'
  expect_text "asmevo $verb"
  expect_text '--json'
done
