#!/usr/bin/env bash
# How many evaluations a second a search of softmax makes, with one candidate at a time and with one for each core, what an
# evaluation costs in processor time (the same on a busy machine), and how many were answered before anything ran:
# duplicates, what does not assemble, what the static gate refuses.
#   search_throughput.sh ASMEVO [BUDGET]
set -euo pipefail
asmevo=$(realpath "${1:?usage: search_throughput.sh ASMEVO [BUDGET]}")
budget=${2:-200}
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
TIMEFORMAT='%U'
# A team has one worker for each direction; what one of them finds the others find again. Replayed, its proposals show what
# the gate takes without the driver, which asks the timing model before it proposes.
for search in rewrite "rewrite --team 5" "replay --proposals $out/proposals.jsonl" random mcmc; do
  for workers in 1 "$(nproc)"; do
    name="$out/${search%% --proposals*}.$workers"
    # shellcheck disable=SC2086 # the name of the driver and its options
    { time "$asmevo" optimize corpus/softmax.hsaco --launch corpus/softmax.json --driver $search --seed 1 --budget "$budget" \
      --workers "$workers" -o "$out/best.hsaco" --force --json 2>/dev/null >"$name.json"; } 2>"$name.user"
  done
  [ "$search" = "rewrite --team 5" ] && "$asmevo" lineage "$out/best.hsaco.asmevo" --proposals >"$out/proposals.jsonl"
  search=${search%% --proposals*}
  python3 - "$search" "$out/$search.1" "$out/$search.$(nproc)" <<'END'
import json, sys

class Run:
    def __init__(self, path):
        document = json.load(open(path + ".json"))
        self.evaluations = document["evaluations"]
        self.rate = self.evaluations / document["elapsed_seconds"]
        self.processor = 1000 * float(open(path + ".user").read()) / self.evaluations
        self.verdicts = document["verdicts"]
        self.speedup = document["speedup"]

one, all_cores = Run(sys.argv[2]), Run(sys.argv[3])
early = sum(one.verdicts.get(name, 0) for name in ("duplicate", "assembly_failure", "static_inconsistency"))
assert (one.verdicts, one.speedup) == (all_cores.verdicts, all_cores.speedup), "threads changed the search"
print(f"{sys.argv[1]}: {one.evaluations} evaluations, {one.rate:.1f} a second one at a time and {all_cores.rate:.1f} with one for "
      f"each core ({all_cores.rate / one.rate:.2f} times); {one.processor:.0f} ms of processor time each; "
      f"{100 * early / one.evaluations:.0f} % answered before anything ran; best {one.speedup:.3f}x")
END
done
