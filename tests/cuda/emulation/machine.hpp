#pragma once
// One OS thread's emulated GPU: it runs one block at a time, and of the block one thread at a time.
//
// A thread of the kernel begins on whatever fiber runs at that time, and keeps the fiber only if it has to wait: a
// kernel that never waits needs one stack, and two switches for each warp. Under TSan each thread of the block has a
// fiber of its own, as TSan can only tell fibers apart; neighbouring blocks use different ones, so that it sees races
// between them.

#include <array>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/emulation/emulation.hpp"
#include "tests/cuda/emulation/fiber.hpp"

namespace simt {

inline constexpr unsigned kWarpLanes = 32;
inline constexpr unsigned kMaximumThreads = 1024;  // of a block

class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // All blocks of the grid. Throws what a thread of the kernel throws, and EmulationError.
  void run(const Launch& launch);

  // For the thread of the kernel that runs now: see emulation.hpp.
  void wait_for_block(Place place);
  std::uint64_t wait_for_warp(WarpOperation operation, unsigned mask, std::uint64_t value, unsigned source,
                              Place place);
  unsigned current_lane() const { return current_ % kWarpLanes; }
  void* static_shared(const void* key, std::size_t bytes);
  void* dynamic_shared();

 private:
  // What a thread waits for and where; meaningful while it waits.
  struct Thread {
    Fiber* fiber = nullptr;  // set as soon as it runs
    Place place;
    WarpOperation operation{};
    unsigned mask = 0, source = 0;
    std::uint64_t value = 0, result = 0;
  };
  // The lanes of a warp, by what they do. One that is in none of these sets runs now.
  struct Warp {
    unsigned lanes = 0;  // all that the block has
    unsigned unstarted = 0;
    unsigned ready = 0;                  // waited, may go on
    unsigned at_block = 0, at_warp = 0;  // wait for the block, for a warp operation
    unsigned exited = 0;
  };
  // TSan's points of release for a __syncwarp of one set of lanes, used in turn: a lane that runs ahead to the next
  // __syncwarp must not publish to those that still return from this one.
  struct WarpPoints {
    unsigned completed = 0;
    std::array<char, 2> point{};
  };
  struct StaticArray {
    const void* key;
    std::unique_ptr<unsigned char[]> memory;
  };
  struct Abandoned {};  // unwinds the threads of a block that has failed

  void run_blocks(const Launch& launch);
  void run_block();
  void begin_block();
  void run_warp(unsigned warp);
  bool release_block();
  void abandon_block();

  void work(Fiber& fiber);
  void exit_current();
  void suspend();
  Context& next_context();
  std::unique_ptr<Fiber> make_fiber();
  Fiber& fiber_for(unsigned thread);
  unsigned fiber_number(unsigned thread) const { return block_number_ % 2 * kMaximumThreads + thread; }  // under TSan
  void become_current(unsigned thread);

  bool complete_warp_operation();
  static std::unique_ptr<unsigned char[]> allocate_shared(std::size_t bytes);
  void check_shared_bytes() const;

  void arrange(std::span<std::uint8_t> sequence);

  [[noreturn]] void fail_stuck(unsigned warp) const;
  [[noreturn]] void fail(const std::string& what, const std::string& threads) const;
  std::string waiting(unsigned thread) const;
  std::string index_of(unsigned thread) const;

  const Launch* launch_ = nullptr;
  unsigned thread_count_ = 0;
  std::vector<Thread> threads_;
  std::vector<uint3> indices_;  // threadIdx of each thread
  std::vector<Warp> warps_;
  unsigned current_ = 0;

  // Who takes turns in which order in this phase, between two barriers; whose turn it is.
  std::array<std::uint8_t, kWarpLanes> lane_order_{}, warp_order_{};
  unsigned warp_ = 0, turn_ = 0;
  std::uint64_t random_state_ = 0;

  std::vector<StaticArray> static_shared_;
  std::size_t static_shared_bytes_ = 0;
  std::unique_ptr<unsigned char[]> dynamic_shared_;

  Context home_;  // of who launches
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
  std::exception_ptr error_;
  bool abandoning_ = false;

  // For TSan: before the launch, after it, the block's barriers in turn (as WarpPoints), those of its warps. The last
  // two are new for each block, or they would order blocks.
  char launched_ = 0, finished_ = 0;
  unsigned block_number_ = 0, completed_barriers_ = 0;
  std::unique_ptr<std::array<char, 2>> barrier_points_;
  std::map<std::pair<unsigned, unsigned>, WarpPoints> warp_points_;  // by warp and mask
};

}  // namespace simt
