#pragma once
// A fixed set of threads. Work is cut by the problem, never by the number of threads, so results do not depend on it.

#include <condition_variable>
#include <cstdint>
#include <functional>
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

 private:
  void work(int worker);
  void take_tasks(int worker);

  int threads_;
  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(std::int64_t, int)>* task_ = nullptr;
  std::int64_t count_ = 0, next_ = 0, running_ = 0;
  std::uint64_t generation_ = 0;
  bool stopping_ = false;
  std::int64_t failed_at_ = -1;
  std::exception_ptr failure_;
};

}  // namespace jari
