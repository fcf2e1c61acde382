#!/usr/bin/env python3
"""Peak memory of `jari tokens` on a generated corpus: it must not grow with the file.

    bench/corpus_memory.py [--program build/release/tools/jari] [--megabytes 256 1024]

Writes the corpus (Korean-like words whose distinct ones grow with the text as those of Korean Wikipedia do, by the same stemmer:
0.4 million in 32 MB, 4 million in 1 GB) as plain text and as gzip into a temporary folder, tokenizes it with an empty cache, and
prints seconds and the largest resident size.
"""
import argparse
import gzip
import os
import random
import resource
import subprocess
import tempfile
import time
from pathlib import Path

SPEC = """experiment: memory
data:
  corpus: {name}
  tokenizer: {{type: words, stemmer: josa}}
  vocabulary: {{size: 10000, min_count: 5}}
"""


def lines(size, draw):
    """About `size` bytes of lines of 20 words. Ranks are of Lomax's law, fitted to how the distinct words grow."""
    written = 0
    while written < size:
        words = []
        for _ in range(20):
            rank = 1 + int(561 * (draw.paretovariate(0.41) - 1))
            word = ""
            while rank:
                word += chr(0xAC00 + rank % 997 * 11)
                rank //= 997
            words.append(word + draw.choice(["은", "에서", "을", "의", ""]))
        line = (" ".join(words) + "\n").encode()
        written += len(line)
        yield line


def measure(program, folder, name):
    (folder / "spec.yaml").write_text(SPEC.format(name=name))
    start = time.time()
    child = subprocess.Popen([program, "tokens", folder / "spec.yaml", "--count", "1"], stdout=subprocess.DEVNULL,
                             env={**os.environ, "XDG_CACHE_HOME": str(folder / f"cache-{name}")})
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{program} failed on {name}")
    return time.time() - start, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/tools/jari")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[256, 1024])
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for size in arguments.megabytes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            # One random block of 64 MB again and again would have no new words; generating all of it takes a while.
            with open(folder / "plain.txt", "wb") as plain, gzip.open(folder / "packed.gz", "wb", 1) as packed:
                for line in lines(size * 1_000_000, random.Random(1)):
                    plain.write(line)
                    packed.write(line)
            for file in ("plain.txt", "packed.gz"):
                seconds, memory = measure(arguments.program, folder, file)
                print(f"{size} MB {file}: {seconds:.1f} s, peak {memory:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
