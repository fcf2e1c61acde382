#!/usr/bin/env python3
"""jari against PyTorch on the reference language model (1,140,608 parameters, batches of 32 x 128 tokens): tokens per
second and peak memory, at one and at two threads, and jari's bf16 against its own f32.

    bench/lm.py --corpus FILE... [--bench build/ci/bench/bench_step] [--rounds 5] [--steps 8] [--threads 1 2] [--json FILE]

The programs take turns (A B C A B C ...), so that a machine whose speed drifts slows all; what is shown are medians over
the rounds, and of the ratio of each round. PyTorch runs with the OpenBLAS and the settings that are fastest here, found
first (peers.py). Without PyTorch, jari alone is measured.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

from peers import PYTHON, fastest_settings, has_torch, run

HERE = Path(__file__).resolve().parent


def torch_command(threads, steps):
    return [PYTHON, HERE / "lm_torch.py", "--threads", threads, "--steps", steps]


def jari_command(options, threads, precision):
    corpus = ",".join(str(path.resolve()) for path in options.corpus)
    return [options.bench, "--spec", HERE.parent / "configs/reference_lm_ko.yaml", "--threads", threads, "--warmup", 3,
            "--steps", 2 * options.steps, f"data.corpus=[{corpus}]", f"precision={precision}"]


def measure(options, threads, settings):
    """Results of each round: [{"f32": ..., "bf16": ..., "torch": ...}, ...]."""
    rounds = []
    for _ in range(options.rounds):
        results = {precision: run(jari_command(options, threads, precision), threads) for precision in ("f32", "bf16")}
        for result in results.values():
            result["tokens_per_second"] = result["steps_per_second"] * 32 * 128
        if settings is not None:
            results["torch"] = run(torch_command(threads, options.steps), threads, settings)
        rounds.append(results)
    return rounds


def show(threads, rounds):
    def median(who, what):
        return statistics.median(r[who][what] for r in rounds)

    def ratio(what, left, right):
        values = [r[left][what] / r[right][what] for r in rounds]
        return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"

    print(f"{threads} thread(s)")
    for who in rounds[0]:
        print(f"  {who:6} {median(who, 'tokens_per_second'):8.0f} tokens/s  {median(who, 'peak_rss_mib'):6.1f} MiB")
    print(f"  bf16 against f32: {ratio('tokens_per_second', 'bf16', 'f32')} times as fast")
    if "torch" in rounds[0]:
        print(f"  f32 against PyTorch: {ratio('tokens_per_second', 'f32', 'torch')} times as fast,"
              f" {ratio('peak_rss_mib', 'f32', 'torch')} of its memory", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, nargs="+", required=True)
    parser.add_argument("--bench", type=Path, default=HERE.parent / "build/ci/bench/bench_step")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=8, help="timed steps of PyTorch; jari does twice as many")
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--json", type=Path, help="write all results here")
    options = parser.parse_args()
    if not options.bench.exists():
        sys.exit(f"{options.bench} is missing; build it: JARI_PRESET=ci ./test.sh -N, or give --bench")
    torch = has_torch()
    results = []
    for threads in options.threads:
        command = torch_command(threads, 2) + ["--warmup", 1]
        settings = fastest_settings(command, threads, "tokens_per_second") if torch else None
        rounds = measure(options, threads, settings)
        show(threads, rounds)
        results += [{"who": who} | result for r in rounds for who, result in r.items()]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
