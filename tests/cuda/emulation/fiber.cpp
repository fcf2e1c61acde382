#include "tests/cuda/emulation/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#if !defined(JARI_EMULATION_UCONTEXT)
// System V x86-64. `jari_emulation_switch` saves the registers that a callee must keep, and the stack pointer in *save,
// and goes on at `to`, whose stack it left the same way. It leaves by a jump: the return predictor would expect the
// other stack's caller. `jari_emulation_begin` is where a new stack begins: prepare_context puts the function into r13,
// its argument into r12.
extern "C" void jari_emulation_switch(void** save, void* to);
extern "C" void jari_emulation_begin();
asm(R"(
.pushsection .text
.globl jari_emulation_switch
.hidden jari_emulation_switch
.type jari_emulation_switch, @function
jari_emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size jari_emulation_switch, .-jari_emulation_switch
.globl jari_emulation_begin
.hidden jari_emulation_begin
.type jari_emulation_begin, @function
jari_emulation_begin:
  movq %r12, %rdi
  jmp *%r13
.size jari_emulation_begin, .-jari_emulation_begin
.popsection
)");
#endif

namespace simt {
namespace {

constexpr std::size_t kStackBytes = kAddressSanitizer || kThreadSanitizer ? 256 * 1024 : 64 * 1024;

#if defined(JARI_EMULATION_UCONTEXT)
// makecontext passes integers only.
void begin_in_halves(unsigned function_high, unsigned function_low, unsigned argument_high, unsigned argument_low) {
  const auto whole = [](unsigned high, unsigned low) {
    return static_cast<std::uintptr_t>(static_cast<std::uint64_t>(high) << 32 | low);
  };
  const auto function = reinterpret_cast<void (*)(void*)>(whole(function_high, function_low));
  function(reinterpret_cast<void*>(whole(argument_high, argument_low)));
}
#endif

}  // namespace

// Between telling TSan of the switch and the switch itself nothing may be instrumented: it would be the wrong fiber's.
__attribute__((no_sanitize("thread"), noinline)) void switch_context(Context& from, Context& to) {
#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
  to.previous = &from;
  void* fake_stack = nullptr;
  __sanitizer_start_switch_fiber(&fake_stack, to.stack_bottom, to.stack_bytes);
#elif defined(JARI_EMULATION_THREAD_SANITIZER)
  from.sanitizer_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer_fiber, __tsan_switch_to_fiber_no_sync);
#endif
#if defined(JARI_EMULATION_UCONTEXT)
  swapcontext(&from.registers, &to.registers);
#else
  jari_emulation_switch(&from.stack_pointer, to.stack_pointer);
#endif
#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
  // That is also how the bounds of the OS thread's stack become known.
  __sanitizer_finish_switch_fiber(fake_stack, &from.previous->stack_bottom, &from.previous->stack_bytes);
#endif
}

Fiber::Fiber(Entry entry, void* argument) : entry_(entry), argument_(argument) {
  guard_bytes_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const mapping = mmap(nullptr, guard_bytes_ + kStackBytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<char*>(mapping);
  mprotect(mapping_, guard_bytes_, PROT_NONE);  // a stack that overflows faults here
  context_.stack_bottom = mapping_ + guard_bytes_;
  context_.stack_bytes = kStackBytes;
#if defined(JARI_EMULATION_THREAD_SANITIZER)
  context_.sanitizer_fiber = __tsan_create_fiber(0);
#endif
  prepare_context();
}

Fiber::~Fiber() {
#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
  // The frames that it leaves behind would be found poisoned by whoever gets this memory next.
  __asan_unpoison_memory_region(mapping_ + guard_bytes_, kStackBytes);
#elif defined(JARI_EMULATION_THREAD_SANITIZER)
  __tsan_destroy_fiber(context_.sanitizer_fiber);
#endif
  munmap(mapping_, guard_bytes_ + kStackBytes);
}

void Fiber::prepare_context() {
#if defined(JARI_EMULATION_UCONTEXT)
  getcontext(&context_.registers);
  context_.registers.uc_stack.ss_sp = mapping_ + guard_bytes_;
  context_.registers.uc_stack.ss_size = kStackBytes;
  context_.registers.uc_link = nullptr;
  const auto function = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&Fiber::begin));
  const auto argument = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(this));
  makecontext(&context_.registers, reinterpret_cast<void (*)()>(begin_in_halves), 4,
              static_cast<unsigned>(function >> 32), static_cast<unsigned>(function),
              static_cast<unsigned>(argument >> 32), static_cast<unsigned>(argument));
#else
  // As `jari_emulation_switch` leaves a stack: r15 r14 r13 r12 rbx rbp, where to go on; then a return address of 0,
  // which ends backtraces. A function begins with the stack pointer 8 past a multiple of 16.
  void* const frame[] = {nullptr, nullptr, reinterpret_cast<void*>(&Fiber::begin),         this,
                         nullptr, nullptr, reinterpret_cast<void*>(&jari_emulation_begin), nullptr};
  char* const stack_pointer = mapping_ + guard_bytes_ + kStackBytes - sizeof(frame);
  std::memcpy(stack_pointer, frame, sizeof(frame));
  context_.stack_pointer = stack_pointer;
#endif
}

void Fiber::begin(void* self) {
  Fiber& fiber = *static_cast<Fiber*>(self);
#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
  Context& previous = *fiber.context_.previous;
  __sanitizer_finish_switch_fiber(nullptr, &previous.stack_bottom, &previous.stack_bytes);
#endif
  fiber.entry_(fiber, fiber.argument_);
  std::abort();  // an entry does not return
}

}  // namespace simt
