#!/usr/bin/env bash
# Round trips of real objects, beside what one would otherwise type: llvm-objdump | llvm-mc. Both on the same files in the
# same run, with as many processes as asmevo has threads. The other road is a favour to it: it makes instructions of
# .text again and nothing else (no labels, data, descriptors, metadata, link), and compares nothing.
#   roundtrip.sh ASMEVO DATA [LIBRARY]
set -euo pipefail
asmevo=${1:?usage: roundtrip.sh ASMEVO DATA [LIBRARY]}
data=${2:?usage: roundtrip.sh ASMEVO DATA [LIBRARY]}
library=${3:-}
threads=$(nproc)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

seconds() { date +%s.%N; }
# measure COMMAND...: runs it, sets `took`, `cpu` (seconds of processor time, 0 where unknown) and `peak` (KiB of the
# largest process).
measure() {
  local begin end
  begin=$(seconds)
  if [ -x /usr/bin/time ]; then
    /usr/bin/time -o "$scratch/peak" -f '%M %U %S' "$@" >"$scratch/out" 2>"$scratch/err" || true
    read -r peak user system <<<"$(tail -1 "$scratch/peak")"
    cpu=$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')
  else
    "$@" >"$scratch/out" 2>"$scratch/err" || true
    peak=0 cpu=0
  fi
  end=$(seconds)
  took=$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }')
}

# One object through the stock tools: disassemble, make it assembly, assemble.
cat >"$scratch/stock" <<'END'
#!/usr/bin/env bash
set -o pipefail
case $1 in */gfx942/*) cpu=gfx942 ;; */gfx950/*) cpu=gfx950 ;; *) cpu=gfx90a ;; esac
llvm-objdump-22 -d --no-leading-addr --no-show-raw-insn "$1" |
  sed -e '/^$/d' -e '/file format/d' -e '/^Disassembly/d' -e 's/^<\(.*\)>:$/\1:/' -e 's,//.*,,' |
  llvm-mc-22 -triple=amdgcn-amd-amdhsa -mcpu=$cpu -filetype=obj -o /dev/null 2>/dev/null && echo "$1"
END
chmod +x "$scratch/stock"

report() { # WHAT COUNT OK: of what was measured last
  awk -v what="$1" -v n="$2" -v ok="$3" -v s="$took" -v cpu="$cpu" -v peak="$peak" \
    'BEGIN { printf "%-36s %5d objects, %d through, %.1f s, %.1f objects/s, %.1f s of processor, peak %d MiB\n",
                    what, n, ok, s, n / s, cpu, peak / 1024 }'
}

if [ -d "$data/aiter" ] && command -v llvm-objdump-22 llvm-mc-22 >/dev/null; then
  find "$data/aiter" -name '*.co' | sort >"$scratch/files"
  count=$(wc -l <"$scratch/files")
  measure "$asmevo" roundtrip -j "$threads" $(cat "$scratch/files")
  ours=$took
  our_cpu=$cpu
  report "asmevo roundtrip" "$count" "$(grep -c ': exact: ' "$scratch/out")"
  measure xargs -a "$scratch/files" -n 1 -P "$threads" "$scratch/stock"
  report "llvm-objdump | llvm-mc" "$count" "$(wc -l <"$scratch/out")"
  awk -v a="$took" -v b="$ours" -v c="$cpu" -v d="$our_cpu" \
    'BEGIN { printf "ratio: %.1f in time, %.1f in processor time\n", a / b, d ? c / d : 0 }'
else
  echo "SKIPPED: no objects in $data/aiter (set ASMEVO_DATA), or no llvm-objdump-22 and llvm-mc-22"
fi

if [ -n "$library" ] && [ -f "$library" ]; then
  measure "$asmevo" roundtrip -j "$threads" --target gfx90a "$library"
  summary=$(grep ' objects: ' "$scratch/out" || true)
  report "asmevo roundtrip, rocSPARSE gfx90a" "$(grep -c ': exact: \|: DIFFERS: ' "$scratch/out")" \
    "$(grep -c ': exact: ' "$scratch/out")"
  echo "$summary"
else
  echo "SKIPPED: no librocsparse.so.0 (make corpora downloads it)"
fi
