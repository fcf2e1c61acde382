#!/usr/bin/env bash
# Builds everything and runs the tests: ./test.sh [--preset NAME] [--targets "TARGET ..."] [arguments of ctest, such as
# -R spec or -L ops]. With --targets only those are built; name tests that they hold with -L or -R.
set -euo pipefail
targets="jari all"
while [ "${1:-}" = --preset ] || [ "${1:-}" = --targets ]; do
  [ $# -ge 2 ] || { echo "test.sh: $1 needs a value, e.g. --preset asan, --targets 'test_ops test_store'" >&2; exit 2; }
  if [ "$1" = --preset ]; then export JARI_PRESET=$2; else targets=$2; fi
  shift 2
done
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/cmake/setup.sh"
# shellcheck disable=SC2086
jari_setup $targets || exit 1
cd "$root"
exec ctest --preset "$preset" --parallel "${JARI_JOBS:-$(nproc)}" "$@"
