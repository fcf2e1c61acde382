#pragma once
// Memory that a thread keeps between kernel calls: for what one block of work needs while it runs. It grows to the most
// that a kernel asked for (up to a few megabytes, with packed operands of large products), so it is no part of the
// planned arena.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace jari::cpu {

// At least `bytes` bytes, aligned to 64, contents undefined. The next call on this thread gives the same memory.
inline void* thread_scratch(std::size_t bytes) {
  constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(void* memory) const { ::operator delete(memory, kAlignment); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset();
    memory.reset(::operator new(bytes, kAlignment));
    size = bytes;
  }
  return memory.get();
}

template <class T>
T* thread_scratch(std::int64_t count) {
  return static_cast<T*>(thread_scratch(static_cast<std::size_t>(count) * sizeof(T)));
}

}  // namespace jari::cpu
