#include "tests/cuda/emulation/machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

#include "framework/base/permutation.hpp"

namespace simt {
namespace {

struct OrderSetting {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 0;
};
OrderSetting order_setting;

}  // namespace

void set_thread_order(ThreadOrder order, std::uint64_t seed) { order_setting = {order, seed}; }

void Machine::run(const Launch& launch) {
  struct Ordered {  // even if the launch fails
    explicit Ordered(Machine& machine) : machine_(machine) { release(&machine_.launched_); }
    ~Ordered() { acquire(&machine_.finished_); }
    Machine& machine_;
  } const ordered(*this);
  const Unwatched bookkeeping;
  run_blocks(launch);
}

void Machine::run_blocks(const Launch& launch) {
  launch_ = &launch;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  threads_.assign(thread_count_, {});
  warps_.resize((thread_count_ + kWarpLanes - 1) / kWarpLanes);
  indices_.clear();
  for (unsigned z = 0; z < launch.block.z; ++z) {
    for (unsigned y = 0; y < launch.block.y; ++y) {
      for (unsigned x = 0; x < launch.block.x; ++x) indices_.push_back({x, y, z});
    }
  }
  random_state_ = order_setting.seed;
  block_number_ = 0;
  blockDim = launch.block;
  gridDim = launch.grid;
  const std::uint64_t row = launch.grid.x, plane = row * launch.grid.y, count = plane * launch.grid.z;
  for (std::uint64_t turn = 0; turn < count; ++turn) {
    std::uint64_t block = turn;
    if (order_setting.order == ThreadOrder::reverse) block = count - 1 - turn;
    if (order_setting.order == ThreadOrder::random) block = jari::permuted(turn, count, {.seed = order_setting.seed});
    blockIdx = {static_cast<unsigned>(block % row), static_cast<unsigned>(block % plane / row),
                static_cast<unsigned>(block / plane)};
    run_block();
  }
}

void Machine::run_block() {
  begin_block();
  try {
    const auto warp_order = std::span(warp_order_).first(warps_.size());
    do {
      arrange(lane_order_);
      arrange(warp_order);
      for (const unsigned warp : warp_order) run_warp(warp);
    } while (release_block());
  } catch (...) {
    abandon_block();
    throw;
  }
}

void Machine::begin_block() {
  for (unsigned warp = 0; warp < warps_.size(); ++warp) {
    const unsigned lanes = std::min(kWarpLanes, thread_count_ - warp * kWarpLanes);
    const unsigned mask = lanes == kWarpLanes ? ~0u : (1u << lanes) - 1;
    warps_[warp] = {.lanes = mask, .unstarted = mask};
  }
  static_shared_.clear();
  static_shared_bytes_ = 0;
  dynamic_shared_.reset();
  if (kThreadSanitizer) {
    ++block_number_;
    // Here, at home: a thread of the kernel that makes a fiber would come before it in TSan's eyes.
    fibers_.resize(2 * kMaximumThreads);
    for (unsigned thread = 0; thread < thread_count_; ++thread) {
      std::unique_ptr<Fiber>& fiber = fibers_[fiber_number(thread)];
      if (!fiber) fiber = make_fiber();
    }
    completed_barriers_ = 0;
    barrier_points_ = std::make_unique<std::array<char, 2>>();
    warp_points_.clear();
  }
}

void Machine::arrange(std::span<std::uint8_t> sequence) {
  std::iota(sequence.begin(), sequence.end(), std::uint8_t{0});
  if (order_setting.order == ThreadOrder::reverse) std::reverse(sequence.begin(), sequence.end());
  if (order_setting.order != ThreadOrder::random) return;
  for (std::size_t left = sequence.size(); left > 1; --left) {
    random_state_ = random_state_ * 6364136223846793005u + 1442695040888963407u;  // Knuth's MMIX generator
    std::swap(sequence[left - 1], sequence[(random_state_ >> 33) % left]);
  }
}

// The warp goes on until each of its lanes has exited or waits for the block.
void Machine::run_warp(unsigned warp) {
  warp_ = warp;
  turn_ = 0;
  for (;;) {
    Context& next = next_context();
    if (&next == &home_) break;
    switch_context(home_, next);
    if (error_) std::rethrow_exception(error_);
  }
  // Only a lane of this warp could complete an operation that is still waited for, and all of them wait.
  if (warps_[warp].at_warp != 0) fail_stuck(warp);
}

// All threads that have not exited wait at the barrier: whether there are any. They may go on now.
bool Machine::release_block() {
  unsigned first = thread_count_;
  for (unsigned thread = 0; thread < thread_count_; ++thread) {
    if (!(warps_[thread / kWarpLanes].at_block >> thread % kWarpLanes & 1)) continue;
    if (first == thread_count_) first = thread;
    const Place &here = threads_[thread].place, &there = threads_[first].place;
    if (here.line != there.line || (here.file != there.file && std::strcmp(here.file, there.file) != 0)) {
      fail("divergent __syncthreads", waiting(first) + "; " + waiting(thread));
    }
  }
  for (Warp& warp : warps_) warp.ready = std::exchange(warp.at_block, 0u);
  ++completed_barriers_;
  return first != thread_count_;
}

// Unwinds the threads that still wait, so that their fibers can be used again.
void Machine::abandon_block() {
  abandoning_ = true;
  for (unsigned thread = 0; thread < thread_count_; ++thread) {
    Warp& warp = warps_[thread / kWarpLanes];
    if (!((warp.ready | warp.at_block | warp.at_warp) >> thread % kWarpLanes & 1)) continue;
    become_current(thread);
    switch_context(home_, threads_[thread].fiber->context());
  }
  abandoning_ = false;
  error_ = nullptr;
}

std::unique_ptr<Fiber> Machine::make_fiber() {
  return std::make_unique<Fiber>([](Fiber& self, void* machine) { static_cast<Machine*>(machine)->work(self); }, this);
}

// Where `thread`, which has not begun, begins.
Fiber& Machine::fiber_for(unsigned thread) {
  if (kThreadSanitizer) return *fibers_[fiber_number(thread)];
  if (idle_.empty()) idle_.push_back(fibers_.emplace_back(make_fiber()).get());
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  return fiber;
}

void Machine::become_current(unsigned thread) {
  current_ = thread;
  threadIdx = indices_[thread];
}

// Where the thread of this warp goes on whose turn it is; home if none can.
Context& Machine::next_context() {
  Warp& warp = warps_[warp_];
  const unsigned able = warp.unstarted | warp.ready;
  if (able == 0) return home_;
  unsigned lane = 0;
  do {
    lane = lane_order_[turn_];
    turn_ = (turn_ + 1) % kWarpLanes;
  } while (!(able >> lane & 1));
  become_current(warp_ * kWarpLanes + lane);
  Thread& thread = threads_[current_];
  if (warp.unstarted >> lane & 1) thread.fiber = &fiber_for(current_);
  warp.unstarted &= ~(1u << lane);
  warp.ready &= ~(1u << lane);
  return thread.fiber->context();
}

// What a fiber does all its life: threads of the kernel, one after another.
void Machine::work(Fiber& fiber) {
  for (;;) {
    try {
      acquire(&launched_);
      launch_->thread();
    } catch (const Abandoned&) {
    } catch (...) {
      const Unwatched bookkeeping;
      error_ = std::current_exception();
    }
    release(&finished_);
    Context* next = nullptr;
    {
      // Not beyond the switch: a fiber is destroyed where it rests, and TSan wants it watched then.
      const Unwatched bookkeeping;
      exit_current();
      if (!kThreadSanitizer) idle_.push_back(&fiber);
      next = error_ || abandoning_ ? &home_ : &next_context();
    }
    if (next != &fiber.context()) switch_context(fiber.context(), *next);
  }
}

void Machine::exit_current() {
  Warp& warp = warps_[current_ / kWarpLanes];
  const unsigned lane = 1u << current_lane();
  warp.exited |= lane;
  warp.at_warp &= ~lane;  // where it was if it failed there
}

// The current thread waits; others go on until its turn comes.
void Machine::suspend() {
  Context& own = threads_[current_].fiber->context();
  switch_context(own, next_context());
  if (abandoning_) throw Abandoned();
}

void Machine::wait_for_block(Place place) {
  void* point = nullptr;  // TSan's
  {
    const Unwatched bookkeeping;
    threads_[current_].place = place;
    warps_[current_ / kWarpLanes].at_block |= 1u << current_lane();
    if (kThreadSanitizer) point = &(*barrier_points_)[completed_barriers_ % 2];
  }
  release(point);
  {
    const Unwatched bookkeeping;
    suspend();
  }
  acquire(point);
}

std::uint64_t Machine::wait_for_warp(WarpOperation operation, unsigned mask, std::uint64_t value, unsigned source,
                                     Place place) {
  void* point = nullptr;
  {
    const Unwatched bookkeeping;
    Thread& thread = threads_[current_];
    thread = {thread.fiber, place, operation, mask, source, value, 0};
    const unsigned warp = current_ / kWarpLanes;
    if (!(mask >> current_lane() & 1)) fail("a lane is missing in its own mask", waiting(current_));
    warps_[warp].at_warp |= 1u << current_lane();
    if (kThreadSanitizer && operation == WarpOperation::kSync) {
      WarpPoints& points = warp_points_[{warp, mask}];
      point = &points.point[points.completed % 2];
    }
  }
  // Shuffles and votes move values, but do not order memory.
  if (point != nullptr) release(point);
  std::uint64_t result = 0;
  {
    const Unwatched bookkeeping;
    if (!complete_warp_operation()) suspend();
    result = threads_[current_].result;
  }
  if (point != nullptr) acquire(point);
  return result;
}

// Whether the current thread is the last that its warp operation waits for. Then all others of its mask may go on, and
// the current thread need not wait.
bool Machine::complete_warp_operation() {
  const unsigned number = current_ / kWarpLanes, first = number * kWarpLanes;
  Warp& warp = warps_[number];
  const Thread& asking = threads_[current_];
  if ((warp.at_warp & asking.mask) != asking.mask) return false;
  std::uint64_t vote = 0;
  for (unsigned lanes = asking.mask; lanes != 0; lanes &= lanes - 1) {
    const unsigned lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Thread& thread = threads_[first + lane];
    if (thread.mask != asking.mask || thread.operation != asking.operation) return false;
    if (thread.value != 0) vote |= std::uint64_t{1} << lane;
  }
  const bool shuffles = asking.operation >= WarpOperation::kShuffle && asking.operation <= WarpOperation::kShuffleUp;
  for (unsigned lanes = asking.mask; lanes != 0; lanes &= lanes - 1) {
    Thread& thread = threads_[first + static_cast<unsigned>(std::countr_zero(lanes))];
    if (shuffles && !(asking.mask >> thread.source & 1)) {
      fail("a shuffle reads a lane outside of its mask",
           waiting(first + static_cast<unsigned>(std::countr_zero(lanes))) +
               fmt::format("; it reads lane {}", thread.source));
    }
    thread.result = shuffles ? threads_[first + thread.source].value : vote;
  }
  if (asking.operation == WarpOperation::kSync && kThreadSanitizer) ++warp_points_[{number, asking.mask}].completed;
  warp.at_warp &= ~asking.mask;
  warp.ready |= asking.mask & ~(1u << current_lane());
  return true;
}

std::unique_ptr<unsigned char[]> Machine::allocate_shared(std::size_t bytes) {
  auto memory = std::make_unique_for_overwrite<unsigned char[]>(bytes);
  std::memset(memory.get(), 0xff, bytes);
  return memory;
}

// An allocation of its own for each array, of just its size, so that ASan sees who leaves it.
void* Machine::static_shared(const void* key, std::size_t bytes) {
  const Unwatched bookkeeping;
  for (const StaticArray& array : static_shared_) {
    if (array.key == key) return array.memory.get();
  }
  static_shared_bytes_ += bytes;
  check_shared_bytes();
  static_shared_.push_back({key, allocate_shared(bytes)});
  return static_shared_.back().memory.get();
}

void* Machine::dynamic_shared() {
  const Unwatched bookkeeping;
  if (!dynamic_shared_) dynamic_shared_ = allocate_shared(launch_->dynamic_shared_bytes);
  return dynamic_shared_.get();
}

}  // namespace simt
