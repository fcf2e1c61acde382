#!/usr/bin/env python3
"""tools/dev/check_layers.py on small trees: each rule has a tree that breaks it, and a tree that breaks none passes."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools/dev/check_layers.py"
LAYERS = """
jari_add_layer(base DEPENDS fmt::fmt)
jari_add_layer(spec DEPENDS jari::base PRIVATE_DEPENDS yaml-cpp)
jari_add_layer(registry DEPENDS jari::spec)
jari_add_layer(graph DEPENDS jari::base)
jari_add_layer(ops DEPENDS jari::graph)
jari_add_layer(backend DEPENDS jari::ops)
jari_add_layer(component DEPENDS jari::registry jari::ops)
"""


def check(files, layers=LAYERS):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"framework/CMakeLists.txt": layers, **files}.items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


class CheckLayers(unittest.TestCase):
    def refuses(self, files, *messages, layers=LAYERS):
        status, output = check(files, layers)
        self.assertEqual(status, 1, output)
        for message in messages:
            self.assertIn(message, output)
        self.assertIn(f"{len(messages)} errors", output)

    def accepts(self, files):
        status, output = check(files)
        self.assertEqual(status, 0, output)
        self.assertIn("0 errors", output)
        return output

    def test_accepts_arrows_that_point_down(self):
        self.accepts({
            "framework/spec/node.cpp": '#include <yaml-cpp/yaml.h>\n#include "framework/base/error.hpp"\n',
            "framework/component/model.hpp": '#include "framework/spec/node.hpp"\n#include "framework/ops/ops.hpp"\n',
            "framework/plugin_api.hpp": '#include "framework/component/model.hpp"\n',
            "framework/store/file.cpp": "#include <hdf5.h>\n",
            "framework/backend/cpu/matmul.cpp": "#include <dnnl.hpp>\n",
            "framework/backend/cuda/matmul.cu": "#include <cublasLt.h>\n",
            "plugins/position/sin.cpp": '#include <cmath>\n#include <fmt/format.h>\n#include "framework/plugin_api.hpp"\n',
            "tools/run.cpp": '#include <CLI/CLI.hpp>\n#include "framework/component/model.hpp"\n#include "tools/cli.hpp"\n',
            "tests/store/file_test.cpp": '#include <hdf5.h>\n#include "framework/store/file.hpp"\n',
        })

    def test_refuses_an_arrow_that_points_up(self):
        self.refuses({"framework/base/error.cpp": '\n#include "framework/spec/node.hpp"\n'},
                     'framework/base/error.cpp:2: "framework/spec/node.hpp": layer base may see no other layer')

    def test_keeps_spec_and_graph_apart(self):
        self.refuses({"framework/graph/graph.hpp": '#include "framework/spec/node.hpp"\n',
                      "framework/spec/node.hpp": '#include "framework/graph/graph.hpp"\n'},
                     "framework/graph/graph.hpp:1: ", "framework/spec/node.hpp:1: ")

    def test_hides_the_backend_from_components(self):
        self.refuses({"framework/component/model.cpp": '#include "framework/backend/kernel.hpp"\n'},
                     "layer component may see base, graph, ops, registry, spec")

    def test_keeps_libraries_at_home(self):
        self.refuses({"framework/registry/a.cpp": "#include <yaml-cpp/yaml.h>\n",
                      "framework/spec/deeper/b.hpp": "#include <yaml-cpp/yaml.h>\n",
                      "tools/c.cpp": "#include <H5Cpp.h>\n#include <cuda_runtime.h>\n",
                      "framework/ops/d.cpp": "#include <oneapi/dnnl/dnnl.hpp>\n#include <CLI/CLI.hpp>\n"},
                     "framework/registry/a.cpp:1: <yaml-cpp/yaml.h>: yaml-cpp may be included in framework/spec",
                     "framework/spec/deeper/b.hpp:1: ", "tools/c.cpp:1: <H5Cpp.h>: HDF5", "tools/c.cpp:2: <cuda_runtime.h>: CUDA",
                     "framework/ops/d.cpp:1: <oneapi/dnnl/dnnl.hpp>: oneDNN", "framework/ops/d.cpp:2: <CLI/CLI.hpp>: CLI11")

    def test_holds_plugins_to_the_plugin_api(self):
        self.refuses({"plugins/position/a.cpp": '#include "framework/ops/ops.hpp"\n#include <Eigen/Dense>\n#include "b.hpp"\n'},
                     'plugins/position/a.cpp:1: "framework/ops/ops.hpp": a plugin includes "framework/plugin_api.hpp" alone',
                     "plugins/position/a.cpp:2: <Eigen/Dense>: a plugin includes the standard library, fmt",
                     'plugins/position/a.cpp:3: "b.hpp": includes are written from the repository root')

    def test_refuses_a_framework_that_knows_the_program(self):
        self.refuses({"framework/ops/a.cpp": '#include "tools/cli.hpp"\n', "tools/b.cpp": '#include "plugins/c.hpp"\n'},
                     "the framework stands below tools/", "the program knows plugins through the registry")

    def test_refuses_declared_arrows_that_point_up(self):
        self.refuses({}, "base depends on spec, which does not stand below it", "graph must not see spec",
                     "layer attic is not in ORDER",
                     layers="jari_add_layer(base DEPENDS jari::spec)\njari_add_layer(spec)\njari_add_layer(attic)\n"
                            "jari_add_layer(graph DEPENDS jari::base)\n")

    def test_refuses_left_over_markers(self):
        marker = "TO" + "DO"
        self.refuses({"tests/a.cpp": f"// {marker}: later\n", "framework/base/b.hpp": f"int x;  // {marker}(me)\n"},
                     "tests/a.cpp:1: a left-over marker", "framework/base/b.hpp:1: a left-over marker")

    def test_warns_of_long_files(self):
        output = self.accepts({"framework/base/long.cpp": "\n" * 451, "framework/base/short.cpp": "\n" * 450})
        self.assertIn("framework/base/long.cpp: 451 lines", output)
        self.assertNotIn("short.cpp", output)


if __name__ == "__main__":
    unittest.main()
