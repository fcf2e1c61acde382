"""Running the peers' programs as they run fastest on this machine."""
import json
import os
import subprocess
import sys
from pathlib import Path

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable  # Debian's has Debian's PyTorch
SETTINGS = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "LD_LIBRARY_PATH")


def environment(threads, settings=None):
    """This process's, without settings of the libraries below PyTorch but those given."""
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return kept | {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads)} | (settings or {})


def run(command, threads, settings=None):
    """The JSON that a program prints."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          env=environment(threads, settings))
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def has_torch():
    found = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True, check=False).returncode == 0
    if not found:
        print("PyTorch is not installed (apt-get install python3-torch libopenblas0-openmp): jari alone is measured")
    return found


def fastest_settings(command, threads, speed):
    """The environment that a PyTorch script is fastest in, of each OpenBLAS with each core type that may fit: an old OpenBLAS
    does not know a new CPU, and takes its slowest code. `speed`: the key of its result to go by."""
    cores = ["", "Haswell"] + (["SkylakeX"] if "avx512f" in Path("/proc/cpuinfo").read_text() else [])
    folders = [str(folder) for folder in sorted(Path("/usr/lib").glob("*/openblas-*"))] or [""]
    found = []
    for folder in folders:
        for core in cores:
            settings = ({"LD_LIBRARY_PATH": folder} if folder else {}) | ({"OPENBLAS_CORETYPE": core} if core else {})
            name = f"{Path(folder).name or 'BLAS'} {core or 'as it finds'}"
            found.append((run(command, threads, settings)[speed], name, settings))
    print(f"PyTorch at {threads} thread(s), {speed}:", ", ".join(f"{name} {rate:.1f}" for rate, name, _ in found))
    return max(found, key=lambda each: each[0])[2]
