#!/usr/bin/env python3
"""Checks what the compiler does not: which layer includes which, and where other people's libraries may be seen.

    tools/dev/check_layers.py [ROOT]

What a layer may include is read from framework/CMakeLists.txt (its DEPENDS, and theirs). That list itself is checked
against ORDER, so that an arrow that points up can not be declared either. Exit status 1 when something is wrong.
"""
import re
import sys
from pathlib import Path

# From the bottom up; docs/architecture.md draws it.
ORDER = "base table spec registry graph ops backend program text component store train sweep report".split()
# Pairs that stand in that order by chance: the first never sees the second, not by way of others either.
STRANGERS = [("graph", "spec"), ("graph", "registry"), ("ops", "spec"), ("ops", "registry"), ("backend", "spec"),
             ("program", "spec"), ("text", "spec"), ("text", "graph"), ("component", "backend"), ("component", "program"),
             ("store", "graph"), ("table", "spec"), ("text", "table"), ("store", "table")]

# Library: how its headers are named, and the only folder whose sources may include them.
LIBRARIES = [
    ("yaml-cpp", r"yaml-cpp/", r"framework/spec/[^/]+\.cpp$"),
    ("HDF5", r"(hdf5(_hl)?|H5\w*)\.h(pp)?$|highfive/", r"framework/store/[^/]+\.cpp$"),
    ("oneDNN", r"(oneapi/dnnl/|dnnl)", r"framework/backend/cpu/"),
    ("CUDA", r"(cuda|cublas|cudnn|curand|nccl|nvtx|nvrtc|cub/|cooperative_groups|mma\.h)", r"framework/backend/cuda/"),
    ("zstd", r"zstd\.h$", r"framework/text/byte_source\.cpp$"),
    ("zlib", r"zlib\.h$", r"framework/(text|table)/[^/]+\.cpp$"),
    ("utf8proc", r"utf8proc\.h$", r"framework/(text|table)/[^/]+\.cpp$"),
    ("MeCab", r"mecab\.h$", r"framework/text/mecab\.cpp$"),
    ("SentencePiece", r"sentencepiece_\w+\.h$", r"framework/text/sentence_piece\.cpp$"),
    ("Eigen", r"Eigen/", r"framework/table/[^/]+\.cpp$"),
    ("CLI11", r"CLI/", r"tools/"),
]

SOURCES = {".hpp", ".cpp", ".h", ".cu", ".cuh", ".def"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
MARKER = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b")  # the brackets keep this line from matching itself
LONG = 450  # lines; a warning


def declared_layers(root):
    """{layer: layers that it names} from framework/CMakeLists.txt, in the order written there."""
    text = (root / "framework/CMakeLists.txt").read_text()
    calls = re.findall(r"jari_add_layer\(\s*(\w+)([^)]*)\)", text)
    return {name: re.findall(r"jari::(\w+)", rest) for name, rest in calls}


def reach(layer, declared):
    """The layer and all that it may see."""
    seen, left = set(), [layer]
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += declared.get(name, [])
    return seen


def check_declared(declared):
    for layer, below in declared.items():
        if layer not in ORDER:
            yield f"framework/CMakeLists.txt: layer {layer} is not in ORDER of tools/dev/check_layers.py"
            continue
        for other in below:
            if other not in ORDER or ORDER.index(other) >= ORDER.index(layer):
                yield f"framework/CMakeLists.txt: {layer} depends on {other}, which does not stand below it"
    for layer, stranger in STRANGERS:
        if layer in declared and stranger in reach(layer, declared):
            yield f"framework/CMakeLists.txt: {layer} must not see {stranger}, but its DEPENDS lead there"


def check_own_include(path, name, declared):
    """What is wrong with `#include "name"` in the source at `path` (relative to the root), or None."""
    area = path.split("/")[0]
    if name.split("/")[0] not in ("framework", "plugins", "tools"):
        return f'"{name}": includes are written from the repository root, as "framework/base/error.hpp"'
    if area == "plugins":
        return None if name == "framework/plugin_api.hpp" else f'"{name}": a plugin includes "framework/plugin_api.hpp" alone'
    if area == "tools":
        return None if name.split("/")[0] != "plugins" else f'"{name}": the program knows plugins through the registry'
    if name.split("/")[0] != "framework":
        return f'"{name}": the framework stands below {name.split("/")[0]}/'
    if path == "framework/plugin_api.hpp":
        layer, seen = "plugin_api.hpp", reach("component", declared)
    else:
        layer = path.split("/")[1]
        seen = reach(layer, declared)
    other = name.split("/")[1]
    if other not in seen:
        return f'"{name}": layer {layer} may see {", ".join(sorted(seen - {layer})) or "no other layer"}; arrows point down only'
    return None


def check_library_include(path, name):
    if path.startswith("plugins/"):
        standard = re.fullmatch(r"[a-z_0-9]+", name) or name.startswith("fmt/")
        return None if standard else f"<{name}>: a plugin includes the standard library, fmt and plugin_api.hpp alone"
    for library, pattern, home in LIBRARIES:
        if re.match(pattern, name) and not re.match(home, path):
            return f"<{name}>: {library} may be included in {home} only"
    return None


def check_source(path, text, declared):
    for number, line in enumerate(text.splitlines(), 1):
        if MARKER.search(line):
            yield f"{path}:{number}: a left-over marker ({MARKER.search(line).group()}): do it now, or open an issue"
        include = INCLUDE.match(line)
        if not include or path.startswith(("tests/", "bench/")):
            continue
        quoted, name = include.group(1) == '"', include.group(2)
        wrong = check_own_include(path, name, declared) if quoted else check_library_include(path, name)
        if wrong:
            yield f"{path}:{number}: {wrong}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    declared = declared_layers(root)
    errors, warnings = list(check_declared(declared)), []
    files = 0
    for area in ("framework", "plugins", "tools", "tests", "bench"):
        for file in sorted((root / area).rglob("*")):
            if file.suffix not in SOURCES or not file.is_file():
                continue
            files += 1
            path, text = file.relative_to(root).as_posix(), file.read_text()
            errors += check_source(path, text, declared)
            if text.count("\n") > LONG and area != "tests":
                warnings.append(f"{path}: {text.count(chr(10))} lines; split it where a second idea begins (warning)")
    print("\n".join(errors + warnings + [f"{files} sources: {len(errors)} errors, {len(warnings)} warnings"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
