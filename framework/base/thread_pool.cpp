#include "framework/base/thread_pool.hpp"

#include <chrono>
#include <utility>

#include "framework/base/error.hpp"

namespace jari {
namespace {

// Kernels follow each other within microseconds, and waking a thread takes tens of them: so threads look for a while
// before they sleep.
constexpr std::chrono::microseconds kSpin{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Whether `is_true` became true while looking.
template <class Condition>
bool spin_until(const Condition& is_true) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < 32; ++i) {
      if (is_true()) return true;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  return is_true();
}

}  // namespace

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  JARI_ASSERT(threads >= 1, "a pool needs a thread");
  stretches_ = std::make_unique<Stretch[]>(static_cast<std::size_t>(threads));
  for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  if (threads_ == 1 || count <= 1) {  // no need to wake anybody
    for (std::int64_t i = 0; i < count; ++i) task(i, 0);
    return;
  }
  JARI_ASSERT(task_ == nullptr, "for_each is not reentrant");
  JARI_ASSERT(static_cast<std::uint64_t>(count) < kNone, "too many tasks");
  publish(count, task);
  while (take_task(0)) {
  }
  const auto all_ended = [&] { return ended_ == count; };
  if (!spin_until(all_ended)) {
    std::unique_lock lock(mutex_);
    caller_sleeps_ = true;
    done_.wait(lock, all_ended);
    caller_sleeps_ = false;
  }
  task_ = nullptr;
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::publish(std::int64_t count, const std::function<void(std::int64_t, int)>& task) {
  ++job_;
  // From here on nobody takes a task of the last job, whatever it has read of it.
  for (int owner = 0; owner < threads_; ++owner) stretches_[static_cast<std::size_t>(owner)].state = job_ << 32 | kNone;
  count_ = count;
  task_ = &task;
  ended_ = 0;
  failed_at_ = -1;
  for (int owner = 0; owner < threads_; ++owner) {
    Stretch& stretch = stretches_[static_cast<std::size_t>(owner)];
    stretch.end = count * (owner + 1) / threads_;
    stretch.state = job_ << 32 | static_cast<std::uint64_t>(count * owner / threads_);
  }
  if (sleepers_ > 0) {
    const std::lock_guard lock(mutex_);
    start_.notify_all();
  }
}

bool ThreadPool::has_task_of(int owner) const {
  const Stretch& stretch = stretches_[static_cast<std::size_t>(owner)];
  const std::uint64_t next = stretch.state & kNone;
  return next != kNone && static_cast<std::int64_t>(next) < stretch.end;
}

bool ThreadPool::has_task() const {
  for (int owner = 0; owner < threads_; ++owner) {
    if (has_task_of(owner)) return true;
  }
  return false;
}

bool ThreadPool::take_task(int worker) {
  for (int i = 0; i < threads_; ++i) {
    if (take_task_of((worker + i) % threads_, worker)) return true;
  }
  return false;
}

bool ThreadPool::take_task_of(int owner, int worker) {
  Stretch& stretch = stretches_[static_cast<std::size_t>(owner)];
  std::uint64_t state = stretch.state;
  std::int64_t i = 0;
  do {
    i = static_cast<std::int64_t>(state & kNone);
    if (static_cast<std::uint64_t>(i) == kNone || i >= stretch.end) return false;
  } while (!stretch.state.compare_exchange_weak(state, state + 1));
  // The job is not over before this task is.
  const std::int64_t count = count_;
  try {
    (*task_.load())(i, worker);
  } catch (...) {
    note_failure(i);
  }
  if (++ended_ == count && caller_sleeps_) {
    const std::lock_guard lock(mutex_);
    done_.notify_all();
  }
  return true;
}

void ThreadPool::note_failure(std::int64_t i) {
  const std::lock_guard lock(mutex_);
  if (failed_at_ >= 0 && failed_at_ < i) return;
  failed_at_ = i;
  failure_ = std::current_exception();
}

// A worker that sleeps is not woken for it: the next job does that, if there is one.
void ThreadPool::offer_aside(const std::function<void()>& task) {
  JARI_ASSERT(aside_ == Aside::none, "one task aside at a time");
  aside_task_ = &task;
  aside_ = Aside::offered;
}

bool ThreadPool::take_aside() {
  Aside expected = Aside::offered;
  if (aside_ != expected || !aside_.compare_exchange_strong(expected, Aside::begun)) return false;
  try {
    (*aside_task_)();
  } catch (...) {
    aside_failure_ = std::current_exception();
  }
  aside_ = Aside::ended;
  return true;
}

void ThreadPool::finish_aside() {
  if (aside_ == Aside::none) return;
  take_aside();
  while (!spin_until([this] { return aside_ == Aside::ended; })) std::this_thread::yield();
  aside_ = Aside::none;
  if (aside_failure_) std::rethrow_exception(std::exchange(aside_failure_, nullptr));
}

void ThreadPool::work(int worker) {
  const auto is_wanted = [this] { return stopping_ || has_task() || aside_ == Aside::offered; };
  while (!stopping_) {
    if (take_task(worker) || take_aside() || spin_until(is_wanted)) continue;
    std::unique_lock lock(mutex_);
    ++sleepers_;
    start_.wait(lock, is_wanted);
    --sleepers_;
  }
}

}  // namespace jari
