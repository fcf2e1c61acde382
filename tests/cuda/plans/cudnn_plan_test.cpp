// cuDNN takes the graphs of attention: its support checks, heuristics and compiler run, its kernels do not. The driver
// is fake_driver.c's.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/backend/cuda/library_attention.hpp"
#include "framework/base/error.hpp"
#include "framework/ops/attention.hpp"
#include "framework/ops/ops.hpp"

namespace jari::cuda {
namespace {

// In cuDNN's own words for CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION.
constexpr const char* kH200 = R"({
  "deviceName": "NVIDIA H200", "deviceVer": 900, "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0,
  "multiProcessorCount": 132, "warpSize": 32, "maxGridSize": [2147483647, 65535, 65535],
  "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,
  "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,
  "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "l2CacheSize": 62914560,
  "totalGlobalMem": 150754820096, "smClockRateKHz": 1980000, "memClockRateKHz": 3201000, "isTccDriver": 0,
  "supportCoopLaunch": 1})";

CudnnAttentionShape square(std::int64_t length, std::int64_t width) {
  return {
      .batch = 8, .heads = 4, .length = length, .keys = length, .width = width, .value_width = width, .scale = 0.1f};
}

class CudnnPlans : public ::testing::TestWithParam<std::tuple<std::int64_t, std::int64_t>> {
 protected:
  void expect_plans(const CudnnAttentionShape& shape) {
    SCOPED_TRACE(testing::Message() << "length " << shape.length << ", keys " << shape.keys << ", widths "
                                    << shape.width << " and " << shape.value_width << ", causal " << shape.causal
                                    << ", biased " << shape.biased << ", by head " << shape.bias_by_head
                                    << ", bias gradient " << shape.bias_gradient << ", tokens first "
                                    << shape.tokens_first);
    CudnnAttentionShape forward = shape;
    forward.bias_gradient = false;
    EXPECT_NO_THROW(CudnnAttention(forward, kH200));
    EXPECT_NO_THROW({
      const CudnnAttentionGradient gradient(shape, kH200);
      // The gradients of all scores lie in memory: what makes their sums ordered.
      const std::int64_t scores = shape.batch * shape.heads * shape.length * shape.keys;
      EXPECT_GE(gradient.workspace_bytes(), static_cast<std::size_t>(2 * scores));
    });
  }
};

TEST_P(CudnnPlans, AreThereForALanguageModel) {
  CudnnAttentionShape shape = square(std::get<0>(GetParam()), std::get<1>(GetParam()));
  shape.causal = true;
  shape.tokens_first = true;
  expect_plans(shape);
}

TEST_P(CudnnPlans, AreThereWithABiasAndItsGradient) {
  CudnnAttentionShape shape = square(std::get<0>(GetParam()), std::get<1>(GetParam()));
  shape.biased = shape.bias_by_head = shape.bias_gradient = true;
  expect_plans(shape);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CudnnPlans,
                         testing::Combine(testing::Values(256, 512, 1024), testing::Values(32, 64, 128)));

TEST_F(CudnnPlans, AreThereForEveryKindOfMaskAndBias) {
  for (const bool is_causal : {false, true}) {
    for (const bool is_biased : {false, true}) {
      CudnnAttentionShape shape = square(256, 64);
      shape.causal = is_causal;
      shape.biased = shape.bias_gradient = is_biased;
      expect_plans(shape);
    }
  }
}

TEST_F(CudnnPlans, AreThereForOddLengthsAndUnequalWidths) {
  CudnnAttentionShape shape = square(300, 40);
  shape.keys = 261;
  shape.value_width = 24;
  shape.biased = shape.bias_by_head = shape.bias_gradient = true;
  expect_plans(shape);
}

TEST_F(CudnnPlans, AreRefusedForOddWidths) {
  EXPECT_THAT([] { CudnnAttention(square(256, 20), kH200); },
              testing::ThrowsMessage<DeviceError>(testing::HasSubstr("cuDNN has no plan for a graph")));
  EXPECT_THROW(CudnnAttentionGradient(square(256, 20), kH200), DeviceError);
}

// The request of the op attention, or of its gradient.
KernelRequest request(std::int64_t length, std::int64_t width, bool is_gradient = false,
                      Products products = Products::bf16, DType dtype = DType::f32) {
  const TensorType tokens = {dtype, {2, 3, length, width}}, bias = {dtype, {3, length, length}};
  KernelRequest result;
  result.op = is_gradient ? &op_attention_gradient : &op_attention;
  result.attributes = AttentionAttributes{.scale = 0.5, .causal = true, .bias_gradient = is_gradient};
  result.products = products;
  result.inputs = {tokens, tokens, tokens};
  if (is_gradient) result.inputs.insert(result.inputs.end(), {{dtype, {2, 3, length}}, tokens});
  result.inputs.push_back(bias);
  return result;
}

TEST(LibraryAttention, IsAskedForLongSequencesOfRoundedProducts) {
  const auto shape = library_attention_shape(request(256, 64));
  ASSERT_TRUE(shape);
  const CudnnAttentionShape expected = {.batch = 2,
                                        .heads = 3,
                                        .length = 256,
                                        .keys = 256,
                                        .width = 64,
                                        .value_width = 64,
                                        .scale = 0.5f,
                                        .causal = true,
                                        .biased = true,
                                        .bias_by_head = true};
  EXPECT_EQ(*shape, expected);
  const auto gradient = library_attention_shape(request(256, 64, true));
  ASSERT_TRUE(gradient);
  EXPECT_TRUE(gradient->bias_gradient && gradient->bias_by_head);
}

TEST(LibraryAttention, IsNotAskedOtherwise) {
  EXPECT_FALSE(library_attention_shape(request(255, 64)));
  EXPECT_FALSE(library_attention_shape(request(256, 20)));
  EXPECT_FALSE(library_attention_shape(request(256, 136)));
  EXPECT_FALSE(library_attention_shape(request(256, 64, false, Products::exact)));
  EXPECT_FALSE(library_attention_shape(request(256, 64, false, Products::tf32)));
  EXPECT_FALSE(library_attention_shape(request(256, 64, true, Products::bf16, DType::f64)));
}

}  // namespace
}  // namespace jari::cuda
