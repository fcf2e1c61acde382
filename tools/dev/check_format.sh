#!/usr/bin/env bash
# Whether all tracked sources are formatted as .clang-format says; `tools/dev/check_format.sh --fix` formats them.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
# Without git (an unpacked archive), everything that lies here.
sources=$(git ls-files -- '*.cpp' '*.hpp' '*.cu' '*.cuh' 2>/dev/null ||
          find framework plugins tools tests bench -regextype egrep -regex '.*\.(cpp|hpp|cu|cuh)')
[ -n "$sources" ] || { echo "check_format.sh: no sources found" >&2; exit 1; }
if [ "${1:-}" = --fix ]; then
  xargs clang-format -i <<<"$sources"
else
  xargs clang-format --dry-run -Werror <<<"$sources"
  echo "$(wc -l <<<"$sources") sources are formatted"
fi
