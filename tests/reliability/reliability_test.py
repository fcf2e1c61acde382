#!/usr/bin/env python3
"""Faults while a sweep runs: kills, torn writes, full disks, flipped bits, two processes at once.

After each of them the same command must end with results that equal those of an undisturbed sweep to the last bit, and
at no moment may a file lie there that can not be opened. Usage: reliability_test.py JARI SHIM [SCENARIO ...]
JARI_KILLS sets how many places are tried in each scenario (default 40; 0: all)."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy

JARI, SHIM = (os.path.abspath(path) for path in sys.argv[1:3])
PLACES = int(os.environ.get("JARI_KILLS", "40"))
SPEC = """\
experiment: faults
seeds: 2
task: {type: neighbor, vocabulary: 12, offset: 1}
model: {type: probe, width: 8, position: sin}
train:
  steps: %d
  batch: 8
  length: 6
  log_every: 5
  evaluate_every: 20
  checkpoint: {every: 10}
  optimizer: {type: adam, lr: 0.01}
evaluate: {same: {length: 6, sequences: 32}}
keep: {checkpoints: %s}
sweep: {grid: {model.position: [sin, {type: rel, max_length: 8}]}}
"""
random.seed(20261129)
passed = []


def check(condition, message):
    if not condition:
        raise SystemExit(f"FAILED: {message}")


class Sweep:
    """A spec in a folder of its own."""

    def __init__(self, steps=40, keep="none"):
        self.folder = Path(tempfile.mkdtemp(prefix="jari_faults_"))
        self.runs = self.folder / "runs"
        (self.folder / "spec.yaml").write_text(SPEC % (steps, keep))

    def command(self, *more):
        return [JARI, "run", str(self.folder / "spec.yaml"), "threads=1", "--runs", str(self.runs), "--quiet", *more]

    def run(self, fault=None, at=0, log=None, more=()):
        environment = dict(os.environ)
        if fault or log:
            environment["LD_PRELOAD"] = SHIM
            environment["JARI_FAULT_FOLDER"] = str(self.runs)
        if fault:
            environment.update(JARI_FAULT=fault, JARI_FAULT_AT=str(at))
        if log:
            environment["JARI_FAULT_LOG"] = str(log)
        return subprocess.run(self.command(*more), env=environment, capture_output=True, text=True, timeout=120)

    def start(self, *more):
        return subprocess.Popen(self.command(*more), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def finish(self, reference, what):
        """Runs to the end and compares."""
        done = self.run()
        check(done.returncode == 0, f"{what}: the next run ended with {done.returncode}:\n{done.stderr}")
        found = self.results()
        check(found.keys() == reference.keys(), f"{what}: trials {sorted(found)} instead of {sorted(reference)}")
        for trial, content in reference.items():
            check(found[trial].keys() == content.keys(), f"{what}: {trial}: {found[trial].keys() ^ content.keys()}")
            for name, value in content.items():
                check(found[trial][name] == value, f"{what}: {trial}: {name} differs")
        left = [path for path in self.runs.rglob("*.tmp")]
        check(not left, f"{what}: temporary files stay: {left}")
        return done

    def results(self):
        return {path.parent.name: contents(path) for path in self.runs.rglob("run.h5")}

    def check_files(self, what):
        """Whatever is there opens."""
        for path in self.runs.rglob("*"):
            if path.suffix == ".h5":
                contents(path)
            elif path.name == "journal.jsonl":
                lines = path.read_bytes().split(b"\n")
                for line in lines[:-1]:
                    json.loads(line)
            elif path.name == "sweep.yaml":
                check(path.read_text().startswith("jari:"), f"{what}: {path} is not whole")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


# What tells when and where a trial was trained, not what came out.
CIRCUMSTANCES = ("created",)


def contents(path):
    """All arrays and attributes of a file as bytes."""
    found = {}
    with h5py.File(path, "r") as file:
        for name, value in file.attrs.items():
            if name not in CIRCUMSTANCES:
                found["@" + name] = str(value)

        def add(name, item):
            if isinstance(item, h5py.Dataset):
                value = item[()]
                found[name] = value.tobytes() if isinstance(value, numpy.ndarray) and value.dtype != object else str(value)

        file.visititems(add)
    return found


def operations(sweep):
    """What an undisturbed sweep asks of the file system, in order."""
    log = sweep.folder / "operations"
    done = sweep.run(log=log)
    check(done.returncode == 0, done.stderr)
    return [line.split(" ", 1)[1] for line in log.read_text().splitlines()]


def places(count):
    """Numbers of the operations at which a fault happens: all, or the first ten and others evenly spread to the last."""
    if PLACES == 0 or PLACES >= count:
        return list(range(1, count + 1))
    return sorted(set(range(1, 11)) | {1 + round(i * (count - 1) / (PLACES - 1)) for i in range(PLACES)})


def kind(operation):
    name = operation.split(" ", 1)[1]
    for part in ("checkpoint", "journal", "run.h5", "sweep.yaml"):
        if name.startswith(part):
            return part
    return "folders and locks"


def faults_at_operations(fault, keep):
    reference_sweep = Sweep(keep=keep)
    names = operations(reference_sweep)
    reference = reference_sweep.results()
    check(len(reference) == 4, f"4 trials expected, found {sorted(reference)}")
    where = {}
    for at in places(len(names)):
        sweep = Sweep(keep=keep)
        what = f"{fault} at operation {at} ({names[at - 1]})"
        done = sweep.run(fault, at)
        if fault == "full" and not any(name.split()[0] in ("open", "write", "mkdir") for name in names[at - 1 :]):
            check(done.returncode == 0, f"{what}: nothing needs space any more, but: {done.stderr}")
        elif fault == "full":
            check(done.returncode in (2, 3), f"{what}: exit status {done.returncode}\n{done.stderr}")
            check("No space left on device" in done.stderr and "free some space" in done.stderr, f"{what}: {done.stderr}")
        else:
            check(done.returncode == -signal.SIGKILL, f"{what}: exit status {done.returncode}\n{done.stderr}")
        sweep.check_files(what)
        sweep.finish(reference, what)
        where[kind(names[at - 1])] = where.get(kind(names[at - 1]), 0) + 1
        sweep.remove()
    reference_sweep.remove()
    spread = ", ".join(f"{count} at {name}" for name, count in sorted(where.items()))
    passed.append(f"{fault} (keep.checkpoints: {keep}): {sum(where.values())} of {len(names)} operations ({spread}): "
                  "all end bit-equal")


def kill_at_operations():
    faults_at_operations("kill", "none")


def kill_at_operations_with_checkpoints_kept():
    faults_at_operations("kill", "all")


def torn_writes():
    faults_at_operations("torn", "none")


def full_disk():
    faults_at_operations("full", "none")


def kill_at_random_moments():
    """One longer sweep, killed again and again until it is through."""
    reference_sweep = Sweep(steps=1500)
    begun = time.time()
    check(reference_sweep.run().returncode == 0, "the undisturbed sweep failed")
    seconds = time.time() - begun
    reference = reference_sweep.results()
    kills = 0
    sweep = Sweep(steps=1500)
    while kills < max(PLACES, 20):
        process = sweep.start()
        try:
            process.wait(timeout=random.uniform(0.02, max(0.3, seconds / 4)))
            process.stderr.close()
            sweep.finish(reference, f"after {kills} kills at random moments")
            sweep.remove()
            sweep = Sweep(steps=1500)
            continue
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            kills += 1
            sweep.check_files(f"kill {kills} at a random moment")
    sweep.finish(reference, f"after {kills} kills at random moments")
    sweep.remove()
    reference_sweep.remove()
    passed.append(f"{kills} kills at random moments of a {seconds:.1f} s sweep: ends bit-equal")


def flip(path):
    data = bytearray(path.read_bytes())
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def flipped_bits():
    """In each kind of file of a trial that was killed on its way."""
    reference_sweep = Sweep()
    names = operations(reference_sweep)
    reference = reference_sweep.results()
    # The last operation on a checkpoint before the first run file: two checkpoints lie there.
    before = max(i for i, name in enumerate(names[: [kind(n) for n in names].index("run.h5")]) if kind(name) == "checkpoint")
    count = 0
    for victims in (["checkpoint.h5"], ["checkpoint.previous.h5"], ["checkpoint.h5", "checkpoint.previous.h5"],
                    ["journal.jsonl"], ["journal.jsonl", "checkpoint.h5"]):
        for _ in range(max(2, PLACES // 10)):
            sweep = Sweep()
            check(sweep.run("kill", before + 1).returncode == -signal.SIGKILL, "the sweep was not killed")
            damaged = [path for name in victims for path in sorted(sweep.runs.rglob(name))]
            check(damaged, f"there is no {victims}")
            for path in damaged:
                flip(path)
            done = sweep.finish(reference, f"flipped bits in {victims}")
            named = [path for path in damaged if str(path) in done.stderr or str(path) in log_of(path)]
            # An older checkpoint, or one of a trial that starts from its beginning, is not looked at.
            check(named or victims == ["checkpoint.previous.h5"], f"nobody tells of the damage in {victims}: {done.stderr}")
            sweep.remove()
            count += 1
    sweep = Sweep()
    check(sweep.run().returncode == 0, "the sweep failed")
    for path in sweep.runs.rglob("run.h5"):
        flip(path)
    sweep.finish(reference, "flipped bits in all run files")
    flip(sweep.runs / "faults" / "sweep.yaml")
    sweep.remove()
    reference_sweep.remove()
    passed.append(f"{count} times flipped bits in journals and checkpoints, and once in all run files: all end bit-equal")


def log_of(path):
    log = path.parent / "log.txt"
    return log.read_text() if log.exists() else ""


def two_at_once():
    sweep = Sweep(steps=20000)
    first = sweep.start()
    deadline = time.time() + 60
    while not list(sweep.runs.rglob("journal.jsonl")) and time.time() < deadline:
        time.sleep(0.01)
    second = sweep.run()
    check(second.returncode == 2, f"the second process: {second.returncode} {second.stderr}")
    check("another jari process is writing this folder; wait until it has ended" in second.stderr, second.stderr)
    waiting = sweep.start("--wait")
    time.sleep(0.3)
    check(waiting.poll() is None, "the waiting process did not wait")
    first.send_signal(signal.SIGINT)
    first.communicate()
    check(first.returncode == 130, f"the first process ended with {first.returncode}")
    waiting.send_signal(signal.SIGTERM)
    waiting.communicate()
    check(waiting.returncode == 143, f"the waiting process ended with {waiting.returncode}")
    sweep.remove()
    passed.append("two processes at once: the second is refused, or waits")


def small_file_system():
    """A real full disk and a real read-only one, where mounting is allowed."""
    sweep = Sweep(steps=200)
    reference = Sweep(steps=200)
    check(reference.run().returncode == 0, "the undisturbed sweep failed")
    sweep.runs.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(sweep.runs)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        passed.append("SKIPPED small file system: mounting is not allowed here")
        return
    try:
        done = sweep.run()
        check(done.returncode in (2, 3) and "No space left on device" in done.stderr, done.stderr)
        sweep.check_files("a full tmpfs")
        subprocess.run(["mount", "-o", "remount,ro", str(sweep.runs)], check=True)
        done = sweep.run()
        check(done.returncode == 2 and "Read-only file system" in done.stderr, f"{done.returncode} {done.stderr}")
        check("choose a folder that you may write to" in done.stderr, done.stderr)
        subprocess.run(["mount", "-o", "remount,rw,size=64m", str(sweep.runs)], check=True)
        sweep.finish(reference.results(), "a tmpfs that was full, then read-only")
    finally:
        subprocess.run(["umount", str(sweep.runs)], check=True)
    sweep.remove()
    reference.remove()
    passed.append("a tmpfs of 64 kB, then read-only, then large enough: ends bit-equal")


SCENARIOS = [kill_at_operations, kill_at_operations_with_checkpoints_kept, torn_writes, full_disk,
             kill_at_random_moments, flipped_bits, two_at_once, small_file_system]

wanted = sys.argv[3:]
for scenario in SCENARIOS:
    if not wanted or scenario.__name__ in wanted:
        scenario()
        print(passed[-1], flush=True)
