#!/usr/bin/env python3
"""Compares the machine's speed with a recorded baseline, as ratios.

    compare.py BENCH_MACHINE [--baseline FILE] [--record | --report] [--repetitions N] [--filter REGEX]

Machines are shared and differ, so no absolute number is compared. Every benchmark names the plain loop (or the other
benchmark) that it is to be divided by; both are measured in one run, repetitions interleaved, and the ratio of their
medians is compared with bench/baseline.json. A ratio that is 10 % lower fails. A ratio is measured again, with more
repetitions, before it is called a regression. --record writes the baseline from this run."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

TOLERANCE = 0.10
LEVELS = ("v4", "v3")
UNGATED = ("one_core", "two_cores")  # they need a second core that nobody else uses


def measure(program, level, repetitions, pattern):
    """The median rate of every benchmark, and what it is compared with."""
    command = [program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
               "--benchmark_enable_random_interleaving=true", "--benchmark_min_time=0.02",
               f"--benchmark_filter={pattern}"]
    output = subprocess.run(command, env=dict(os.environ, ASMEVO_ISA_LEVEL=level), check=True, capture_output=True,
                            text=True).stdout
    document = json.loads(output)
    if document["context"].get("isa_level") != f"x86-64-{level}":
        return None
    rates, labels = {}, {}
    for run in document["benchmarks"]:
        if run.get("error_occurred"):
            sys.exit(f"{program}: {run['name']}: {run['error_message']}")
        if run.get("run_type") != "iteration":
            continue
        name = run["run_name"].split("/")[0]
        rate = run.get("flops") or run.get("wave_instructions")
        if rate:
            rates.setdefault(name, []).append(rate)
        if run.get("label"):
            labels[name] = run["label"]
    return {name: statistics.median(values) for name, values in rates.items()}, labels


def ratios(program, level, repetitions, pattern):
    measured = measure(program, level, repetitions, pattern)
    if measured is None:
        return None
    rates, labels = measured
    return {name: (rates[name], plain, rates[name] / rates[plain]) for name, plain in labels.items() if plain in rates}


def again(program, level, name, plain):
    """A second look at one ratio: less noise, nothing else running in between."""
    return ratios(program, level, 25, f"^({name}|{plain})(/|$)").get(name, (0, plain, 0))[2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--baseline", type=pathlib.Path, default=pathlib.Path(__file__).parent / "baseline.json")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--repetitions", type=int, default=9)
    parser.add_argument("--filter", default="-start_up")
    arguments = parser.parse_args()
    baseline = {} if arguments.record or arguments.report else json.loads(arguments.baseline.read_text())
    recorded, slower = {}, []
    for level in LEVELS:
        found = ratios(arguments.program, level, arguments.repetitions, arguments.filter)
        if found is None:
            print(f"{level}: SKIPPED, this host has no such instruction set")
            if level in baseline:
                recorded[level] = baseline[level]
            continue
        recorded[level] = {name: round(ratio, 3) for name, (_, _, ratio) in sorted(found.items()) if name not in UNGATED}
        print(f"{level:<20} {'rate':>10}  {'ratio':>6}  {'was':>6}")
        for name, (rate, plain, ratio) in found.items():
            was = baseline.get(level, {}).get(name)
            note = ""
            if was and ratio < (1 - TOLERANCE) * was:
                ratio = max(ratio, again(arguments.program, level, name, plain))
                if ratio < (1 - TOLERANCE) * was:
                    slower.append(f"{level} {name}: {ratio:.3f} of {plain}, was {was:.3f}")
                    note = "  SLOWER"
            print(f"{name:<20} {rate / 1e6:>9.1f}M  {ratio:>6.2f}  {was if was else '-':>6}  to {plain}{note}")
    if arguments.record:
        arguments.baseline.write_text(json.dumps(recorded, indent=1) + "\n")
        print(f"recorded in {arguments.baseline}")
    for line in slower:
        print(f"{arguments.baseline}: {line}", file=sys.stderr)
    sys.exit(1 if slower else 0)


if __name__ == "__main__":
    main()
