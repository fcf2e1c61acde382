#pragma once
// A flow of control with a stack of its own, which runs until it suspends itself.

#include <cstddef>

#include "tests/cuda/emulation/sanitizer.hpp"

// JARI_EMULATION_UCONTEXT asks for the portable switch, ten times slower: it makes a system call each time.
#if !defined(__x86_64__) && !defined(JARI_EMULATION_UCONTEXT)
#define JARI_EMULATION_UCONTEXT 1
#endif
#if defined(JARI_EMULATION_UCONTEXT)
#include <ucontext.h>
#endif

namespace simt {

// Where a flow of control goes on, and what the sanitizers know it by.
struct Context {
#if defined(JARI_EMULATION_UCONTEXT)
  ucontext_t registers{};
#else
  void* stack_pointer = nullptr;  // callee-saved registers lie on the stack
#endif
  const void* stack_bottom = nullptr;  // ASan's
  std::size_t stack_bytes = 0;
  void* sanitizer_fiber = nullptr;  // TSan's
};

class Fiber {
 public:
  using Entry = void (*)(Fiber& self, void* argument);

  // `entry` begins with the first `enter` and never returns.
  Fiber(Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it suspends. `home` is the caller's, who waits meanwhile.
  void enter(Context& home);
  // From within: back to whom entered it last; returns with the next `enter`.
  void suspend();

 private:
  static void begin(void* self);
  void prepare_context();

  Entry entry_;
  void* argument_;
  char* mapping_ = nullptr;  // a guard page, then the stack
  std::size_t guard_bytes_ = 0;
  Context own_;
  Context* home_ = nullptr;
};

}  // namespace simt
