#!/usr/bin/env python3
"""Cutting Korean Wikipedia into pieces: jari's stemmer beside the same rule in Python, its byte pairs beside tiktoken.

    bench/text.py --data FOLDER [--bench build/ci/bench/bench_text] [--rounds 3] [--json FILE]

The two take turns on one core, each with 8 MB of kowiki.txt.gz in memory; what is shown are medians over the rounds of MB (10^6 bytes)
a CPU second, and of the ratio of each round. Without tiktoken, jari's byte pairs alone are measured.
"""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

ENDINGS = ("에서는 으로는 에게는 하였다 되었다 입니다 에서 에게 으로 이며 이다 였다 한다 하고 에는 에도 까지 부터 보다 처럼 "
           "은 는 이 가 을 를 의 에 로 과 와 도 만").split()
MARKS = "\"'()[].,·;:!?«»“”‘’"
PATTERN = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def stems(text):
    result = []
    for word in text.split():
        word = word.strip(MARKS)
        for ending in ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= 2:
                word = word[:-len(ending)]
                break
        result.append(word)
    return result


def byte_pairs(folder):
    """tiktoken's encoder from GPT-2's own files, or None."""
    try:
        import tiktoken
    except ImportError:
        return None
    prints = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    others = [b for b in range(256) if b not in prints]
    byte_of = {chr(b): b for b in prints} | {chr(256 + i): b for i, b in enumerate(others)}
    pieces = json.loads((folder / "gpt2-encoder.json").read_text(encoding="utf-8"))
    ranks = {bytes(byte_of[c] for c in piece): rank for piece, rank in pieces.items() if piece != "<|endoftext|>"}
    return tiktoken.Encoding("gpt2", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}).encode_ordinary


def ours(options, name):
    done = subprocess.run([options.bench, f"--benchmark_filter=^{name}$", "--benchmark_format=json"], check=True,
                          env={**os.environ, "JARI_DATA": str(options.data)}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)["benchmarks"][0]["bytes_per_second"] / 1e6


def theirs(cut, text, size):
    start = time.process_time()
    cut(text)
    return size / 1e6 / (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", default="build/ci/bench/bench_text")
    parser.add_argument("--data", type=Path, default=os.environ.get("JARI_DATA"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with gzip.open(options.data / "kowiki.txt.gz", "rt", encoding="utf-8") as file:
        text = file.read(3_400_000)
    size = len(text.encode())
    results = []
    for name, peer, cut in (("josa", "Python", stems), ("byte_pair", "tiktoken", byte_pairs(options.data))):
        rounds = [(ours(options, name), theirs(cut, text, size) if cut else None) for _ in range(options.rounds)]
        result = {"name": name, "jari": statistics.median(mine for mine, _ in rounds)}
        line = f"{name}: jari {result['jari']:.4g} MB/s"
        if cut:
            result |= {"peer": peer, "peer_mb_per_second": statistics.median(other for _, other in rounds),
                       "ratio": statistics.median(mine / other for mine, other in rounds)}
            line += f", {peer} {result['peer_mb_per_second']:.4g}: {result['ratio']:.1f} times as fast"
        print(line, flush=True)
        results.append(result)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
