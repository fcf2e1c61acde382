#include "tests/cuda/emulation/emulation.hpp"

#include <fmt/format.h>

#include "tests/cuda/emulation/machine.hpp"

namespace simt {
namespace {

constinit thread_local Machine* running = nullptr;  // while a kernel runs on this OS thread

Machine& running_machine(const char* wanted) {
  if (running == nullptr) throw EmulationError(fmt::format("{} outside of a kernel", wanted));
  return *running;
}

void run(const Launch& launch) {
  if (running != nullptr) throw EmulationError("a kernel launches a kernel");
  static thread_local Machine machine;
  struct Running {
    Running() { running = &machine; }
    ~Running() { running = nullptr; }
  } const scope;
  machine.run(launch);
}

}  // namespace

void EmulatedStream::enqueue(std::function<void()> work) {
  if (capturing) {
    recorded.push_back(std::move(work));
  } else {
    work();
  }
}

void EmulatedStream::replay() const {
  for (const std::function<void()>& work : recorded) work();
}

void enqueue(Launch launch, Stream stream) {
  check_shape(launch);
  if (stream == nullptr) {
    run(launch);
  } else {
    stream->enqueue([launch = std::move(launch)] { run(launch); });
  }
}

void wait_for_block(Place place) { running_machine("__syncthreads").wait_for_block(place); }

std::uint64_t wait_for_warp(WarpOperation operation, unsigned mask, std::uint64_t value, unsigned source, Place place) {
  return running_machine("a warp operation").wait_for_warp(operation, mask, value, source, place);
}

unsigned current_lane() { return running_machine("a warp operation").current_lane(); }

void* static_shared(const void* key, std::size_t bytes) {
  return running_machine("JARI_SHARED").static_shared(key, bytes);
}

void* dynamic_shared() { return running_machine("JARI_DYNAMIC_SHARED").dynamic_shared(); }

}  // namespace simt
