#!/usr/bin/env bash
# Compiles the HIP kernels of this folder with clang-22 alone (no ROCm).
#   build.sh DIR [TARGET]     writes DIR/<kernel>.hsaco for TARGET (default gfx942)
set -euo pipefail
out=${1:?usage: build.sh DIR [TARGET]}
target=${2:-gfx942}
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/hip"
for source in *.hip; do
  clang-22 -x hip --offload-arch="$target" --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O3 \
    "$source" -o "$out/${source%.hip}.hsaco"
done
