. "$(dirname "$0")/common.sh"
for launch in "$corpus"/*.json; do
  object=${launch%.json}.hsaco
  expect_exit 0 asmevo run "$object" --launch "$launch" --strict
  expect_text 'no findings in strict mode'
  expect_no_text 'not watched'
done
