#pragma once
// What the sanitizers must be told about flows of control that switch stacks. Without a sanitizer all of this is empty.

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define JARI_EMULATION_ADDRESS_SANITIZER 1
#elif defined(__SANITIZE_THREAD__)
#define JARI_EMULATION_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define JARI_EMULATION_ADDRESS_SANITIZER 1
#elif __has_feature(thread_sanitizer)
#define JARI_EMULATION_THREAD_SANITIZER 1
#endif
#endif

#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(JARI_EMULATION_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace simt {

#if defined(JARI_EMULATION_ADDRESS_SANITIZER)
inline constexpr bool kAddressSanitizer = true, kThreadSanitizer = false;
#elif defined(JARI_EMULATION_THREAD_SANITIZER)
inline constexpr bool kAddressSanitizer = false, kThreadSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false, kThreadSanitizer = false;
#endif

#if defined(JARI_EMULATION_THREAD_SANITIZER)
// TSan takes each thread of a kernel for a thread of its own, and knows of no order between them but what `release` and
// `acquire` of the same point say. While one of these lives, the emulation's own bookkeeping is not watched.
class Unwatched {
 public:
  Unwatched() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unwatched() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};
inline void release(void* point) { __tsan_release(point); }
inline void acquire(void* point) { __tsan_acquire(point); }
#else
class Unwatched {
 public:
  Unwatched() {}
  ~Unwatched() {}
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};
inline void release(void*) {}
inline void acquire(void*) {}
#endif

}  // namespace simt
