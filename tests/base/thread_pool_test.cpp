#include "framework/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace jari {
namespace {

TEST(ThreadPool, DoesEachTaskOnce) {
  for (int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (std::int64_t count : {0, 1, 7, 1000}) {
      std::vector<int> done(static_cast<std::size_t>(count), 0);
      pool.for_each(count, [&](std::int64_t i, int) { ++done[static_cast<std::size_t>(i)]; });
      EXPECT_EQ(done, std::vector<int>(static_cast<std::size_t>(count), 1)) << threads << " threads";
    }
  }
}

TEST(ThreadPool, GivesNoWorkerTwoTasksAtATime) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> busy(4);
  std::atomic<int> clashes = 0;
  pool.for_each(500, [&](std::int64_t, int worker) {
    auto& mine = busy.at(static_cast<std::size_t>(worker));
    if (mine.fetch_add(1) != 0) ++clashes;
    std::this_thread::yield();
    --mine;
  });
  EXPECT_EQ(clashes, 0);
}

// Jobs that follow each other at once, with a pause now and then in which the workers fall asleep.
TEST(ThreadPool, DoesManyShortJobs) {
  for (const int threads : {2, 3}) {
    ThreadPool pool(threads);
    std::int64_t expected = 0;
    std::atomic<std::int64_t> sum = 0;
    for (std::int64_t job = 0; job < 20000; ++job) {
      const std::int64_t count = 2 + job % 5;
      pool.for_each(count, [&](std::int64_t i, int) { sum += job + i; });
      expected += count * job + count * (count - 1) / 2;
      ASSERT_EQ(sum, expected) << "job " << job;
      if (job % 4000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
}

TEST(ThreadPool, RethrowsTheFirstErrorAfterAllTasksAndGoesOn) {
  for (int threads : {2, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> done = 0;
    try {
      pool.for_each(100, [&](std::int64_t i, int) {
        ++done;
        if (i == 97 || i == 31) throw std::runtime_error("task " + std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "task 31");
    }
    EXPECT_EQ(done, 100);
    pool.for_each(100, [&](std::int64_t, int) { ++done; });
    EXPECT_EQ(done, 200);
  }
}

// Whether a worker finds the time or the caller does it in the end.
TEST(ThreadPool, DoesWorkAsideOfItsJobs) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    pool.finish_aside();  // none
    std::int64_t asides = 0;
    std::atomic<std::int64_t> sum = 0;
    const std::function<void()> aside = [&asides] { ++asides; };
    for (std::int64_t job = 0; job < 5000; ++job) {
      pool.offer_aside(aside);
      pool.for_each(job % 4, [&](std::int64_t i, int) { sum += i; });
      pool.finish_aside();
      ASSERT_EQ(asides, job + 1) << threads << " threads";
      if (job % 1000 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_EQ(sum, 5000 / 4 * (0 + 0 + 1 + 3));
  }
}

TEST(ThreadPool, RethrowsWhatWorkAsideThrowsAndGoesOn) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    const std::function<void()> fails = [] { throw std::runtime_error("aside"); };
    pool.offer_aside(fails);
    EXPECT_THROW(pool.finish_aside(), std::runtime_error);
    int done = 0;
    const std::function<void()> works = [&done] { ++done; };
    pool.offer_aside(works);
    pool.finish_aside();
    EXPECT_EQ(done, 1);
  }
}

}  // namespace
}  // namespace jari
