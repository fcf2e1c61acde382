#!/usr/bin/env python3
"""jari against PyTorch on the probe: steps per second and peak memory, at one and at two threads.

    bench/step.py [--bench build/ci/bench/bench_step] [--rounds 5] [--steps 100] [--positions learned sin rel] [--json FILE]

The two take turns (A B A B ...), so that a machine whose speed drifts slows both; what is shown are medians over the
rounds, and of the ratio of each round. PyTorch runs with the OpenBLAS and the settings that are fastest here, found first
(peers.py). Without PyTorch, jari alone is measured.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

from peers import PYTHON, fastest_settings, has_torch, run

HERE = Path(__file__).resolve().parent


def torch_command(position, threads, steps):
    return [PYTHON, HERE / "step_torch.py", "--position", position, "--threads", threads, "--steps", steps]


def fastest_torch(threads):
    return fastest_settings(torch_command("learned", threads, 40), threads, "steps_per_second")


def measure(options, position, threads, settings):
    """Results of each round: [{"jari": ..., "torch": ...}, ...]."""
    jari = [options.bench, "--position", position, "--threads", threads, "--steps", options.steps * 4]
    rounds = []
    for _ in range(options.rounds):
        rounds.append({"jari": run(jari, threads)})
        if settings is not None:
            rounds[-1]["torch"] = run(torch_command(position, threads, options.steps), threads, settings)
    return rounds


def show(position, threads, rounds):
    def median(who, what):
        return statistics.median(r[who][what] for r in rounds)

    line = (f"{position:8} {threads} thread(s)  jari {median('jari', 'steps_per_second'):7.1f} steps/s "
            f"{median('jari', 'peak_rss_mib'):6.1f} MiB")
    if "torch" in rounds[0]:
        ratios = [r["jari"]["steps_per_second"] / r["torch"]["steps_per_second"] for r in rounds]
        memory = [r["torch"]["peak_rss_mib"] / r["jari"]["peak_rss_mib"] for r in rounds]
        line += (f"   PyTorch {median('torch', 'steps_per_second'):6.1f} steps/s {median('torch', 'peak_rss_mib'):6.1f} MiB"
                 f"   {statistics.median(ratios):5.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f}),"
                 f" memory 1/{statistics.median(memory):.1f}")
    print(line, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", type=Path, default=HERE.parent / "build/ci/bench/bench_step")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=100, help="timed steps of PyTorch; jari does four times as many")
    parser.add_argument("--positions", nargs="+", default=["learned", "sin", "rel"])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--json", type=Path, help="write all results here")
    options = parser.parse_args()
    if not options.bench.exists():
        sys.exit(f"{options.bench} is missing; build it: JARI_PRESET=ci ./test.sh -N, or give --bench")

    torch = has_torch()
    results = []
    for threads in options.threads:
        settings = fastest_torch(threads) if torch else None
        for position in options.positions:
            rounds = measure(options, position, threads, settings)
            show(position, threads, rounds)
            results += [result for r in rounds for result in r.values()]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
