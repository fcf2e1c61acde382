#!/usr/bin/env python3
"""libjari_cuda.so as built: what it holds, and what becomes of the program where it can not be used.

    module_test.py MODULE JARI CUOBJDUMP ARCHITECTURES
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

MODULE, JARI, CUOBJDUMP, ARCHITECTURES = sys.argv[1:5]

SPEC = """experiment: small
device: {device}
task: {{type: neighbor, vocabulary: 7, offset: 1}}
model: {{type: probe, width: 8, position: {{type: sin}}}}
train: {{steps: 3, batch: 4, length: 6, optimizer: {{type: adam, lr: 1e-2}}}}
"""


def output_of(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def has_driver():
    return any((Path(folder) / "libcuda.so.1").exists()
               for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/aarch64-linux-gnu"))


class Module(unittest.TestCase):
    @unittest.skipUnless(os.access(CUOBJDUMP, os.X_OK), "no cuobjdump: it is not in every toolkit")
    def test_has_kernels_for_each_architecture(self):
        listed = output_of(CUOBJDUMP, "--list-elf", MODULE)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        for architecture in ARCHITECTURES.split(","):
            number = re.match(r"\d+", architecture).group()
            self.assertIn(f"sm_{number}.", listed.stdout)
        symbols = output_of(CUOBJDUMP, "--dump-elf-symbols", MODULE).stdout
        for kernel in ("softmax", "attention", "adam", "guard", "layer_norm", "cross_entropy"):
            self.assertIn(kernel, symbols)

    def test_shows_one_symbol(self):
        defined = output_of("nm", "--dynamic", "--defined-only", MODULE).stdout.split()
        self.assertEqual([name for name in defined if name.startswith("jari")], ["jari_device_module"])
        self.assertFalse([name for name in defined if "4jari" in name], "C++ names of jari")

    def test_program_does_not_link_cuda(self):
        needed = output_of("objdump", "-p", JARI).stdout
        self.assertIn("NEEDED", needed)
        for library in ("cuda", "cublas", "cudnn", "nccl"):
            self.assertNotRegex(needed, rf"NEEDED\s+lib{library}")


@unittest.skipIf(has_driver(), "this machine has a driver: the tests of the card are for it")
class WithoutDriver(unittest.TestCase):
    def run_spec(self, folder, device):
        spec = Path(folder) / "small.yaml"
        spec.write_text(SPEC.format(device=device))
        return output_of(JARI, "run", str(spec), "--runs", str(Path(folder) / "runs"), "--quiet")

    def test_auto_takes_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_spec(folder, "auto")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_cuda_is_refused_before_anything_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_spec(folder, "cuda")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("device: cuda, but there is no card to train on: no NVIDIA driver (libcuda.so.1 is not on this "
                          "machine)", done.stderr)
            self.assertFalse((Path(folder) / "runs").exists())

    def test_doctor_tells_why(self):
        with tempfile.TemporaryDirectory() as folder:
            done = output_of(JARI, "doctor", "--runs", folder)
            self.assertRegex(done.stdout, r"note +CUDA +no NVIDIA driver \(libcuda.so.1 is not on this machine\)")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
