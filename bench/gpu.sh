#!/usr/bin/env bash
# On a machine with an NVIDIA card: builds jari for it, runs the tests of the backend on it, and measures (bench/gpu.py).
# Without a card: says what was looked for, and ends with status 0.
#
#   bench/gpu.sh [--no-build] [--no-tests] [arguments of bench/gpu.py]
#
# Needs: nvcc, cuBLAS, cuDNN (docs/cards.md), the packages of cmake/setup.sh. A PyTorch with CUDA is measured beside it if a
# Python has one. Writes gpu.json and gpu.md into the current folder, or where --json and --markdown say.
set -euo pipefail
root=$(cd "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)
build=$root/build/gpu

wants_build=true wants_tests=true
arguments=()
for argument in "$@"; do
  case $argument in
    --no-build) wants_build=false ;;
    --no-tests) wants_tests=false ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exec python3 "$root/bench/gpu.py" --help ;;
    *) arguments+=("$argument") ;;
  esac
done

if ! found=$(python3 "$root/bench/gpu.py" --find-card); then
  echo "not run: $found"
  exit 0
fi
echo "found: $found"
nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit --format=csv 2>/dev/null || true

if $wants_build; then
  # A folder of its own: the architecture is this card's.
  cmake --preset release -S "$root" -B "$build" -DJARI_CUDA=ON -DJARI_BENCH=ON -DCMAKE_CUDA_ARCHITECTURES=native
  targets=(bench_step bench_card jari jari_cuda)
  if $wants_tests; then targets+=(test_card test_card_training test_emulated test_emulated_training test_cuda_emulation); fi
  cmake --build "$build" --parallel "${JARI_JOBS:-$(nproc)}" --target "${targets[@]}"
fi

tests=0
if $wants_tests; then
  ctest --test-dir "$build" -L cuda --output-on-failure --no-tests=error --parallel "$(nproc)" -E "^test_card" || tests=$?
  # One at a time: they share the card.
  ctest --test-dir "$build" --output-on-failure --no-tests=error -R "^test_card" || tests=$?
fi

measured=0
python3 "$root/bench/gpu.py" --build "$build" "${arguments[@]}" || measured=$?
if [ $tests -ne 0 ]; then echo "The backend's tests failed (status $tests): distrust the figures." >&2; fi
exit $((tests != 0 ? tests : measured))
