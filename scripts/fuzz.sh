#!/usr/bin/env bash
# libFuzzer on what reads files that anyone may have made: containers, notes, descriptors, the recoverer, profiles, and
# answers from outside.
# Each runs for the given time; the first crash, hang, leak or undefined step ends it and leaves its input in the build folder.
#   fuzz.sh BUILD SECONDS [JOBS]
set -euo pipefail
build=$(realpath "${1:?usage: fuzz.sh BUILD SECONDS [JOBS]}")
seconds=${2:?usage: fuzz.sh BUILD SECONDS [JOBS]}
jobs=${3:-2}
cd "$(dirname "$0")/.."
root=$PWD
data=${ASMEVO_DATA:-$root/../shared/data}
targets=(container metadata descriptor recover profile answer)
ninja -C "$build" "${targets[@]/#/fuzz_}" >/dev/null

# Seeds: small objects of every producer, for every processor; bundles of them for the container.
seeds=$build/seeds
mkdir -p "$seeds"/{objects,bundles,descriptors,profiles,answers}
cp tests/fuzz/profiles/* "$seeds/profiles"
cp tests/fuzz/answers/* "$seeds/answers"
cp corpus/*.hsaco "$seeds/objects"
find "$data" -name '*.hsaco' -o -name '*.co' 2>/dev/null | xargs -r ls -S -r 2>/dev/null | head -40 |
  xargs -r cp -t "$seeds/objects" 2>/dev/null || true
for target in gfx906 gfx908 gfx90a gfx942 gfx950; do
  for version in 4 6; do
    compile="clang-22 -x hip --offload-arch=$target -mcode-object-version=$version --offload-device-only -nogpuinc -nogpulib -O3 bench/kernels/hip/rowsum.hip"
    $compile --no-gpu-bundle-output -o "$seeds/objects/$target-$version" 2>/dev/null
    $compile --gpu-bundle-output -o "$seeds/bundles/$target-$version" 2>/dev/null
    $compile --gpu-bundle-output --offload-compress -o "$seeds/bundles/$target-$version-packed" 2>/dev/null
  done
done
for options in "" "-ffunction-sections"; do # not linked: groups, relocations, several code sections
  clang-22 -x hip --offload-arch=gfx942 --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O3 $options \
    -S bench/kernels/template.hip -o "$seeds/template.s"
  llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=gfx942 -filetype=obj "$seeds/template.s" -o "$seeds/objects/template$options"
done
head -c 64 /dev/zero >"$seeds/descriptors/zeros"

fuzz_one() { # TARGET
  local name=$1 from=$seeds/objects
  case $name in container) from=$seeds/bundles ;; descriptor) from=$seeds/descriptors ;; profile) from=$seeds/profiles ;; answer) from=$seeds/answers ;; esac
  mkdir -p "$build/found/$name"
  cd "$build"
  "tests/fuzz/fuzz_$name" "found/$name" "$from" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=4096 \
    -artifact_prefix="$build/$name-" -max_len=65536 -print_final_stats=1 >"$name.log" 2>&1 &&
    echo "$name: nothing found in $(sed -n 's/^stat::number_of_executed_units: *//p' "$name.log") runs, $(grep -oE 'cov: [0-9]+' "$name.log" | tail -1)" ||
    { echo "$name: FAILED, see $build/$name.log"; return 1; }
}
export -f fuzz_one
export build seconds seeds
printf '%s\n' "${targets[@]}" | xargs -P "$jobs" -I{} bash -c 'fuzz_one {}'
