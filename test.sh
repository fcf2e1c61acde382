#!/usr/bin/env bash
# Builds everything and runs the tests: ./test.sh [--preset NAME] [arguments of ctest, such as -R spec or -L ops].
set -euo pipefail
if [ "${1:-}" = --preset ]; then
  [ $# -ge 2 ] || { echo "test.sh: --preset needs a name: dev, release, asan, tsan or ci" >&2; exit 2; }
  export JARI_PRESET=$2
  shift 2
fi
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/cmake/setup.sh"
jari_setup jari all || exit 1
cd "$root"
exec ctest --preset "$preset" --parallel "${JARI_JOBS:-$(nproc)}" "$@"
