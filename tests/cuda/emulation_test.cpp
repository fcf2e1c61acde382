// The emulation of the CUDA execution model itself: right kernels are right in every order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda/emulation_kernels.hpp"

namespace {

using simt::ThreadOrder;
using testing::Each;
using testing::ElementsAre;

constexpr unsigned kAll = 0xffffffffu;

class EmulationOrders : public testing::TestWithParam<ThreadOrder> {
 protected:
  EmulationOrders() { simt::set_thread_order(GetParam(), 7); }
  ~EmulationOrders() override { simt::set_thread_order(ThreadOrder::forward); }
};

std::string name_of(const testing::TestParamInfo<ThreadOrder>& order) {
  const std::vector<std::string> names{"Forward", "Reverse", "Random"};
  return names[static_cast<std::size_t>(order.param)];
}

INSTANTIATE_TEST_SUITE_P(, EmulationOrders,
                         testing::Values(ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::random), name_of);

TEST_P(EmulationOrders, BlockSumsByShufflesAreRight) {
  std::vector<float> x(1000);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> sums(4, -1.0f);
  launch_block_sums(x.data(), sums.data(), 1000, nullptr);
  EXPECT_THAT(sums, ElementsAre(32896, 98432, 163968, 205204));
}

TEST_P(EmulationOrders, ATransposeThroughDynamicSharedMemoryIsRight) {
  constexpr int rows = 45, columns = 70;
  std::vector<float> in(rows * columns), out(in.size(), -1.0f);
  std::iota(in.begin(), in.end(), 0.0f);
  launch_transpose(in.data(), out.data(), rows, columns, nullptr);
  for (int i = 0; i < rows * columns; ++i) {
    ASSERT_EQ(out[static_cast<std::size_t>(i % columns * rows + i / columns)], in[static_cast<std::size_t>(i)]) << i;
  }
}

TEST_P(EmulationOrders, AHistogramByAtomicsIsRight) {
  std::vector<unsigned> values(kHistogramBins * 10), counts(kHistogramBins, 5);
  std::iota(values.begin(), values.end(), 0u);
  launch_histogram(values.data(), counts.data(), static_cast<int>(values.size()), nullptr);
  EXPECT_THAT(counts, Each(15u));
}

TEST_P(EmulationOrders, AKernelTemplateThatNeverWaitsIsRight) {
  const std::vector<double> x{0, 1, 2, 3, 4, 5, 6};
  std::vector<double> out(x.size());
  launch_affine(x.data(), out.data(), 7, 3, nullptr);
  EXPECT_THAT(out, ElementsAre(1, 3, 5, 7, 9, 11, 13));
}

TEST_P(EmulationOrders, LaunchesOfSeveralOsThreadsDoNotDisturbEachOther) {
  const std::vector<unsigned> values(300, 7);
  std::vector<std::vector<unsigned>> counts(3, std::vector<unsigned>(kHistogramBins));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    threads.emplace_back([&counts, &values, t] {
      for (int repeat = 0; repeat < 5; ++repeat) {
        launch_histogram(values.data(), counts[t].data(), 100 * (static_cast<int>(t) + 1), nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t t = 0; t < counts.size(); ++t) EXPECT_EQ(counts[t][7], 500 * (t + 1));
}

// order[turn] = which thread of the grid had that turn.
__global__ void note_turns(int* order, int* turns) {
  order[atomicAdd(turns, 1)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

std::vector<int> turns_of_threads(ThreadOrder thread_order, std::uint64_t seed) {
  simt::set_thread_order(thread_order, seed);
  std::vector<int> order(6);
  int turns = 0;
  simt::launch(note_turns, dim3(2), dim3(3), 0, nullptr, order.data(), &turns);
  simt::set_thread_order(ThreadOrder::forward);
  return order;
}

TEST(Emulation, BlocksAndThreadsTakeTurnsInTheOrderAskedFor) {
  EXPECT_THAT(turns_of_threads(ThreadOrder::forward, 0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(turns_of_threads(ThreadOrder::reverse, 0), ElementsAre(5, 4, 3, 2, 1, 0));
  EXPECT_THAT(turns_of_threads(ThreadOrder::random, 1), testing::UnorderedElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(turns_of_threads(ThreadOrder::random, 1), turns_of_threads(ThreadOrder::random, 1));
  EXPECT_NE(turns_of_threads(ThreadOrder::random, 1), turns_of_threads(ThreadOrder::random, 2));
}

__global__ void note_indices(unsigned* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * 30 + thread] =
      threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;
}

TEST_P(EmulationOrders, IndicesCountXFirst) {
  std::vector<unsigned> out(24 * 30);
  simt::launch(note_indices, dim3(2, 3, 4), dim3(5, 3, 2), 0, nullptr, out.data());
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[29], 124u);
  EXPECT_EQ(out[23 * 30 + 7], 321012u);
}

// What CUDA says of the intrinsics, lane by lane: CUDA C++ Programming Guide, "Warp Shuffle Functions", "Warp Vote
// Functions".
__global__ void shuffle_all_ways(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_sync(kAll, lane, 5);
  out[32 + lane] = __shfl_sync(kAll, lane, 9, 8);
  out[64 + lane] = __shfl_xor_sync(kAll, lane, 1);
  out[96 + lane] = __shfl_xor_sync(kAll, lane, 8, 8);
  out[128 + lane] = __shfl_down_sync(kAll, lane, 3);
  out[160 + lane] = __shfl_down_sync(kAll, lane, 3, 8);
  out[192 + lane] = __shfl_up_sync(kAll, lane, 2, 16);
}

TEST_P(EmulationOrders, ShufflesReadTheLanesThatCudaSays) {
  std::vector<int> out(224);
  simt::launch(shuffle_all_ways, dim3(1), dim3(32), 0, nullptr, out.data());
  for (int lane = 0; lane < 32; ++lane) {
    const auto got = [&](int way) { return out[static_cast<std::size_t>(32 * way + lane)]; };
    EXPECT_EQ(got(0), 5);
    EXPECT_EQ(got(1), lane / 8 * 8 + 1) << "the source wraps around within its segment";
    EXPECT_EQ(got(2), lane ^ 1);
    EXPECT_EQ(got(3), lane & 8 ? lane ^ 8 : lane) << "earlier segments may be read, later ones may not";
    EXPECT_EQ(got(4), lane + 3 < 32 ? lane + 3 : lane);
    EXPECT_EQ(got(5), lane % 8 + 3 < 8 ? lane + 3 : lane);
    EXPECT_EQ(got(6), lane % 16 >= 2 ? lane - 2 : lane);
  }
}

__global__ void shuffle_eight_bytes(double* x, long long* y) {
  const int lane = static_cast<int>(threadIdx.x);
  x[lane] = __shfl_sync(kAll, x[lane], 31 - lane);
  y[lane] = __shfl_sync(kAll, y[lane], 31 - lane);
}

TEST_P(EmulationOrders, ShufflesMoveAllEightBytes) {
  std::vector<double> x(32);
  std::vector<long long> y(32);
  for (int lane = 0; lane < 32; ++lane) {
    x[static_cast<std::size_t>(lane)] = 0.1 * lane;
    y[static_cast<std::size_t>(lane)] = -(1LL << 40) * lane - 1;
  }
  simt::launch(shuffle_eight_bytes, dim3(1), dim3(32), 0, nullptr, x.data(), y.data());
  EXPECT_EQ(x[1], 0.1 * 30);
  EXPECT_EQ(y[1], -(1LL << 40) * 30 - 1);
}

__global__ void vote(unsigned* out) {
  const unsigned lane = threadIdx.x;
  if (lane >= 20) return;
  const unsigned mask = 0xfffffu;
  out[lane] = __ballot_sync(mask, lane % 3 == 0);
  out[20 + lane] = static_cast<unsigned>(__any_sync(mask, lane == 19) + 2 * __any_sync(mask, 0));
  out[40 + lane] = static_cast<unsigned>(__all_sync(mask, 1) + 2 * __all_sync(mask, lane != 7));
}

TEST_P(EmulationOrders, VotesCountTheLanesOfTheMaskOnly) {
  std::vector<unsigned> out(60);
  simt::launch(vote, dim3(1), dim3(32), 0, nullptr, out.data());
  for (std::size_t lane = 0; lane < 20; ++lane) {
    EXPECT_EQ(out[lane], 0x49249u);
    EXPECT_EQ(out[20 + lane], 1u);
    EXPECT_EQ(out[40 + lane], 1u);
  }
}

// Halves of a warp that go separate ways, and meet again.
__global__ void halves(int* out) {
  const int lane = static_cast<int>(threadIdx.x);
  int value = lane;
  if (lane < 16) {
    for (int distance = 8; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffu, value, distance);
  } else {
    value = -__shfl_sync(0xffff0000u, value, 31);
  }
  __syncwarp();
  out[lane] = __shfl_xor_sync(kAll, value, 16);
}

TEST_P(EmulationOrders, PartsOfAWarpCanGoSeparateWays) {
  std::vector<int> out(32);
  simt::launch(halves, dim3(1), dim3(32), 0, nullptr, out.data());
  EXPECT_EQ(out, [] {
    std::vector<int> expected(32, 120);
    std::fill_n(expected.begin(), 16, -31);
    return expected;
  }());
}

__global__ void exit_early(int* out) {
  JARI_SHARED(int, slot, 64);
  if (threadIdx.x >= 40) return;
  slot[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = slot[39 - threadIdx.x];
}

TEST_P(EmulationOrders, ABarrierDoesNotWaitForThreadsThatHaveExited) {
  std::vector<int> out(64, -1);
  simt::launch(exit_early, dim3(1), dim3(64), 0, nullptr, out.data());
  EXPECT_EQ(out[0], 39);
  EXPECT_EQ(out[39], 0);
  EXPECT_EQ(out[40], -1);
}

__global__ void atomics(int* i, unsigned* u, unsigned long long* l, float* f, double* d) {
  const int thread = static_cast<int>(threadIdx.x);
  atomicAdd(i, -1);
  atomicAdd(l, 1ull << 33);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
  atomicMax(i + 1, thread);
  atomicMin(i + 2, -thread);
  atomicMax(u, threadIdx.x);
  atomicMin(u + 1, threadIdx.x + 3);
  if (atomicCAS(u + 2, 0u, threadIdx.x + 1) == 0) atomicCAS(i + 3, 9, thread);
}

TEST_P(EmulationOrders, AtomicsOfEachKind) {
  std::vector<int> i{0, -5, 5, 9};
  std::vector<unsigned> u{0, 100, 0};
  unsigned long long l = 1;
  float f = 0;
  double d = 0;
  simt::launch(atomics, dim3(2), dim3(50), 0, nullptr, i.data(), u.data(), &l, &f, &d);
  EXPECT_THAT(i, ElementsAre(-100, 49, -49, static_cast<int>(u[2]) - 1));
  EXPECT_THAT(u, ElementsAre(49, 3, testing::AllOf(testing::Ge(1u), testing::Le(50u))));
  EXPECT_EQ(l, 100 * (1ull << 33) + 1);
  EXPECT_EQ(f, 50.0f);
  EXPECT_EQ(d, 25.0);
}

TEST(Emulation, BitsOfNumbers) {
  EXPECT_EQ(__float_as_int(-0.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__int_as_float(0x40000000), 2.0f);
  EXPECT_EQ(__uint_as_float(0x3f000000u), 0.5f);
  EXPECT_EQ(__double_as_longlong(1.0), 0x3ff0000000000000LL);
  EXPECT_EQ(__longlong_as_double(0x4000000000000000LL), 2.0);
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(rsqrtf(16.0f), 0.25f);
}

__global__ void read_unwritten(float* out) {
  JARI_SHARED(float, fixed, 2);
  JARI_DYNAMIC_SHARED(double, dynamic);
  out += 3 * blockIdx.x;
  out[0] = fixed[1];
  out[1] = static_cast<float>(dynamic[1]);
  out[2] = static_cast<float>(reinterpret_cast<std::uintptr_t>(dynamic) % 16);
  fixed[1] = 1;
  dynamic[1] = 1;
}

TEST(Emulation, SharedMemoryOfEachBlockBeginsAsNaN) {
  std::vector<float> out(6);
  simt::launch(read_unwritten, dim3(2), dim3(1), 2 * sizeof(double), nullptr, out.data());
  EXPECT_THAT(out, ElementsAre(testing::IsNan(), testing::IsNan(), 0, testing::IsNan(), testing::IsNan(), 0))
      << "the third: not aligned to 16 bytes";
}

TEST(Emulation, ACapturedLaunchRunsWhenReplayedAndAsOftenAsReplayed) {
  const std::vector<float> x(256, 2.0f);
  std::vector<float> sums(1, -1.0f), copy(1, -1.0f);
  simt::EmulatedStream stream;
  stream.capturing = true;
  launch_block_sums(x.data(), sums.data(), 256, &stream);
  stream.enqueue([&] { copy = sums; });
  stream.capturing = false;
  EXPECT_EQ(stream.recorded.size(), 2u);
  EXPECT_EQ(sums[0], -1.0f);

  stream.replay();
  EXPECT_EQ(copy[0], 512.0f);
  sums[0] = copy[0] = 0;
  stream.replay();
  EXPECT_EQ(copy[0], 512.0f);

  launch_block_sums(x.data(), sums.data(), 100, &stream);
  EXPECT_EQ(sums[0], 200.0f) << "a stream that does not capture runs at once";
  EXPECT_EQ(stream.recorded.size(), 2u);
}

// The first thread fails; the others wait on stacks that the next launch needs.
struct Counted {
  explicit Counted(int* alive) : alive_(alive) { atomicAdd(alive_, 1); }
  ~Counted() { atomicAdd(alive_, -1); }
  int* alive_;
};
__global__ void fail_late(int* alive) {
  const Counted counted(alive);
  __syncthreads();
  __syncwarp(threadIdx.x == 40 ? 1u : kAll);
}

TEST_P(EmulationOrders, AfterAFailureTheThreadsAreUnwoundAndTheNextLaunchIsRight) {
  for (int repeat = 0; repeat < 3; ++repeat) {
    int alive = 0;
    EXPECT_THROW(simt::launch(fail_late, dim3(2), dim3(96), 0, nullptr, &alive), simt::EmulationError);
    EXPECT_EQ(alive, 0);
    const std::vector<float> x(256, 1.0f);
    float sum = 0;
    launch_block_sums(x.data(), &sum, 256, nullptr);
    EXPECT_EQ(sum, 256.0f);
  }
}

}  // namespace
