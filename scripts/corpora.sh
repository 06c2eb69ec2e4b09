#!/usr/bin/env bash
# Round trips and random edits over more than a test run has time for: Debian's rocRAND and rocSPARSE (about 25,000
# kernels a target), and the kernels of bench/kernels compiled for every target and code object version, plain, bundled
# and compressed; then waits and hazards, of which compiled code lacks none. Downloads 100 MB once, which unpack to 1.4 GB.
#   corpora.sh ASMEVO DIR
set -euo pipefail
asmevo=$(realpath "${1:?usage: corpora.sh ASMEVO DIR}")
build=$(realpath "$(dirname "$asmevo")/..")
mkdir -p "${2:?usage: corpora.sh ASMEVO DIR}"
dir=$(realpath "$2")
kernels=$(realpath "$(dirname "$0")/../bench/kernels/hip")
cd "$dir"

download() { # PACKAGE: its libraries in libraries/
  [ -e "libraries/$1" ] && return
  echo "downloading $1"
  (mkdir -p packages && cd packages && apt-get download -qq "$1" 2>/dev/null) ||
    { echo "corpora: apt-get cannot download $1 here (needs the Debian 12 archive)" >&2; exit 2; }
  dpkg-deb -x packages/"$1"_*.deb "unpacked-$1"
  mkdir -p "libraries/$1"
  find "unpacked-$1" -type f -name '*.so*' -exec mv -t "libraries/$1" {} +
  rm -r "unpacked-$1"
}

made=.done-$(cat "$kernels"/* "$kernels"/../template.hip | sha256sum | cut -c1-12) # other sources, other objects
sources_for() { # TARGET: the kernels that it can run
  case $1 in
  gfx906*) ls "$kernels"/*.hip | grep -v _mfma ;; # no matrix units
  *) ls "$kernels"/*.hip ;;
  esac
}

compile() { # TARGET VERSION: every kernel, plain, bundled, compressed
  local out=compiled/$1-$2 source name
  [ -e "$out/$made" ] && return
  mkdir -p "$out"
  for source in $(sources_for "$1"); do
    name=$(basename "${source%.hip}")
    local command="clang-22 -x hip --offload-arch=$1 -mcode-object-version=$2 --offload-device-only -nogpuinc -nogpulib -O3 $source"
    $command --no-gpu-bundle-output -o "$out/$name.hsaco"
    $command --gpu-bundle-output -o "$out/$name.hipfb"
    $command --gpu-bundle-output --offload-compress -o "$out/$name.packed.hipfb"
  done
  touch "$out/$made"
}

relocatables() { # TARGET: every kernel and a template as one section and as many, not linked, and linked with relocations left in
  local out=relocatable/$1 source name options
  [ -e "$out/$made" ] && return
  mkdir -p "$out"
  for source in "$kernels"/*.hip "$kernels"/../template.hip; do
    for options in "" "-ffunction-sections -fdata-sections" "-ffunction-sections -fno-unique-section-names"; do
      name=$out/$(basename "${source%.hip}")$(echo "$options" | tr -d ' ')
      clang-22 -x hip --offload-arch=$1 --offload-device-only -nogpuinc -nogpulib -O3 $options --no-gpu-bundle-output -S "$source" -o "$name.s"
      llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=$1 -filetype=obj "$name.s" -o "$name.o"
      ld.lld-22 -shared --emit-relocs "$name.o" -o "$name.co"
    done
  done
  touch "$out/$made"
}

download librocrand1
download librocsparse0
for target in gfx906 gfx908 gfx90a gfx90a:xnack+ gfx90a:xnack-:sramecc+ gfx942 gfx942:xnack+ gfx950; do
  for version in 4 5 6; do compile $target $version; done
done
compile gfx9-4-generic 6
for target in gfx908 gfx90a gfx942 gfx950; do relocatables $target; done

failed=0
check() { # WHAT, then arguments of roundtrip
  local what=$1 begin=$SECONDS
  shift
  echo "== $what"
  # Only the sums and what differs: a line for each of thousands of objects is for the log.
  "$asmevo" roundtrip "$@" >log 2>errors || { failed=1; echo FAILED; cat errors; grep -A5 DIFFERS log | head -20; }
  grep -E ': exact|DIFFERS|^[0-9,]+ objects' log | tail -1
  echo "$((SECONDS - begin)) s"
}
check "compiled kernels" compiled/*/*
check "compiled kernels, edited" --edit 1 compiled/*/*
check "relocatables" relocatable/*/*.o relocatable/*/*.co
check "relocatables, edited" --edit 1 relocatable/*/*.o relocatable/*/*.co
for target in gfx906 gfx908 gfx90a; do
  for library in libraries/*/*; do
    check "$(basename "$library") for $target" "$library" --target $target
    check "$(basename "$library") for $target, edited" "$library" --target $target --edit 1
  done
done

lint() { # WHAT, then code objects: nothing but H031 (docs/checks.md) may be found
  local what=$1 begin=$SECONDS object
  shift
  echo "== waits and hazards: $what"
  : >found
  for object in "$@"; do
    "$asmevo" check "$object" --only 'W*' --only 'H*' 2>>errors | grep -oE '^[^ ]+: ([^ ]+ )?[WH][0-9]{3} ' | grep -oE '[WH][0-9]{3}' >>found || true
  done
  echo "$# objects; findings: $(sort found | uniq -c | awk '{printf "%s%s %d", sep, $2, $1; sep = ", "} END {if (!NR) printf "none"}')"
  if grep -qv H031 found; then failed=1; echo FAILED; fi
  echo "$((SECONDS - begin)) s"
}
for level in 0 1 2; do
  for target in gfx908 gfx90a gfx942 gfx950; do
    mkdir -p "levels/O$level-$target"
    for source in "$kernels"/*.hip; do
      clang-22 -x hip --offload-arch=$target --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O$level "$source" \
        -o "levels/O$level-$target/$(basename "${source%.hip}").hsaco"
    done
  done
done
lint "compiled kernels" compiled/*/*.hsaco levels/*/*.hsaco
echo "== seeded faults in compiled kernels"
if [ -x "$build/tests/test_analysis" ]; then
  ASMEVO_FAULTS_IN=$dir/levels "$build/tests/test_analysis" --gtest_brief=1 --gtest_filter='Faults.*' || failed=1
else
  echo "SKIPPED: no $build/tests/test_analysis (make test builds it)"
fi
if [ -x "$build/tests/test_device" ]; then # what they miss must not run
  ASMEVO_FAULTS_IN=$dir/levels "$build/tests/test_device" --gtest_brief=1 --gtest_filter='Faults.*' || failed=1
else
  echo "SKIPPED: no $build/tests/test_device (make test builds it)"
fi
echo "== hazards against LLVM's recogniser"
if [ -x "$build/tests/test_analysis" ]; then
  ASMEVO_SEQUENCES=2500 "$build/tests/test_analysis" --gtest_brief=1 --gtest_filter='*Recogniser*' || failed=1
else
  echo "SKIPPED: no $build/tests/test_analysis (make test builds it)"
fi
for library in libraries/*/*; do
  for target in gfx906 gfx908 gfx90a; do
    rm -rf extracted
    "$asmevo" extract "$library" --target $target -d extracted >/dev/null
    lint "$(basename "$library") for $target" extracted/*/*.hsaco
  done
done
rm -rf extracted
exit $failed
