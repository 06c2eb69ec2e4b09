. "$(dirname "$0")/common.sh"
expect_exit 2 asmevo inspect "$ASMEVO"
expect_one_line "$ASMEVO"
need llvm-mc-22 ld.lld-22
kernel_text k | sed '/accum_offset/d' >k.s
llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx1100 -filetype=obj -o k.o k.s && ld.lld-22 -shared -o rdna.hsaco k.o
expect_exit 2 asmevo inspect rdna.hsaco
expect_one_line rdna.hsaco
