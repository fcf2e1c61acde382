#!/usr/bin/env python3
"""A whole sweep on all cores: `jari run configs/extrapolate.yaml` against single-threaded PyTorch trainings, one a core.

    bench/sweep.py [--jari build/release/tools/jari] [--rounds 3] [--steps 300] [--seeds 4] [--json FILE]

jari's time is that of the whole command: start, checks, training, the tests at 20 and 40, run files, the table. PyTorch's is
the training alone, each core with a process of its own that trains one scheme after another (its start and its tests are
left out). The two take turns; what is shown is the median of the rounds' ratios of trainings per hour.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from peers import environment, has_torch
from step import fastest_torch, torch_command

SCHEMES = ("learned", "sin", "rel")
ROOT = Path(__file__).resolve().parent.parent


def jari_steps_per_second(options):
    with tempfile.TemporaryDirectory() as runs:
        command = [options.jari, "run", ROOT / "configs/extrapolate.yaml", f"train.steps={options.steps}",
                   f"seeds={options.seeds}", "--runs", runs, "--quiet"]
        begun = time.monotonic()
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        return len(SCHEMES) * options.seeds * options.steps / (time.monotonic() - begun)


def torch_steps_per_second(options, settings):
    """Steps per second of all cores together: harmonic mean over the schemes, since each trains as many steps."""
    seconds_a_step = 0
    for scheme in SCHEMES:
        command = [str(word) for word in torch_command(scheme, 1, max(20, options.steps // 5))]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(1, settings)) for _ in range(options.cores)]
        rates = [json.loads(process.communicate()[0])["steps_per_second"] for process in processes]
        seconds_a_step += 1 / sum(rates)
    return len(SCHEMES) / seconds_a_step


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jari", default=ROOT / "build/release/tools/jari")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.cores = len(os.sched_getaffinity(0))
    if not has_torch():
        print(f"PyTorch is not installed; jari: {jari_steps_per_second(options):.1f} steps/s in all")
        return
    settings = fastest_torch(1)
    rounds = []
    for _ in range(options.rounds):
        jari, torch = jari_steps_per_second(options), torch_steps_per_second(options, settings)
        print(f"jari {jari:.1f} steps/s, PyTorch {torch:.1f} steps/s on {options.cores} cores: ratio {jari / torch:.2f}", flush=True)
        rounds.append({"jari_steps_per_second": jari, "torch_steps_per_second": torch, "ratio": jari / torch})
    ratio = statistics.median(each["ratio"] for each in rounds)
    print(f"ratio of trainings per hour, median of {options.rounds}: {ratio:.2f}")
    if options.json:
        options.json.write_text(json.dumps({"cores": options.cores, "rounds": rounds, "median_ratio": ratio}, indent=2) + "\n")


if __name__ == "__main__":
    main()
