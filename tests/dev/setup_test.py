#!/usr/bin/env python3
"""./jari, ./test.sh and cmake/setup.sh around a project of one file: what is built when, what is said, what is passed on."""
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CMAKE_LISTS = """
cmake_minimum_required(VERSION 3.25)
project(jari LANGUAGES CXX)
enable_testing()
add_subdirectory(tools)
add_test(NAME passes COMMAND true)
add_test(NAME fails COMMAND false)
"""
PROGRAM = r"""
#include <cstdio>
int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) std::printf("[%s]", arguments[i]);
  return count;
}
"""


class Setup(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name) / "check out"  # with a blank, as some have
        for folder in ("cmake", "framework", "plugins", "tools", "bin"):
            (self.root / folder).mkdir(parents=True)
        for name in ("jari", "test.sh", "CMakePresets.json", "cmake/setup.sh"):
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "cmake/packages.txt").write_text("# none\n")
        (self.root / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (self.root / "tools/CMakeLists.txt").write_text("add_executable(jari main.cpp)\n")
        (self.root / "tools/main.cpp").write_text(PROGRAM)

    def start(self, *command, **environment):
        outside = {name: value for name, value in os.environ.items() if not name.startswith("JARI_")}
        return subprocess.run([self.root / command[0], *command[1:]], capture_output=True, text=True, check=False,
                              cwd=self.root.parent, env={**outside, **environment})

    def pretend(self, name, script):
        """A program of that name comes before the real one in the PATH that is returned."""
        path = self.root / "bin" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return f"{self.root}/bin:{os.environ['PATH']}"

    def test_first_use_builds_then_becomes_the_program(self):
        done = self.start("jari", "a b", "--flag")
        self.assertEqual((done.stdout, done.returncode), ("[a b][--flag]", 3), done.stderr)
        self.assertIn("jari: building", done.stderr)

        again = self.start("jari", "x")
        self.assertEqual((again.stdout, again.stderr, again.returncode), ("[x]", "", 2))

    def test_works_through_a_symbolic_link(self):
        (self.root.parent / "link").symlink_to(self.root / "jari")
        done = subprocess.run([self.root.parent / "link", "x"], capture_output=True, text=True, check=False)
        self.assertEqual((done.stdout, done.returncode), ("[x]", 2), done.stderr)

    def test_builds_again_when_a_source_is_newer(self):
        self.start("jari")
        time.sleep(0.05)  # beyond the clock of the file system
        source = self.root / "tools/main.cpp"
        source.write_text(source.read_text().replace("[%s]", "<%s>"))
        self.assertEqual(self.start("jari", "x").stdout, "<x>")
        self.assertEqual(self.start("jari", "x").stderr, "")

    def test_two_at_once_do_not_meet(self):
        command = [self.root / "jari", "x"]
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            output, said = process.communicate()
            self.assertEqual((output, process.returncode), ("[x]", 2), said)

    def test_shows_the_log_of_a_build_that_fails(self):
        (self.root / "tools/main.cpp").write_text("int main() { return nonsense; }\n")
        done = self.start("jari")
        self.assertEqual((done.stdout, done.returncode), ("", 1))
        self.assertIn("nonsense", done.stderr)
        self.assertIn("the build failed", done.stderr)

    def test_installs_what_is_missing_and_only_that(self):
        (self.root / "cmake/packages.txt").write_text("# both\nthere\nlacking  # why\n")
        self.pretend("dpkg-query", "echo installed there; exit 1")
        self.pretend("id", "echo 0")
        path = self.pretend("apt-get", f'echo "$DEBIAN_FRONTEND $*" >> "{self.root}/apt"')
        done = self.start("jari", PATH=path)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("jari: installing packages: lacking\n", done.stderr)
        calls = (self.root / "apt").read_text().splitlines()
        self.assertEqual(len(calls), 2)
        self.assertRegex(calls[0], "^noninteractive .* update$")
        self.assertRegex(calls[1], "^noninteractive .* install --no-install-recommends lacking$")

    def test_names_the_command_where_it_may_not_install(self):
        (self.root / "cmake/packages.txt").write_text("lacking\n")
        self.pretend("dpkg-query", "exit 1")
        self.pretend("id", "echo 1000")
        self.pretend("cmake", "echo no such library; exit 1")
        self.pretend("apt-get", "exit 0")
        path = f"{self.root}/bin:{self.path_without('sudo')}"
        done = self.start("jari", PATH=path)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr.count("as root, type: apt-get install --no-install-recommends lacking"), 2, done.stderr)
        self.assertIn("no such library", done.stderr)

    def path_without(self, name):
        """A folder of links to what /usr/bin and /bin have, but for one program."""
        folder = self.root / "without"
        folder.mkdir()
        for program in Path("/usr/bin").iterdir():
            if program.name != name:
                (folder / program.name).symlink_to(program)
        return folder

    def test_test_sh_runs_all_tests_and_hands_arguments_to_ctest(self):
        done = self.start("test.sh")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("50% tests passed, 1 tests failed out of 2", done.stdout)
        self.assertTrue((self.root / "build/release/tools/jari").exists())

        self.assertEqual(self.start("test.sh", "-R", "passes").returncode, 0)
        self.assertNotEqual(self.start("test.sh", "-R", "no such test").returncode, 0)

    def test_test_sh_takes_a_preset(self):
        done = self.start("test.sh", "--preset", "dev", "-R", "passes")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue((self.root / "build/dev/tools/jari").exists())
        self.assertEqual(self.start("test.sh", "--preset").returncode, 2)


if __name__ == "__main__":
    unittest.main()
