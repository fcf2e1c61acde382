// Copies to bf16 and back, on the emulated device.

#include "framework/backend/cuda/half_copies.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/cuda/emulation/emulated_device.hpp"

namespace jari::cuda {
namespace {

// The numbers after a copy to bf16 and one back, in two lists at a time.
std::vector<float> rounded(const std::vector<float>& numbers) {
  const auto device = test::make_emulated_device();
  const auto queue = device->make_queue();
  const std::size_t bytes = numbers.size() * sizeof(float);
  const Device::Memory from = device->allocate(bytes), half = device->allocate(bytes / 2);
  const Device::Memory other = device->allocate(2), to = device->allocate(bytes);
  const auto count = static_cast<std::int64_t>(numbers.size());
  std::memcpy(from.get(), numbers.data(), bytes);
  round_to_bf16({{from.get(), half.get(), count}, {from.get(), other.get(), 1}}, *queue);
  EXPECT_EQ(std::memcmp(half.get(), other.get(), 2), 0);
  widen_from_bf16({{half.get(), to.get(), count}}, *queue);
  std::vector<float> result(numbers.size());
  std::memcpy(result.data(), to.get(), bytes);
  return result;
}

TEST(HalfCopies, RoundToTheNearestAndTiesToEven) {
  const float step = std::ldexp(1.0f, -7);  // between neighbours from 1 on
  const std::vector<float> numbers = {
      1, 1 + step / 2, 1 + 1.5f * step, 1 + 0.51f * step, 1 + 0.49f * step, -1 - 1.5f * step, 0, -0.0f, 3e38f, 1e-40f};
  const std::vector<float> expected = {
      1, 1, 1 + 2 * step, 1 + step, 1, -1 - 2 * step, 0, -0.0f, std::ldexp(226.0f, 120), std::ldexp(1.0f, -133)};
  const std::vector<float> found = rounded(numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    EXPECT_EQ(found[i], expected[i]) << i;
    EXPECT_EQ(std::signbit(found[i]), std::signbit(expected[i])) << i;
  }
}

TEST(HalfCopies, KeepWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  float odd = std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t low_payload = 0x7f800001;
  std::memcpy(&odd, &low_payload, sizeof(odd));
  const std::vector<float> found = rounded({infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), odd});
  EXPECT_EQ(found[0], infinity);
  EXPECT_EQ(found[1], -infinity);
  EXPECT_TRUE(std::isnan(found[2]) && std::isnan(found[3]));
}

TEST(HalfCopies, CopyEveryCount) {
  for (const std::size_t count : {1, 7, 8, 9, 255 * 8 + 3, 300 * 8}) {
    std::vector<float> numbers(count);
    for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 251);
    EXPECT_EQ(rounded(numbers), numbers) << count;
  }
}

}  // namespace
}  // namespace jari::cuda
