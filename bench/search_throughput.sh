#!/usr/bin/env bash
# How many evaluations a second a search of softmax makes, with one candidate at a time and with one for each core, and how
# many of them were answered before anything ran: duplicates, what does not assemble, what the static gate refuses.
#   search_throughput.sh ASMEVO [BUDGET]
set -euo pipefail
asmevo=$(realpath "${1:?usage: search_throughput.sh ASMEVO [BUDGET]}")
budget=${2:-100}
cd "$(dirname "$0")/.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for driver in rewrite random mcmc; do
  for workers in 1 $(nproc); do
    "$asmevo" optimize corpus/softmax.hsaco --launch corpus/softmax.json --driver $driver --seed 1 --budget "$budget" \
      --workers $workers -o "$out/best.hsaco" --force --json 2>/dev/null >"$out/$driver.$workers.json"
  done
  python3 - "$driver" "$out/$driver.1.json" "$out/$driver.$(nproc).json" <<'END'
import json, sys
one, all_cores = (json.load(open(path)) for path in sys.argv[2:])
rate = lambda run: run["evaluations"] / run["elapsed_seconds"]
verdicts = all_cores["verdicts"]
early = sum(verdicts.get(name, 0) for name in ("duplicate", "assembly_failure", "static_inconsistency"))
print(f"{sys.argv[1]}: {all_cores['evaluations']} evaluations, {rate(one):.1f} a second one at a time, {rate(all_cores):.1f} "
      f"with one for each core ({rate(all_cores) / rate(one):.2f} times), {100 * early / all_cores['evaluations']:.0f} % "
      f"answered before anything ran; {verdicts}")
END
done
