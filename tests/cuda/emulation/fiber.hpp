#pragma once
// Flows of control with stacks of their own, which hand over to each other.

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
  const void* stack_bottom = nullptr;  // for ASan
  std::size_t stack_bytes = 0;
  Context* previous = nullptr;      // who switched here last
  void* sanitizer_fiber = nullptr;  // for TSan
};

// Leaves the caller's flow of control in `from` and goes on at `to`; returns when somebody switches to `from`.
void switch_context(Context& from, Context& to);

class Fiber {
 public:
  using Entry = void (*)(Fiber& self, void* argument);

  // `entry` begins with the first switch to `context()` and never returns.
  Fiber(Entry entry, void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  Context& context() { return context_; }

 private:
  static void begin(void* self);
  void prepare_context();

  Entry entry_;
  void* argument_;
  char* mapping_ = nullptr;  // a guard page, then the stack
  std::size_t guard_bytes_ = 0;
  Context context_;
};

}  // namespace simt
