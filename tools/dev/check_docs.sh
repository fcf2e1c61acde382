#!/usr/bin/env bash
# Whether docs/reference/ is what the program writes of its components; `tools/dev/check_docs.sh --fix` writes it.
set -euo pipefail
cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.."
if [ "${1:-}" = --fix ]; then
  rm -rf docs/reference
  exec ./jari components --write-reference docs/reference
fi
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
./jari components --write-reference "$fresh"
if ! diff -r -u docs/reference "$fresh"; then
  echo "docs/reference is out of date; type: tools/dev/check_docs.sh --fix" >&2
  exit 1
fi
echo "docs/reference is up to date"
