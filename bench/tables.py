#!/usr/bin/env python3
"""jari against gensim on tables of word vectors: reading files, and finding nearest words.

    bench/tables.py [--bench build/ci/bench/bench_tables] [--data FOLDER] [--rows 200000] [--rounds 3] [--json FILE]

The two take turns, each in a process of its own; what is shown are medians over the rounds and of the ratio of each
round. Without gensim, jari alone is measured. The large table is made here: --rows words of 100 random numbers. gensim
has no call for many words at once; "together" is a product of NumPy's in its place.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

GENSIM = """
import json, sys, time
from gensim.models import KeyedVectors
import numpy as np
what, path, binary = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
begin = time.perf_counter()
vectors = KeyedVectors.load_word2vec_format(path, binary=binary)
load = time.perf_counter() - begin
if what == "load":
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    print(json.dumps({"rows": len(vectors), "seconds": load, "peak_memory_bytes": int(peak.split()[1]) * 1024}))
elif what == "together":
    queries = int(sys.argv[4])
    units = vectors.get_normed_vectors()
    begin = time.perf_counter()
    for first in range(0, queries, 256):
        scores = units[first:min(first + 256, queries)] @ units.T
        best = np.argpartition(-scores, 10, axis=1)[:, :11]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1)
        best = np.take_along_axis(best, order, axis=1)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "comparisons_per_second": queries * len(vectors) / seconds}))
else:
    queries = int(sys.argv[4])
    vectors.fill_norms()
    begin = time.perf_counter()
    for word in vectors.index_to_key[:queries]:
        vectors.most_similar(word, topn=10)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "comparisons_per_second": queries * len(vectors) / seconds}))
"""


def run(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def has_gensim():
    return subprocess.run([sys.executable, "-c", "import gensim"], capture_output=True, check=False).returncode == 0


def make_large(folder, rows):
    """The same random table as binary and as text."""
    import numpy as np
    values = np.random.default_rng(1).standard_normal((rows, 100), dtype="f4")
    binary, text = folder / "large.bin", folder / "large.txt"
    with open(binary, "wb") as file:
        file.write(f"{rows} 100\n".encode())
        for i in range(rows):
            file.write(f"word{i} ".encode() + values[i].tobytes() + b"\n")
    with open(text, "w", encoding="utf-8") as file:
        file.write(f"{rows} 100\n")
        for i in range(rows):
            file.write(f"word{i} " + " ".join(map("{:.6f}".format, values[i])) + "\n")
    return {"large binary": (binary, True), "large text": (text, False)}


def compare(name, ours, theirs, key, rounds, threads):
    measured = []
    for _ in range(rounds):
        measured.append((run(ours, threads), run(theirs, threads) if theirs else None))
    median = statistics.median(ours[key] for ours, _ in measured)
    result = {"name": name, "threads": threads, "jari": median, "peak_memory_bytes": measured[0][0].get("peak_memory_bytes")}
    line = f"{name}, {threads} thread(s): jari {median:.4g}"
    if theirs:
        better = (lambda a, b: b / a) if key == "seconds" else (lambda a, b: a / b)
        result["gensim"] = statistics.median(theirs[key] for _, theirs in measured)
        result["ratio"] = statistics.median(better(ours[key], theirs[key]) for ours, theirs in measured)
        result["gensim_peak_memory_bytes"] = measured[0][1].get("peak_memory_bytes")
        line += f", gensim {result['gensim']:.4g}: {result['ratio']:.1f} times as fast"
    print(line + (" (seconds)" if key == "seconds" else " (comparisons per second)"), flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/ci/bench/bench_tables")
    parser.add_argument("--data", default=os.environ.get("JARI_DATA"))
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    options = parser.parse_args()
    gensim = has_gensim()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        files = make_large(Path(folder), options.rows)
        if options.data:
            files["GloVe 20k binary gz"] = (Path(options.data) / "glove-6b-100d-20k.bin.gz", True)
        python = [sys.executable, "-c", GENSIM]
        for name, (path, binary) in files.items():
            theirs = python + ["load", path, int(binary)] if gensim else None
            results.append(compare("load " + name, [options.bench, "load", path], theirs, "seconds", options.rounds, 1))
        path = files["large binary"][0]
        for threads in (1, 2):
            for name, ours, what, theirs in (("one word", 1, "search", 100), ("2000 words", 2000, "search", 100),
                                             ("2000 words, together", 2000, "together", 1024)):
                peer = python + [what, path, 1, theirs] if gensim else None
                results.append(compare("nearest ten, " + name, [options.bench, "search", path, ours, threads], peer,
                                       "comparisons_per_second", options.rounds, threads))
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
