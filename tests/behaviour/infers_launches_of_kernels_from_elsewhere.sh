. "$(dirname "$0")/common.sh"
[ -z "${ASMEVO_SANITIZED:-}" ] || skip 'under sanitizers the probes take more than the seconds that they may'
data=${ASMEVO_DATA:-$ASMEVO_SOURCE/../shared/data}
[ -d "$data/mi300a" ] && [ -d "$data/triton" ] || skip "no $data/mi300a and $data/triton: name their folder in ASMEVO_DATA"
mi300a=$data/mi300a/objects
while read -r object kernel; do
  expect_exit 0 asmevo launch "$object" --kernel "$kernel" -o launch.json
  first=$(grep -m1 '^case ' out)
  case $first in
    *": verified, "*"shows little"* | *": 0 results"*) fail "$kernel: the launch shows nothing: $first" ;;
    *": verified, "*) ;;
    *) fail "$kernel: the main case is not verified: $first" ;;
  esac
  read -r covered _ blocks _ < <(grep 'basic blocks are executed' out)
  [ $((covered * 2)) -ge "$blocks" ] || fail "$kernel: only $covered of $blocks blocks"
done <<END
$mi300a/amdappsdk_vectoradd_native_vectoradd.hsaco _Z15vectoradd_floatPfPKfS1_ii
$mi300a/polybench_bicg_native_bicg.hsaco bicgKernel2
$mi300a/dnn_gputensor_gemm_gfx942.hsaco gemm
$mi300a/amdappsdk_fastwalshtransform_native_fastwalshtransform.hsaco fastWalshTransform
$mi300a/amdappsdk_matrixmultiplication_native_matrixmultiplication.hsaco mmmKernel_local
$mi300a/amdappsdk_nbody_native_nbody.hsaco nbody_sim
$mi300a/shoc_fft_kernels_gfx942.hsaco fft1D_512
$data/triton/gfx90a_matmul.hsaco matmul
$data/triton/gfx950_softmax.hsaco softmax
END
