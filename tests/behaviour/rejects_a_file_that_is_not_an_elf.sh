. "$(dirname "$0")/common.sh"
echo 'int main() { return 0; }' >main.c
for verb in inspect recover roundtrip; do
  expect_exit 2 asmevo $verb main.c
  expect_one_line main.c
  expect_text 'not an ELF file'
done
expect_exit 2 asmevo check main.c # which reads assembly too
expect_one_line main.c
expect_text 'neither a code object nor assembly'
: >empty
expect_exit 2 asmevo inspect empty
expect_one_line empty
expect_exit 2 asmevo inspect missing.hsaco
expect_one_line missing.hsaco
expect_exit 2 asmevo inspect .
expect_one_line .
