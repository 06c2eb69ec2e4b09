. "$(dirname "$0")/common.sh"
need llvm-mc-22
for object in "$corpus"/*.hsaco; do
  expect_exit 0 asmevo recover "$object" -o listing.s
  expect_exit 0 llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj -o listing.o listing.s
done
