#!/usr/bin/env python3
"""`jari compare` of 10,000 runs, first and later time, beside an h5py loop that reads the same values.

    bench/compare.py [--build build/ci] [--cells 500] [--seeds 20] [--rounds 3] [--where FOLDER] [--json FILE]

One small trial is trained; its run file is written 10,000 times with other seeds, learning rates and values. Then, in turns:
`jari compare` without its cache (first), with it (later), and the h5py loop, which reads of each file seed, resolved spec and
every metric, and computes nothing. All run files are in the page cache for all of them. Wall seconds, and in brackets CPU seconds,
which depend less on what else the machine does.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py

ROOT = Path(__file__).resolve().parent.parent


def make_runs(options, folder):
    subprocess.run([options.build / "tools/jari", "run", ROOT / "configs/extrapolate.yaml", "seeds=1", "train.steps=60",
                    "train.log_every=20", "train.evaluate_every=20", "train.batch=8", "model.width=16",
                    "evaluate.trained.sequences=64", "evaluate.extrapolated.sequences=64", "--runs", folder, "--quiet"],
                   check=True, capture_output=True)
    run_file = sorted((folder / "extrapolate").glob("*/run.h5"))[0]
    subprocess.run([options.build / "bench/bench_compare", run_file, folder, str(options.cells), str(options.seeds)], check=True)
    return folder / "many", run_file.stat().st_size


def cpu_seconds():
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def timed(action):
    wall, cpu = time.monotonic(), cpu_seconds()
    action()
    return {"wall": time.monotonic() - wall, "cpu": cpu_seconds() - cpu}


def compare(options, runs):
    subprocess.run([options.build / "tools/jari", "compare", runs], check=True, capture_output=True)


def read_with_h5py(runs):
    values = 0
    for path in runs.glob("*/run.h5"):
        with h5py.File(path, "r") as run:
            seed, spec = run.attrs["seed"], run["spec/resolved"][()]
            found = []
            read = lambda name, item: found.append(item[()]) if isinstance(item, h5py.Dataset) else None
            for group in ("metrics", "analyses"):
                run[group].visititems(read)
            assert seed > 0 and spec
            values += len(found)
    assert values > 0


def shown(times):
    return ", ".join(f"{name} {each['wall']:.2f} s ({each['cpu']:.2f})" for name, each in times.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/ci")
    parser.add_argument("--cells", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--where", help="folder for the runs: one in memory, since each of 10,000 files is synced when it is made")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.where) as temporary:
        runs, size = make_runs(options, Path(temporary))
        time.sleep(3)  # files of the last two seconds are not cached
        rounds = []
        for _ in range(options.rounds):
            (runs / ".summaries").unlink(missing_ok=True)
            times = {"first": timed(lambda: compare(options, runs)), "later": timed(lambda: compare(options, runs)),
                     "h5py": timed(lambda: read_with_h5py(runs))}
            print(shown(times), flush=True)
            rounds.append(times)
        cache = (runs / ".summaries").stat().st_size
    median = {name: {kind: statistics.median(each[name][kind] for each in rounds) for kind in ("wall", "cpu")} for name in rounds[0]}
    print(f"{options.cells} cells of {options.seeds} seeds, {size} bytes a run, cache {cache} bytes; medians of {options.rounds}: "
          + shown(median))
    if options.json:
        result = {"cells": options.cells, "seeds": options.seeds, "bytes_a_run": size, "rounds": rounds, "median": median}
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
