. "$(dirname "$0")/common.sh"
for output in missing/faster.hsaco .; do
  expect_exit 2 asmevo optimize "$corpus/softmax.hsaco" --launch "$corpus/softmax.json" -o "$output"
  expect_one_line "$output"
  expect_exit 2 asmevo recover "$corpus/softmax.hsaco" -o "$output"
  expect_one_line "$output"
done
[ "$(id -u)" -eq 0 ] && exit 0 # root may write anywhere
mkdir closed && chmod a-w closed
expect_exit 2 asmevo optimize "$corpus/softmax.hsaco" --launch "$corpus/softmax.json" -o closed/faster.hsaco
expect_one_line closed/faster.hsaco
