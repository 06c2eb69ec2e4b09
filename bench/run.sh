#!/usr/bin/env bash
# The benchmarks of docs/benchmarks.md, one after another on a quiet machine. Ratios within one run are what counts.
#   run.sh BUILD
set -euo pipefail
build=${1:?usage: run.sh BUILD}
cd "$(dirname "$0")/.."
data=${ASMEVO_DATA:-../shared/data}

echo "== simulated machine: wave-instructions a second on one core, beside a plain loop of the same lane arithmetic"
bench/compare.py "$build/bench/bench_machine" --report
ASMEVO_DATA=$data "$build/bench/bench_machine" --benchmark_filter=start_up

echo
echo "== whole kernels, whole command: softmax of 4096 x 4096; attention forward, batch 1, 8 heads, 1024 x 128"
time "$build/src/asmevo" run corpus/softmax_rows.hsaco --launch bench/launches/softmax.json
attention=$data/aiter/hsa/gfx942/fmha_v3_fwd/MI300/fwd_hd128_bf16_rtne.co
if [ -f "$attention" ]; then
  time "$build/src/asmevo" run "$attention" --launch bench/launches/attention.json
else
  echo "SKIPPED: no $attention (set ASMEVO_DATA)"
fi

echo
echo "== the oracle: eight cases of a 4096 x 4096 RMSNorm, whole command"
time "$build/src/asmevo" verify corpus/rmsnorm.hsaco corpus/rmsnorm.hsaco --launch bench/launches/rmsnorm.json --prove-limit 0

echo
echo "== strict mode: the same loop without and with it; ratio says how many times longer"
"$build/bench/bench_strict" --benchmark_min_time=0.2

echo
echo "== proofs: edits of blocks of real kernels that keep their meaning, and mistakes"
ASMEVO_DATA="$data" "$build/bench/bench_prove" 500 | grep -v ': unknown: '

echo
echo "== candidates: searches of corpus/softmax.hsaco, evaluations a second"
bench/search_throughput.sh "$build/src/asmevo"

echo
echo "== round trips of real objects, beside llvm-objdump | llvm-mc on the same files"
library=$(find "${ASMEVO_CORPORA:-$build/corpora}" -name 'librocsparse.so.0*' -type f 2>/dev/null | head -1)
bench/roundtrip.sh "$build/src/asmevo" "$data" "$library"

echo
echo "== the static gate"
bench/static_gate.sh "$build/src/asmevo" "$data"

echo
echo "== timing model against measured times of MI300A, MI308X and MI300X"
if [ -d "$data/mi300a" ]; then
  "$build/bench/bench_timing_mi300a" "$data/mi300a" --max-bytes 4194304
  "$build/bench/bench_timing_aiter" "$data" --rows-only
else
  echo "SKIPPED: no measurements in $data/mi300a (set ASMEVO_DATA)"
fi

echo
echo "== timing model: wave-instructions a second on one core"
for name in rmsnorm softmax gemm_mfma matmul; do
  "$build/bench/bench_timing_speed" "corpus/$name.hsaco" "corpus/$name.json"
done
