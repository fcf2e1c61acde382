#!/usr/bin/env python3
"""Installs a build, then uses it as somebody else would: find_package(jari), a program on top of the layers, a component
as a loadable module; a module with another build id is refused.

    install_test.py BUILD   (the folder of a finished build)
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "plugins/out_of_tree"
CMAKE = os.environ.get("CMAKE", "cmake")
BUILD = ""


def call(*command, cwd=None):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=cwd)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = Path(scratch.name)
        cls.prefix = cls.folder / "prefix"
        cls.must(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.build_project("good")

    @classmethod
    def must(cls, *command):
        done = call(*command)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    @classmethod
    def build_project(cls, name, *options):
        cls.must(CMAKE, "-S", PROJECT, "-B", cls.folder / name, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 f"-DCMAKE_PREFIX_PATH={cls.prefix}", *options)
        cls.must(CMAKE, "--build", cls.folder / name)

    def jari(self, command, module):
        spec = self.folder / "spec.yaml"
        spec.write_text((PROJECT / "spec.yaml").read_text().replace("MODULE", str(module)))
        return call(self.prefix / "bin/jari", command, spec, cwd=self.folder)

    def test_a_program_of_somebody_else_runs_on_the_installed_layers(self):
        self.assertEqual(self.must(self.folder / "good/print_graph"), "7 10 15 22 ")

    def test_a_component_of_somebody_else_is_checked_and_trained(self):
        checked = self.jari("check", self.folder / "good/libkerple.so")
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        trained = self.jari("run", self.folder / "good/libkerple.so")
        self.assertEqual(trained.returncode, 0, trained.stdout + trained.stderr)
        self.assertEqual(len(list((self.folder / "runs/out_of_tree").glob("*/run.h5"))), 1)

    def test_without_the_module_its_name_is_unknown(self):
        spec = self.folder / "without.yaml"
        spec.write_text((PROJECT / "spec.yaml").read_text().replace("plugins: [MODULE]\n", ""))
        done = call(self.prefix / "bin/jari", "check", spec)
        self.assertEqual(done.returncode, 2)
        self.assertIn("kerple", done.stderr)

    def test_a_module_of_another_build_is_refused_with_both_ids(self):
        self.build_project("other", "-DJARI_BUILD_ID=jari-from-another-time")
        done = self.jari("check", self.folder / "other/libkerple.so")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("jari-from-another-time", done.stderr)
        self.assertRegex(done.stderr, r"jari-\d+\.\d+\.\d+-[0-9a-f]{8}-\w+-[\d.]+")


if __name__ == "__main__":
    BUILD = sys.argv.pop(1)
    unittest.main()
