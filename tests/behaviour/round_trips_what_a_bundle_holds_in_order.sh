. "$(dirname "$0")/common.sh"
need clang-22
kernel_source() { echo '__attribute__((global)) void k(float* p) { p[0] = 2; }'; }
kernel_source >k.hip
clang-22 -x hip -c --offload-device-only -nogpuinc -nogpulib --offload-arch=gfx90a --offload-arch=gfx942 \
  --offload-arch=gfx1030 -O1 --gpu-bundle-output -o k.hipfb k.hip || fail 'cannot compile'
mkdir folder
cp "$corpus"/*.hsaco folder
echo 'no object' >folder/notes.txt

expect_exit 0 asmevo roundtrip k.hipfb -j 4
grep ': exact: ' out >lines
[ "$(wc -l <lines)" -eq 2 ] || fail 'not two objects'
[ "$(cut -d: -f2 lines | tr -d '\n')" = ' entry 0.2 entry 0.3' ] || fail 'not in the order of the file'
expect_text '1 for gfx1030, which is not supported'

expect_exit 0 asmevo roundtrip k.hipfb --target gfx942
[ "$(grep -c ': exact: ' out)" -eq 1 ] || fail '--target does not choose'
expect_no_text gfx1030

expect_exit 0 asmevo roundtrip folder k.hipfb --edit 7
expect_no_text DIFFERS
expect_text 'edited: '
expect_text '1 files of folders are no code objects'

# One that cannot be read does not keep the others from being judged.
head -c 3000 "$corpus/softmax.hsaco" >cut.hsaco
expect_exit 2 asmevo roundtrip cut.hsaco folder
expect_text 'cut.hsaco: truncated'
[ "$(grep -c ': exact: ' out)" -eq "$(ls folder/*.hsaco | wc -l)" ] || fail 'the others were not judged'
