#!/usr/bin/env bash
# Fuzzes every target for a while, two at a time: tests/fuzz/run.sh [SECONDS [TARGET ...]] (60 seconds, all targets).
# Begins with the inputs stored under corpus/, and for specs with those of the tests; what reaches new code is kept under
# build/fuzz/corpus/. Exit status 1 when an input crashed a target, hung it or took too much memory: how to run it again is
# printed. Installs Clang where it is missing.
set -euo pipefail
source "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../../cmake/setup.sh"
preset=fuzz
build=$root/build/fuzz
package_lists+=("$root/cmake/packages_fuzz.txt")
seconds=${1:-60}
shift || true
jari_setup fuzz || exit 1

cd "$root"
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(spec override journal checkpoint run_file table tokenizer sentence_piece)
export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
# Readers of paths are given files: in memory, where there is such a place.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm

fuzz_one() {
  local target=$1 found=$build/corpus/$1 findings=$build/findings/$1 seeds=()
  mkdir -p "$found" "$findings"
  [ "$target" != spec ] || seeds=(configs tests/spec/errors tests/tools/bad_specs)
  local dictionary=tests/fuzz/$target.dict options=()
  [ ! -e "$dictionary" ] || options=(-dict="$dictionary")
  if ! "$build/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -print_final_stats=1 -verbosity=1 -artifact_prefix="$findings/" "${options[@]}" \
    "$found" "tests/fuzz/corpus/$target" "${seeds[@]}" >"$build/$target.log" 2>&1; then
    echo "$target: FAILED; the end of $build/$target.log:"
    grep -v '^#' "$build/$target.log" | tail -n 60
    echo "again: $build/tests/fuzz/fuzz_$target $(ls -t "$findings"/* 2>/dev/null | head -n 1)"
    return 1
  fi
  printf '%s: %s inputs in %s s, %s new, nothing found\n' "$target" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")" "$seconds" \
    "$(sed -n 's/^stat::new_units_added: *//p' "$build/$target.log")"
}

failed=0 running=0
for target in "${targets[@]}"; do
  fuzz_one "$target" &
  running=$((running + 1))
  if [ "$running" -ge 2 ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
exit "$failed"
