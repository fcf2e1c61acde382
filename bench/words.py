#!/usr/bin/env python3
"""Word vectors: jari against the same training in PyTorch, against gensim and against fastText, on one corpus.

    bench/words.py CORPUS [--bench build/ci/bench/bench_step] [--jari build/ci/tools/jari] [--rounds 3] [--epochs 5]
                   [--questions ko-analogies.txt] [--skip torch,gensim,fasttext] [--json FILE]

CORPUS: Korean text, plain or .gz. Its words, without particles and cut down to the 10,000 most frequent, are written to a
file first, so that all programs train on the same words. Two comparisons, whose parts take turns (A B A B ...):

steps   the settings of configs/word2vec_ko.yaml (1,024 random pairs, 8 uniform negatives, Adam on both tables): steps a
        second, against bench/words_torch.py
passes  window 5 of random reach, 5 negatives by unigram^0.75, width 100, rate falling in a line, frequent words dropped
        (1e-3): corpus words a second in training alone, peak memory, and accuracy on the analogies by gensim's own count,
        of vectors that jari wrote and gensim read. gensim and fastText have word2vec's rate, 0.025. jari's 5 negatives are
        the mean of 64 that a batch of 128 words shares, its rate is 0.04.

gensim and fastText are those of the Python that runs this; PyTorch is Debian's. What is missing is left out.
"""
import argparse
import collections
import gzip
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
DEBIAN_PYTHON = "/usr/bin/python3"
ENDINGS = sorted("에서는 으로는 에게는 하였다 되었다 입니다 에서 에게 으로 이며 이다 였다 한다 하고 에는 에도 까지 부터 보다 처럼 "
                 "은 는 이 가 을 를 의 에 로 과 와 도 만".split(), key=len, reverse=True)
STEPS_SPEC = """experiment: steps
data: {{corpus: {corpus}, tokenizer: {{type: words, strip: ""}}}}
task: {{type: context, window: 5, across_lines: true, negatives: {{type: uniform, count: 8}}}}
model: {{type: skip_gram, width: 100}}
train: {{steps: 20000, batch: 1024, optimizer: {{type: adam, lr: 2e-3}}}}
"""
PASSES_SPEC = """experiment: passes
data: {{corpus: {corpus}, tokenizer: {{type: words, strip: ""}}}}
task:
  {{type: context, centers: pass, window: 5, dynamic_window: true, subsample: 1e-3, reduction: sum,
   negatives: {{type: unigram, count: 64, share: batch, weight: 5}}}}
model: {{type: skip_gram, width: 100, init: {{embedding: {{type: uniform, low: -0.005, high: 0.005}}, output: zeros}}}}
train:
  {{epochs: {epochs}, batch: 128, optimizer: {{type: sgd, lr: 0.04}}, schedule: {{type: linear, end: 3e-3}},
   log_every: 10000, checkpoint: {{every: 1000000}}}}
"""
# Of the process itself: getrusage would count what its parent had before it was started.
PEAK = """
def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024
"""
GENSIM = """
import json, sys, time
from gensim.models import Word2Vec
corpus, out, threads, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
model = Word2Vec(vector_size=100, window=5, sg=1, negative=5, alpha=0.025, min_alpha=0.0001, sample=1e-3, min_count=1,
                 workers=threads, epochs=epochs, seed=1)
model.build_vocab(corpus_file=corpus)
begin = time.perf_counter()
model.train(corpus_file=corpus, total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=epochs)
seconds = time.perf_counter() - begin
model.wv.save_word2vec_format(out, binary=True)
print(json.dumps({"seconds": seconds, "words": model.corpus_total_words,
                  "peak_rss_mib": peak()}))
"""
FASTTEXT = """
import json, sys, time
import fasttext
corpus, out, threads, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
begin = time.perf_counter()
model = fasttext.train_unsupervised(corpus, model="skipgram", dim=100, ws=5, neg=5, lr=0.025, t=1e-3, minCount=1, minn=0,
                                    maxn=0, bucket=0, epoch=epochs, thread=threads, verbose=0)
seconds = time.perf_counter() - begin
with open(out, "wb") as file:
    file.write(f"{len(model.words)} 100\\n".encode())
    for word in model.words:
        file.write(word.encode() + b" " + model.get_word_vector(word).astype("<f4").tobytes() + b"\\n")
print(json.dumps({"seconds": seconds, "peak_rss_mib": peak()}))
"""
JUDGE = """
import json, sys
from gensim.models import KeyedVectors
vectors = KeyedVectors.load_word2vec_format(sys.argv[1], binary=True)
accuracy, sections = vectors.evaluate_word_analogies(sys.argv[2])
print(json.dumps({"accuracy": accuracy, "asked": sum(len(sections[-1][k]) for k in ("correct", "incorrect")),
                  "vectors": len(vectors)}))
"""


def stem(word):
    word = word.strip("\"'()[].,·;:!?«»“”‘’")
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return word[:-len(ending)]
    return word


def prepare(corpus, folder):
    """Writes words.txt and ids.npy; returns how many words there are."""
    import numpy
    opened = gzip.open(corpus, "rt", encoding="utf-8") if str(corpus).endswith(".gz") else open(corpus, encoding="utf-8")
    with opened as text:
        lines = [[word for word in map(stem, line.split()) if word] for line in text]
    counts = collections.Counter(word for line in lines for word in line)
    ids = {word: i for i, (word, count) in enumerate(counts.most_common(10000)) if count >= 5}
    lines = [[word for word in line if word in ids] for line in lines]
    (folder / "words.txt").write_text("".join(" ".join(line) + "\n" for line in lines if line), encoding="utf-8")
    numpy.save(folder / "ids.npy", numpy.array([ids[word] for line in lines for word in line], dtype=numpy.int32))
    return len(ids), sum(map(len, lines))


def run(command, threads):
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))[:300]}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def compare_steps(options, folder, vocabulary):
    results = []
    spec = folder / "steps.yaml"
    spec.write_text(STEPS_SPEC.format(corpus=folder / "words.txt"), encoding="utf-8")
    for threads in options.threads:
        jari = [options.bench, "--spec", spec, "--threads", threads, "--steps", 1000]
        torch = [DEBIAN_PYTHON, HERE / "words_torch.py", folder / "ids.npy", "--vocabulary", vocabulary, "--threads", threads,
                 "--steps", 100]
        rounds = [{"jari": run(jari, threads), "torch": run(torch, threads)} for _ in range(options.rounds)]
        ratios = [each["jari"]["steps_per_second"] / each["torch"]["steps_per_second"] for each in rounds]
        middle = {name: statistics.median(each[name]["steps_per_second"] for each in rounds) for name in ("jari", "torch")}
        memory = {name: max(each[name]["peak_rss_mib"] for each in rounds) for name in ("jari", "torch")}
        print(f"steps, {threads} thread(s): jari {middle['jari']:.0f} steps/s, {rounds[0]['torch']['program']} "
              f"{middle['torch']:.1f}: {statistics.median(ratios):.1f} times ({min(ratios):.1f} to {max(ratios):.1f}); "
              f"memory {memory['jari']:.0f} and {memory['torch']:.0f} MiB", flush=True)
        results.append({"threads": threads, "rounds": rounds, "ratio": statistics.median(ratios)})
    return results


def train_jari(options, folder, out, threads):
    spec = folder / "passes.yaml"
    spec.write_text(PASSES_SPEC.format(corpus=folder / "words.txt", epochs=options.epochs), encoding="utf-8")
    runs = folder / f"runs-{out.stem}"
    subprocess.run([options.jari, "run", spec, "--runs", runs, "--quiet", f"threads={threads}"], check=True,
                   capture_output=True)
    trial = next(path for path in (runs / "passes").iterdir() if path.is_dir())
    import h5py
    with h5py.File(trial / "run.h5") as file:
        seconds = float(file["environment"].attrs["seconds_train"])
        memory = float(file["environment"].attrs["peak_memory_bytes"]) / 2**20
    subprocess.run([options.jari, "export", trial, "--to", "word2vec", "-o", out], check=True, capture_output=True)
    return {"seconds": seconds, "peak_rss_mib": memory}


def train(options, folder, program, out, threads):
    if program == "jari":
        return train_jari(options, folder, out, threads)
    code = PEAK + {"gensim": GENSIM, "fasttext": FASTTEXT}[program]
    return run([sys.executable, "-c", code, folder / "words.txt", out, threads, options.epochs], threads)


def compare_passes(options, folder, words):
    results = []
    programs = ["jari"] + [name for name in ("gensim", "fasttext") if name not in options.skip and
                           importlib.util.find_spec(name)]
    for threads in options.threads:
        rounds = []
        for number in range(options.rounds):
            rounds.append({})
            for program in programs:
                out = folder / f"{program}-{threads}-{number}.bin"
                rounds[-1][program] = train(options, folder, program, out, threads)
                rounds[-1][program]["words_per_second"] = words * options.epochs / rounds[-1][program]["seconds"]
                if options.questions and importlib.util.find_spec("gensim"):
                    rounds[-1][program].update(run([sys.executable, "-c", JUDGE, out, options.questions], 2))
        for program in programs:
            ratios = [each["jari"]["words_per_second"] / each[program]["words_per_second"] for each in rounds]
            speed = statistics.median(each[program]["words_per_second"] for each in rounds)
            accuracy = [each[program].get("accuracy", float("nan")) for each in rounds]
            memory = max(each[program]["peak_rss_mib"] for each in rounds)
            print(f"passes, {threads} thread(s): {program} {speed / 1000:.0f} thousand words/s, {memory:.0f} MiB, analogies "
                  f"{100 * statistics.mean(accuracy):.1f} %" + ("" if program == "jari" else
                  f"; jari is {statistics.median(ratios):.1f} times as fast ({min(ratios):.1f} to {max(ratios):.1f})"), flush=True)
        results.append({"threads": threads, "rounds": rounds})
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--bench", default="build/ci/bench/bench_step")
    parser.add_argument("--jari", default="build/ci/tools/jari")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--questions")
    parser.add_argument("--skip", default="", help="torch, gensim, fasttext; with commas between")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.skip = options.skip.split(",")
    result = {"corpus": Path(options.corpus).name, "epochs": options.epochs}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vocabulary, words = prepare(options.corpus, folder)
        print(f"{words} words, {vocabulary} distinct", flush=True)
        if "torch" not in options.skip:
            result["steps"] = compare_steps(options, folder, vocabulary)
        result["passes"] = compare_passes(options, folder, words)
    if options.json:
        Path(options.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
