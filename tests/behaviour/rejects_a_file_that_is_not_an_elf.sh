. "$(dirname "$0")/common.sh"
echo 'int main() { return 0; }' >main.c
for verb in inspect recover roundtrip check; do
  expect_exit 2 asmevo $verb main.c
  expect_one_line main.c
  expect_text 'not an ELF file'
done
: >empty
expect_exit 2 asmevo inspect empty
expect_one_line empty
expect_exit 2 asmevo inspect missing.hsaco
expect_one_line missing.hsaco
expect_exit 2 asmevo inspect .
expect_one_line .
