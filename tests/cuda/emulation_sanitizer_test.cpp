// What the sanitizers find in kernels with the emulation's help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <jari_simt.hpp>
#include <vector>

#include "tests/cuda/emulation/sanitizer.hpp"

namespace {

constexpr unsigned kAll = 0xffffffffu;

__global__ void write_behind_dynamic(int count) {
  JARI_DYNAMIC_SHARED(float, array);
  __syncthreads();
  if (threadIdx.x == 1) array[count] = 1;
}

__global__ void write_behind_static(int count) {
  JARI_SHARED(float, array, 3);
  float* const pointer = array;  // UBSan does not know its bound
  pointer[count] = 1;
}

TEST(EmulationDeathTest, AddressSanitizerSeesWhoLeavesSharedMemory) {
  if (!simt::kAddressSanitizer) GTEST_SKIP() << "not compiled with AddressSanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  simt::launch(write_behind_dynamic, dim3(1), dim3(40), 12, nullptr, 2);
  EXPECT_DEATH(simt::launch(write_behind_dynamic, dim3(1), dim3(40), 12, nullptr, 3),
               "heap-buffer-overflow(.|\n)*write_behind_dynamic");
  EXPECT_DEATH(simt::launch(write_behind_static, dim3(1), dim3(1), 0, nullptr, 3),
               "heap-buffer-overflow(.|\n)*write_behind_static");
}

template <bool kSecondBarrier>
__global__ void use_buffer_twice(float* out) {
  JARI_SHARED(float, buffer, 64);
  buffer[threadIdx.x] = 1;
  __syncthreads();
  const float other = buffer[63 - threadIdx.x];
  if (kSecondBarrier) __syncthreads();
  buffer[threadIdx.x] = other + 1;
  out[blockIdx.x * 64 + threadIdx.x] = other;
}

template <bool kOrdered>
__global__ void pass_within_warp(float* out) {
  JARI_SHARED(float, buffer, 32);
  buffer[threadIdx.x] = 1;
  if (kOrdered) {
    __syncwarp();
  } else {
    __ballot_sync(kAll, 1);
  }
  out[threadIdx.x] = buffer[31 - threadIdx.x];
}

__global__ void write_to_one_place_all(float* out) { *out = 1; }

__global__ void write_to_one_place(float* out) {
  if (threadIdx.x == 0) *out = 1;
}

void expect_race(void (*kernel)(float*), unsigned blocks, unsigned threads) {
  const auto run_and_exit = [&] {
    std::vector<float> out(blocks * threads);
    simt::launch(kernel, dim3(blocks), dim3(threads), 0, nullptr, out.data());
    std::exit(0);
  };
  // TSan reports, and changes the exit status when the process ends.
  EXPECT_EXIT(
      run_and_exit(), [](int status) { return status != 0; }, "WARNING: ThreadSanitizer: data race");
}

TEST(EmulationDeathTest, ThreadSanitizerSeesAMissingBarrier) {
  if (!simt::kThreadSanitizer) GTEST_SKIP() << "not compiled with ThreadSanitizer";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  expect_race(write_to_one_place_all, 1, 32);
  expect_race(use_buffer_twice<false>, 1, 64);
  expect_race(pass_within_warp<false>, 1, 32);  // a vote does not order memory
  expect_race(write_to_one_place, 2, 32);       // nor do blocks
}

// A warp runs ahead until a barrier stops it, so this bug shows without a sanitizer too.
TEST(Emulation, AMissingBarrierChangesTheResult) {
  if (simt::kThreadSanitizer) GTEST_SKIP() << "ThreadSanitizer would report it";
  std::vector<float> out(64);
  simt::launch(use_buffer_twice<false>, dim3(1), dim3(64), 0, nullptr, out.data());
  EXPECT_THAT(out, testing::Contains(2.0f));
}

// TSan would make this test fail if it saw a race where there is none.
TEST(Emulation, BarriersOrderMemory) {
  std::vector<float> out(256);
  for (int repeat = 0; repeat < 3; ++repeat) {
    simt::launch(use_buffer_twice<true>, dim3(4), dim3(64), 0, nullptr, out.data());
    simt::launch(pass_within_warp<true>, dim3(1), dim3(32), 0, nullptr, out.data());
    simt::launch(write_to_one_place, dim3(1), dim3(32), 0, nullptr, out.data());
  }
  EXPECT_THAT(out, testing::Each(1.0f));
}

}  // namespace
