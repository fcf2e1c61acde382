#pragma once
// A fixed set of threads. Work is cut by the problem, never by the number of threads, so results do not depend on it.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace jari {

class ThreadPool {
 public:
  // `threads` >= 1 counts the caller: `ThreadPool(1)` starts no thread.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  // Calls `task(i, worker)` once for each i in [0, count), each on some thread, and returns when all have ended.
  // `worker` is in [0, threads()) and is unique among the calls that run at one time: index scratch memory by it. The
  // first exception (lowest i) is rethrown after all have ended. Not reentrant.
  void for_each(std::int64_t count, const std::function<void(std::int64_t i, int worker)>& task);

  // Offers work that some thread does while it has nothing else to do, and that nothing waits for before
  // finish_aside(): so the parts of the caller's work that cannot be cut keep two cores busy. `task` must live until
  // then. One at a time.
  void offer_aside(const std::function<void()>& task);
  // Returns when the task that was offered has ended, which it does here if no thread has begun it; rethrows what it
  // threw. Nothing if none was offered.
  void finish_aside();

 private:
  void publish(std::int64_t count, const std::function<void(std::int64_t, int)>& task);
  void work(int worker);
  bool take_task(int worker);
  bool take_task_of(int owner, int worker);
  bool has_task() const;
  bool take_aside();
  bool has_task_of(int owner) const;
  void note_failure(std::int64_t i);

  // Each worker begins with its own stretch of the tasks, the same in jobs of the same size, so that what one job
  // leaves in a core's cache the next one finds there; then it takes what others have left. A stretch's state holds its
  // job and its next task in one word, so that taking a task and seeing that its job is still the same are one step.
  // While a job is changed the next task is kNone.
  static constexpr std::uint64_t kNone = 0xFFFFFFFF;
  struct alignas(64) Stretch {
    std::atomic<std::uint64_t> state{kNone};  // job << 32 | next task
    std::atomic<std::int64_t> end{0};
  };

  int threads_;
  std::vector<std::thread> workers_;
  std::unique_ptr<Stretch[]> stretches_;
  std::uint64_t job_ = 0;
  std::atomic<std::int64_t> count_{0}, ended_{0};
  std::atomic<const std::function<void(std::int64_t, int)>*> task_{nullptr};
  std::atomic<bool> stopping_{false};

  enum class Aside { none, offered, begun, ended };
  std::atomic<Aside> aside_{Aside::none};
  const std::function<void()>* aside_task_ = nullptr;
  std::exception_ptr aside_failure_;

  // For those who have spun long enough.
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::atomic<int> sleepers_{0};
  std::atomic<bool> caller_sleeps_{false};

  std::int64_t failed_at_ = -1;  // under mutex_
  std::exception_ptr failure_;
};

}  // namespace jari
