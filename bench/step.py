#!/usr/bin/env python3
"""jari against PyTorch on the probe: steps per second and peak memory, at one and at two threads.

    bench/step.py [--bench build/ci/bench/bench_step] [--rounds 5] [--steps 100] [--positions learned sin rel] [--json FILE]

The two take turns (A B A B ...), so that a machine whose speed drifts slows both; what is shown are medians over the
rounds, and of the ratio of each round. PyTorch runs with the OpenBLAS that is faster here (OpenMP or pthread), found
first, and without the settings that would make it slower. Without PyTorch, jari alone is measured.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # Debian's has Debian's PyTorch
SLOWING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def run(command, threads, library_path=""):
    environment = {name: value for name, value in os.environ.items() if name not in SLOWING}
    environment["OMP_NUM_THREADS"] = environment["OPENBLAS_NUM_THREADS"] = str(threads)
    if library_path:
        environment["LD_LIBRARY_PATH"] = library_path
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def torch_command(position, threads, steps):
    return [PYTHON, HERE / "step_torch.py", "--position", position, "--threads", threads, "--steps", steps]


def fastest_blas(threads):
    """The folder of the BLAS that PyTorch trains fastest with, "" for the system's choice."""
    folders = sorted(Path("/usr/lib").glob("*/openblas-*"))
    if len(folders) < 2:
        return ""
    speeds = {str(folder): run(torch_command("learned", threads, 40), threads, str(folder))["steps_per_second"]
              for folder in folders}
    best = max(speeds, key=speeds.get)
    print(f"PyTorch at {threads} thread(s):", ", ".join(f"{Path(f).name} {s:.1f} steps/s" for f, s in speeds.items()))
    return best


def has_torch():
    return subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode == 0


def measure(options, position, threads, blas):
    """Results of each round: [{"jari": ..., "torch": ...}, ...]."""
    jari = [options.bench, "--position", position, "--threads", threads, "--steps", options.steps * 4]
    rounds = []
    for _ in range(options.rounds):
        rounds.append({"jari": run(jari, threads)})
        if blas is not None:
            rounds[-1]["torch"] = run(torch_command(position, threads, options.steps), threads, blas)
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
    if not torch:
        print("PyTorch is not installed (apt-get install python3-torch libopenblas0-openmp): jari alone is measured")
    results = []
    for threads in options.threads:
        blas = fastest_blas(threads) if torch else None
        for position in options.positions:
            rounds = measure(options, position, threads, blas)
            show(position, threads, rounds)
            results += [result for r in rounds for result in r.values()]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
