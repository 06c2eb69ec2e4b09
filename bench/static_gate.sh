#!/usr/bin/env bash
# The static gate on hand-written kernels: `asmevo check` as a whole (start, recovery, every rule) on each AITER object, in
# processor time for 5,000 instructions, and beside it what starting and recovering alone takes.
#   static_gate.sh ASMEVO DATA
set -euo pipefail
asmevo=${1:?usage: static_gate.sh ASMEVO DATA}
data=${2:?usage: static_gate.sh ASMEVO DATA}
[ -d "$data/aiter" ] || { echo "SKIPPED: no objects in $data/aiter (set ASMEVO_DATA)"; exit 0; }
mapfile -t objects < <(find "$data/aiter" -name '*.co' | sort)
count=$("$asmevo" roundtrip "${objects[@]}" | grep -oE '; [0-9,]+ instructions' | tr -dc '0-9')
TIMEFORMAT='%U %S'
cpu() { { time for object in "${objects[@]}"; do "$asmevo" "$@" "$object" >/dev/null 2>&1 || true; done; } 2>&1 | awk '{print $1 + $2}'; }
all=$(cpu check)
without=$(cpu recover)
awk -v a="$all" -v r="$without" -v n="$count" -v o="${#objects[@]}" 'BEGIN {
  printf "%d objects, %d instructions: check %.1f ms for 5,000 instructions (%.1f ms of them start and recovery)\n",
    o, n, a * 5e6 / n, r * 5e6 / n }'
