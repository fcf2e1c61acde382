// Sums between devices, with one rank: what can be shown on any machine that has the device. Several emulated ranks are
// in data_parallel_test.cpp.

#include <gtest/gtest.h>

#include "framework/backend/communicator.hpp"
#include "framework/base/error.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari {
namespace {

using test::device_under_test;

// A card whose module was built without NCCL has none.
std::shared_ptr<Communicator> one_rank(std::string& reason) {
  try {
    return device_under_test()->make_communicators({device_under_test()}).at(0);
  } catch (const DeviceError& error) {
    reason = error.what();
    return nullptr;
  }
}

template <class T>
void sum_over_one(Communicator& communicator, DType dtype, bool captured) {
  constexpr std::int64_t count = 1001;
  const std::shared_ptr<Device> device = device_under_test();
  const std::size_t bytes = count * sizeof(T);
  const Device::Memory host = device->allocate_host(bytes), from = device->allocate(bytes),
                       to = device->allocate(bytes);
  T* const numbers = reinterpret_cast<T*>(host.get());
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = T(1) / static_cast<T>(i + 1);
  const std::unique_ptr<DeviceQueue> queue = device->make_queue();
  queue->copy(from.get(), host.get(), bytes);
  // The first call sets the library up, and is not recorded.
  communicator.all_reduce_sum(to.get(), from.get(), count, dtype, *queue);
  queue->wait();
  std::unique_ptr<DeviceGraph> graph;
  if (captured) {
    queue->begin_capture();
    communicator.all_reduce_sum(from.get(), from.get(), count, dtype, *queue);  // over its operand
    graph = queue->end_capture();
    queue->run(*graph);
  }
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = 0;
  queue->copy(host.get(), captured ? from.get() : to.get(), bytes);
  queue->wait();
  for (std::int64_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], T(1) / static_cast<T>(i + 1)) << i;
}

TEST(DeviceCommunicator, OfOneRankSumsNothingElse) {
  std::string reason;
  const std::shared_ptr<Communicator> communicator = one_rank(reason);
  if (!communicator) GTEST_SKIP() << reason;
  EXPECT_EQ(communicator->rank(), 0);
  EXPECT_EQ(communicator->ranks(), 1);
  for (const bool captured : {false, true}) {
    sum_over_one<float>(*communicator, DType::f32, captured);
    sum_over_one<double>(*communicator, DType::f64, captured);
  }
}

TEST(DeviceCommunicator, ServesNoCallAfterItsRankHasGivenUp) {
  std::string reason;
  const std::shared_ptr<Communicator> communicator = one_rank(reason);
  if (!communicator) GTEST_SKIP() << reason;
  communicator->abort();
  const Device::Memory memory = device_under_test()->allocate(8);
  const std::unique_ptr<DeviceQueue> queue = device_under_test()->make_queue();
  EXPECT_THROW(communicator->all_reduce_sum(memory.get(), memory.get(), 2, DType::f32, *queue), DeviceError);
}

}  // namespace
}  // namespace jari
