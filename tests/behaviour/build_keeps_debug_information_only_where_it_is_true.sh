. "$(dirname "$0")/common.sh"
need clang-22 llvm-readelf-22
echo '__attribute__((global)) void k(float* p) { p[0] = 2; }' >k.hip
clang-22 -x hip -g --offload-device-only -nogpuinc -nogpulib --offload-arch=gfx942 -O1 --no-gpu-bundle-output \
  -o k.hsaco k.hip || fail 'cannot compile'
asmevo recover k.hsaco -o k.s || fail 'cannot recover'
sections() { llvm-readelf-22 -S "$1" >sections; }

expect_exit 0 asmevo build k.s --like k.hsaco -o same.hsaco
sections same.hsaco
grep -q debug_line sections || fail 'debug information is lost'
expect_no_text 'left out'

expect_exit 0 asmevo build k.s --like k.hsaco -o without.hsaco --debug drop
sections without.hsaco
grep -q debug_line sections && fail 'debug information is there'

sed 's/s_endpgm/s_nop 1\n\ts_endpgm/' k.s >edited.s
expect_exit 0 asmevo build edited.s --like k.hsaco -o edited.hsaco
expect_text 'edited.hsaco: debug information is left out: .text '
sections edited.hsaco
grep -q debug_line sections && fail 'debug information dangles'
exit 0
