#include "framework/base/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>

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

}  // namespace
}  // namespace jari
