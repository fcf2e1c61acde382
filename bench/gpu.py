#!/usr/bin/env python3
"""jari on a card: what the card can do at best, steps of one trial and of fused groups against PyTorch, and whether fused
groups give the bits of trials alone. bench/gpu.sh builds what this needs and calls it.

    bench/gpu.py [--build build/release] [--rounds 5] [--steps 300] [--only ceilings steps fused bits]
                 [--workloads probe_learned probe_rel words lm_f32 lm_tf32 lm_bf16] [--trials 1 4 16 64 256]
                 [--python PYTHON] [--json gpu.json] [--markdown gpu.md]
    bench/gpu.py --device cpu --steps 2 --rounds 1 --trials 1 2    # the same on the CPU, to try the script itself
    bench/gpu.py --find-card                                       # exit status 0: there is one
    bench/gpu.py --tables gpu.json                                 # the tables of an earlier run once more
    bench/gpu.py --self-test

The programs take turns (A B C A B C ...); what is shown are medians over the rounds, and of the ratio of each round. PyTorch
is that of the first Python that has one for the device: --python, the one that runs this, Debian's. PyTorch makes its batches
on the card and does not look at its losses; jari makes them on the host and looks at every loss. What can not be had is left
out, and the tables say so. Without a card nothing is measured, and the exit status is 0.
"""
import argparse
import ctypes
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import gpu_tables

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SECTIONS = ("ceilings", "steps", "fused", "bits")
MODES = ("eager", "compile", "graph")
LEFT_OUT = "left out: "  # as torch_modes.py says it
WORDS_SPEC = """experiment: words
data: {{corpus: {corpus}, tokenizer: {{type: words, strip: ""}}, vocabulary: {{size: 10000, min_count: 1}}}}
task: {{type: context, window: 5, across_lines: true, negatives: {{type: uniform, count: 5}}}}
model: {{type: skip_gram, width: 100}}
train: {{steps: 1000000, batch: 4096, optimizer: {{type: adam, lr: 2e-3}}}}
"""


class Workload:
    def __init__(self, name, title, precision, jari, torch):
        self.name, self.title, self.precision, self.jari, self.torch = name, title, precision, jari, torch


def workloads(folder):
    def probe(position):
        return Workload(f"probe_{position}", f"probe, {position}, 256 x 20, width 128", "f32",
                        ["--spec", ROOT / "configs/base/probe.yaml", "--position", position],
                        ["step_torch.py", "--position", position])

    def language_model(precision, *torch):
        return Workload(f"lm_{precision}", "language model, 32 x 128, 1.1 million parameters", precision,
                        ["--spec", ROOT / "configs/reference_lm_ko.yaml", f"precision={precision}"], ["lm_torch.py", *torch])

    words = Workload("words", "word2vec, 4,096 pairs, 5 negatives, width 100, 10,000 words", "f32",
                     ["--spec", folder / "words.yaml"],
                     ["words_torch.py", "--vocabulary", 10000, "--batch", 4096, "--negatives", 5])
    every = [probe("learned"), probe("rel"), words, language_model("f32"), language_model("tf32", "--tf32"),
             language_model("bf16", "--bf16")]
    return {each.name: each for each in every}


def write_words(folder):
    """A corpus of 10,000 words, all about as frequent."""
    draw = random.Random(1)
    ids = list(range(10000)) + [draw.randrange(10000) for _ in range(390000)]
    draw.shuffle(ids)
    lines = (" ".join(f"w{number}" for number in ids[begin:begin + 20]) for begin in range(0, len(ids), 20))
    (folder / "words.txt").write_text("\n".join(lines) + "\n")
    (folder / "words.yaml").write_text(WORDS_SPEC.format(corpus=folder / "words.txt"))


def find_card():
    """(whether there is one, what was looked for and found)."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False, "no NVIDIA driver (libcuda.so.1 is not on this machine)"
    status, count = driver.cuInit(0), ctypes.c_int(0)
    if status == 0:
        status = driver.cuDeviceGetCount(ctypes.byref(count))
    if status != 0:
        return False, f"there is a driver (libcuda.so.1), but it says error {status}"
    if count.value == 0:
        return False, "there is a driver (libcuda.so.1), but no card"
    return True, f"{count.value} card(s)"


def call(command):
    """The JSON that a program prints, or {"left_out": why}."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.strip().splitlines()[-1])
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    reason = last[len(LEFT_OUT):] if last.startswith(LEFT_OUT) else f"failed: {last}"
    return {"left_out": reason}


def find_python(options):
    """(a Python whose PyTorch works on the device, or None; what was found)."""
    test = "import torch; print(torch.__version__); assert {!r} == 'cpu' or torch.cuda.is_available()".format(options.device)
    found = []
    for python in dict.fromkeys(filter(None, (options.python, sys.executable, "/usr/bin/python3"))):
        if not Path(python).exists():
            found.append(f"{python}: not there")
            continue
        done = subprocess.run([python, "-c", test], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return python, f"PyTorch {done.stdout.strip()}"
        version = done.stdout.strip()
        found.append(f"{python}: " + (f"PyTorch {version} finds no card" if version else "no PyTorch"))
    return None, "; ".join(found)


class Bench:
    def __init__(self, options, python):
        self.options, self.python = options, python

    def jari(self, workload, trials=1, steps=None, warmup=None, extra=()):
        options = self.options
        steps = steps or max(min(20, options.steps), 8 * options.steps // (8 + trials))
        return call([options.build / "bench/bench_step", "--device", options.device, "--threads", options.threads, "--trials",
                     trials, "--steps", steps, "--warmup", self.warmup() if warmup is None else warmup, *workload.jari, *extra])

    def torch(self, workload, mode):
        if self.python is None:
            return {"left_out": "no PyTorch for this device"}
        script, *arguments = workload.torch
        return call([self.python, HERE / script, *arguments, "--device", self.options.device, "--mode", mode, "--threads",
                     self.options.threads, "--steps", self.options.steps, "--warmup", self.warmup()])

    def warmup(self):
        return min(20, self.options.steps)

    def in_turns(self, programs):
        """{name: [result of each round]}; a program that can not be had is called once."""
        results = {name: [] for name in programs}
        for _ in range(self.options.rounds):
            for name, program in programs.items():
                if results[name] and "left_out" in results[name][-1]:
                    continue
                results[name].append(program())
        return results

    def one_trial(self, workload):
        programs = {"jari": lambda: self.jari(workload)}
        programs |= {mode: lambda mode=mode: self.torch(workload, mode) for mode in MODES}
        return {"workload": workload.name, "title": workload.title, "precision": workload.precision,
                "results": self.in_turns(programs)}

    def fused(self, workload):
        programs = {str(trials): lambda trials=trials: self.jari(workload, trials) for trials in self.options.trials}
        programs |= {mode: lambda mode=mode: self.torch(workload, mode) for mode in ("eager", "graph")}
        return {"workload": workload.name, "title": workload.title, "precision": workload.precision,
                "trials": self.options.trials, "results": self.in_turns(programs)}

    def bits(self, workload):
        """Whether trials of a group end with the state that they have alone, bit for bit."""
        trials, steps = max(2, min(16, max(self.options.trials))), min(20, self.options.steps)
        together = self.jari(workload, trials, steps, warmup=0)
        result = {"workload": workload.name, "precision": workload.precision, "trials": trials, "steps": steps}
        if "left_out" in together:
            return result | together
        equal = {}
        for trial in sorted({0, trials // 2, trials - 1}):
            alone = self.jari(workload, 1, steps, warmup=0, extra=[f"seed={42 + trial}"])
            if "left_out" in alone:
                return result | alone
            equal[str(trial)] = alone["digests"][0] == together["digests"][trial]
        again = self.jari(workload, trials, steps, warmup=0)
        return result | {"equal": equal, "repeats": again.get("digests") == together["digests"]}


def measure(options):
    python, found = find_python(options)
    if python is None:
        print(f"no PyTorch for this device, jari alone is measured: {found}", flush=True)
    bench = Bench(options, python)
    result = {"device": options.device, "host": platform.machine(), "cores": options.threads, "torch": found,
              "ceilings": {"left_out": "not asked for"}, "steps": [], "fused": [], "bits": []}
    if "ceilings" in options.only:
        on_card = options.device == "cuda"
        result["ceilings"] = call([options.build / "bench/bench_card"]) if on_card else {"left_out": "of a card alone"}
    with tempfile.TemporaryDirectory() as name:
        write_words(Path(name))
        for each in workloads(Path(name)).values():
            if each.name not in options.workloads:
                continue
            for section, take in (("steps", bench.one_trial), ("fused", bench.fused), ("bits", bench.bits)):
                if section in options.only:
                    print(f"{section}: {each.name}", flush=True)
                    result[section].append(take(each))
                    write(options, result)  # what is there is safe if the time runs out
    return result


def write(options, result):
    options.json.write_text(json.dumps(result, indent=1) + "\n")
    options.markdown.write_text(gpu_tables.tables(result))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build/release")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300, help="timed steps of one trial; groups do fewer")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--trials", type=int, nargs="+", default=[1, 4, 16, 64, 256])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=SECTIONS)
    names = list(workloads(Path()))
    parser.add_argument("--workloads", nargs="+", choices=names, default=names)
    parser.add_argument("--python", help="one that has PyTorch")
    parser.add_argument("--json", type=Path, default=Path("gpu.json"))
    parser.add_argument("--markdown", type=Path, default=Path("gpu.md"))
    parser.add_argument("--find-card", action="store_true")
    parser.add_argument("--tables", type=Path, metavar="JSON")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if min(options.rounds, options.steps, options.threads, *options.trials) < 1:
        parser.error("--rounds, --steps, --threads and --trials are numbers from 1 on")
    if options.device == "cpu":  # tf32 is a card's
        options.workloads = [name for name in options.workloads if name != "lm_tf32"]
    return options


def main():
    options = arguments()
    if options.self_test:
        return gpu_tables.self_test()
    if options.tables:
        print(gpu_tables.tables(json.loads(options.tables.read_text())), end="")
        return 0
    has_card, found = find_card()
    if options.find_card:
        print(found)
        return 0 if has_card else 1
    if options.device == "cuda" and not has_card:
        print(f"not run: {found}")
        return 0
    missing = [name for name in ("bench_step", "bench_card") if not (options.build / "bench" / name).exists()]
    if options.device == "cpu" and missing == ["bench_card"]:
        missing = []
    if missing:
        sys.exit(f"{', '.join(missing)}: not in {options.build}/bench; bench/gpu.sh builds it, or give --build")
    result = measure(options)
    write(options, result)
    print(gpu_tables.tables(result))
    print(f"written: {options.json} and {options.markdown}")
    return 1 if gpu_tables.failures(result) else 0


if __name__ == "__main__":
    sys.exit(main())
