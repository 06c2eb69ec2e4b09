. "$(dirname "$0")/common.sh"
need llvm-objcopy-22
for object in "$corpus"/*.hsaco; do
  expect_exit 0 asmevo recover "$object" -o listing.s
  expect_exit 0 asmevo build listing.s --like "$object" -o rebuilt.hsaco
  llvm-objcopy-22 --dump-section .text=before "$object" /dev/null && llvm-objcopy-22 --dump-section .text=after rebuilt.hsaco /dev/null
  expect_same before after
done
