#pragma once
// A request to stop soon: the step that runs is finished, every trial saves a checkpoint, nothing is lost.

#include <atomic>

namespace jari {

// The signal that asked for it; 0: nobody did. Signal handlers may store to it.
inline std::atomic<int> interrupt_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers store to it");

inline bool interrupted() { return interrupt_signal.load(std::memory_order_relaxed) != 0; }

}  // namespace jari
