#include "framework/base/thread_pool.hpp"

#include <utility>

#include "framework/base/error.hpp"

namespace jari {

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  JARI_ASSERT(threads >= 1, "a pool needs a thread");
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
  {
    std::lock_guard lock(mutex_);
    JARI_ASSERT(task_ == nullptr, "for_each is not reentrant");
    task_ = &task;
    count_ = count;
    next_ = 0;
    running_ = threads_;
    failed_at_ = -1;
    failure_ = nullptr;
    ++generation_;
  }
  start_.notify_all();
  take_tasks(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  task_ = nullptr;
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::take_tasks(int worker) {
  std::unique_lock lock(mutex_);
  while (next_ < count_) {
    const std::int64_t i = next_++;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*task_)(i, worker);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && (failed_at_ < 0 || i < failed_at_)) {
      failed_at_ = i;
      failure_ = failure;
    }
  }
  if (--running_ == 0) done_.notify_all();
}

void ThreadPool::work(int worker) {
  std::uint64_t seen = 0;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
    }
    take_tasks(worker);
  }
}

}  // namespace jari
