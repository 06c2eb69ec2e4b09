#!/usr/bin/env bash
# The timing model against everything that was measured: microbenchmarks and traces (test_timing holds them to bounds),
# whole programs on MI300A, matrix products on MI308X and MI300X. Writes the pictures of docs/timing-model.md.
#   compare.sh BUILD [DATA]
set -euo pipefail
build=$(realpath "${1:?usage: compare.sh BUILD [DATA]}")
cd "$(dirname "$0")/../.."
data=${2:-${ASMEVO_DATA:-../shared/data}}
[ -d "$data/mi300a" ] || { echo "SKIPPED: no measurements in $data (set ASMEVO_DATA)"; exit 0; }

echo "== microbenchmarks of MI300X, matrix pipes, traces of gfx950"
measured='launch.an_empty*:memory.the_latency*:memory.a_footprint*:memory.what_fits*:memory.streaming*:lds.the_stride*'
measured+=':rates.matrix_instructions*:rates.dependent*:rates.a_32_bit*:trace.issue*'
ASMEVO_ROWS=1 ASMEVO_DATA=$data "$build/tests/test_timing" --gtest_brief=1 --gtest_filter="$measured"
echo
echo "== MI300A, whole programs"
"$build/bench/bench_timing_mi300a" "$data/mi300a" --svg docs/timing-mi300a.svg
echo
echo "== MI308X and MI300X, matrix products of AITER"
"$build/bench/bench_timing_aiter" "$data" --svg docs/timing-aiter.svg
