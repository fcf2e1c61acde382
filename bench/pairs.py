#!/usr/bin/env python3
"""Learning byte pairs: `jari tokens` with an empty cache beside Hugging Face's tokenizers and SentencePiece.

    bench/pairs.py --data FOLDER [--program build/ci/tools/jari] [--rounds 3] [--megabytes 100] [--json FILE]

Every training is a process of its own, so that its memory can be told; they take turns. jari's seconds hold all that the command does:
reading, learning, tokenizing, writing the ids. Texts: the two novel files (1.59 million characters, 4,000 pieces), and the first
MEGABYTES of Korean Wikipedia, then English Wikipedia, then again with every word turned around, so that the words are new (32,000).
Hugging Face's threads are kept to one (RAYON_NUM_THREADS), SentencePiece's too. Shown are medians over the rounds.
"""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HUGGING_FACE = """
import sys
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
mark = sys.argv[1] == "word_start"
if mark:
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("[\u2581\\\\s]"), "merged_with_next")
else:
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.NFC(), pre_tokenizers.ByteLevel(add_prefix_space=False)
alphabet = [] if mark else pre_tokenizers.ByteLevel.alphabet()
tokenizer.train([sys.argv[2]], trainers.BpeTrainer(vocab_size=int(sys.argv[3]), initial_alphabet=alphabet, show_progress=False))
assert tokenizer.get_vocab_size() == int(sys.argv[3])
"""
SENTENCE_PIECE = """
import sys
import sentencepiece
sentencepiece.SentencePieceTrainer.train(input=sys.argv[2], model_prefix=sys.argv[2] + ".model", vocab_size=int(sys.argv[3]),
    model_type="bpe", byte_fallback=True, character_coverage=0.9995, num_threads=1, max_sentence_length=10**6, minloglevel=2)
"""
SPEC = "experiment: pairs\ndata: {{corpus: {text}, tokenizer: {{type: byte_pair, train: {{vocabulary: {size}, mark: {mark}}}}}}}\n"


def novels(data, path):
    path.write_bytes((data / "ko-novels-wikisource.txt").read_bytes() + (data / "ko-novels-koconovel.txt").read_bytes())


def large(data, path, megabytes):
    """Lines of the two Wikipedias; from the second time on their words are turned around, then their letters shifted."""
    left = megabytes * 1_000_000
    with open(path, "wb") as out:
        for turn in range(100):
            for name in ("kowiki.txt.gz", "enwiki.txt.gz"):
                with gzip.open(data / name, "rt", encoding="utf-8") as lines:
                    for line in lines:
                        if turn:
                            line = " ".join(word[::-1] if turn == 1 else word[turn:] + word[:turn] for word in line.split()) + "\n"
                        line = line.encode()
                        left -= len(line)
                        if left < 0:
                            return
                        out.write(line)


def measure(command, **environment):
    start = time.time()
    child = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             env={**os.environ, **environment})
    child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"failed: {command[:3]}")
    return {"seconds": time.time() - start, "cpu": usage.ru_utime + usage.ru_stime, "mebibytes": usage.ru_maxrss / 1024}


def ours(options, folder, text, size, mark):
    (folder / "spec.yaml").write_text(SPEC.format(text=text.name, size=size, mark=mark))
    with tempfile.TemporaryDirectory(dir=folder) as cache:
        return measure([options.program, "tokens", folder / "spec.yaml", "--count", "1"], XDG_CACHE_HOME=cache)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/ci/tools/jari")
    parser.add_argument("--data", type=Path, default=os.environ.get("JARI_DATA"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        novels(options.data, folder / "novels.txt")
        large(options.data, folder / "large.txt", options.megabytes)
        for text, size in ((folder / "novels.txt", 4000), (folder / "large.txt", 32000)):
            for mark in ("word_start", "bytes"):
                peers = {"jari": lambda: ours(options, folder, text, size, mark),
                         "tokenizers": lambda: measure([sys.executable, "-c", HUGGING_FACE, mark, text, size], RAYON_NUM_THREADS="1")}
                if mark == "word_start":
                    peers["sentencepiece"] = lambda: measure([sys.executable, "-c", SENTENCE_PIECE, mark, text, size])
                rounds = [{peer: run() for peer, run in peers.items()} for _ in range(options.rounds)]
                for peer in peers:
                    result = {"text": text.stem, "bytes": text.stat().st_size, "mark": mark, "size": size, "peer": peer}
                    for key in ("seconds", "cpu", "mebibytes"):
                        result[key] = statistics.median(one[peer][key] for one in rounds)
                    print(f"{text.stem} {mark} {peer}: {result['seconds']:.2f} s, {result['cpu']:.2f} s CPU, {result['mebibytes']:.0f} MiB",
                          flush=True)
                    results.append(result)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
