// Long attention on a card: by cuDNN and by the own kernel.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "framework/ops/attention.hpp"
#include "framework/ops/ops.hpp"
#include "tests/support/device_under_test.hpp"

namespace jari {
namespace {

constexpr std::int64_t kBatch = 2, kHeads = 3, kLength = 300, kWidth = 40;

using Numbers = std::vector<std::vector<float>>;  // by output

struct Case {
  const char* name;
  bool causal, biased, tokens_first;
};

KernelRequest request_of(const Case& tested, bool is_gradient) {
  const Shape shape =
      tested.tokens_first ? Shape{kBatch, kLength, kHeads, kWidth} : Shape{kBatch, kHeads, kLength, kWidth};
  const TensorType tokens = {DType::f32, shape}, saved = {DType::f32, {kBatch, kHeads, kLength}};
  KernelRequest request;
  request.op = is_gradient ? &op_attention_gradient : &op_attention;
  request.attributes = AttentionAttributes{.scale = 0.2,
                                           .causal = tested.causal,
                                           .tokens_first = tested.tokens_first,
                                           .bias_gradient = is_gradient && tested.biased};
  request.products = Products::bf16;
  request.inputs = {tokens, tokens, tokens};
  if (is_gradient) request.inputs.insert(request.inputs.end(), {saved, tokens});
  if (tested.biased) request.inputs.push_back({DType::f32, {kHeads, kLength, kLength}});
  request.outputs = request.op->infer(request.inputs, request.attributes);
  return request;
}

class LongAttention : public ::testing::TestWithParam<Case> {
 protected:
  void TearDown() override { unsetenv("JARI_CUDA_ATTENTION"); }

  // Of trials from `first` on. The keys are those of trial 0 for all. `replays`: from a recording.
  std::vector<Numbers> run(bool is_gradient, const char* way, int first, int trials, bool replays = false) {
    setenv("JARI_CUDA_ATTENTION", way, 1);
    const KernelRequest request = request_of(GetParam(), is_gradient);
    const std::unique_ptr<DeviceKernel> kernel = device_->make_kernel(request);
    std::vector<Device::Memory> memories;
    std::vector<DeviceOperand> inputs, outputs;
    for (std::size_t i = 0; i < request.inputs.size(); ++i) {
      const bool is_shared = i == 1;
      memories.push_back(upload(request.inputs[i], i, is_shared ? 0 : first, is_shared ? 1 : trials, is_gradient));
      inputs.push_back({memories.back().get(), is_shared ? 0 : request.inputs[i].bytes()});
    }
    for (const TensorType& type : request.outputs) {
      memories.push_back(device_->allocate(type.bytes() * static_cast<std::size_t>(trials)));
      outputs.push_back({memories.back().get(), type.bytes()});
    }
    const Device::Memory workspace = device_->allocate(kernel->workspace_bytes(trials));
    const DeviceArguments arguments = {inputs.data(), outputs.data(), workspace.get(), trials, nullptr};
    kernel->launch(arguments, *queue_);
    if (replays) {
      queue_->begin_capture();
      kernel->launch(arguments, *queue_);
      graph_ = queue_->end_capture();
      queue_->run(*graph_);
    }
    return download(request, outputs, trials);
  }

  Device::Memory upload(const TensorType& type, std::size_t input, int first, int trials, bool is_gradient) {
    const std::size_t bytes = type.bytes() * static_cast<std::size_t>(trials);
    const Device::Memory host = device_->allocate_host(bytes), memory = device_->allocate(bytes);
    for (int trial = 0; trial < trials; ++trial) {
      auto* const numbers = reinterpret_cast<float*>(host.get() + static_cast<std::size_t>(trial) * type.bytes());
      const bool is_saved = is_gradient && input == 3;
      if (is_saved) {
        // What the own kernel saves for these operands.
        if (saved_.empty()) saved_ = run(false, "own", 0, kTrials);
        std::memcpy(numbers, saved_[static_cast<std::size_t>(first + trial)][1].data(), type.bytes());
        continue;
      }
      // The bias is the fourth input of the one op and the sixth of the other.
      const std::size_t role = is_gradient && input == 5 ? 3 : input == 4 ? 9 : input;
      std::mt19937 random(static_cast<unsigned>(role * 100 + static_cast<std::size_t>(first + trial)));
      std::normal_distribution<float> normal;
      for (std::int64_t i = 0; i < type.shape.size(); ++i) numbers[i] = normal(random);
    }
    queue_->copy(memory.get(), host.get(), bytes);
    queue_->wait();
    return memory;
  }

  // [trial][output]
  std::vector<Numbers> download(const KernelRequest& request, const std::vector<DeviceOperand>& outputs, int trials) {
    std::vector<Numbers> all(static_cast<std::size_t>(trials));
    for (std::size_t output = 0; output < outputs.size(); ++output) {
      const TensorType& type = request.outputs[output];
      const std::size_t bytes = type.bytes() * static_cast<std::size_t>(trials);
      const Device::Memory host = device_->allocate_host(bytes);
      queue_->copy(host.get(), outputs[output].data, bytes);
      queue_->wait();
      const auto* first = reinterpret_cast<const float*>(host.get());
      for (Numbers& numbers : all) {
        numbers.emplace_back(first, first + type.shape.size());
        first += type.shape.size();
      }
    }
    return all;
  }

  static constexpr int kTrials = 3;
  std::shared_ptr<Device> device_ = test::device_under_test();
  std::unique_ptr<DeviceQueue> queue_ = device_->make_queue();
  std::unique_ptr<DeviceGraph> graph_;
  std::vector<Numbers> saved_;
};

TEST_P(LongAttention, IsTheSameByCudnnUpToTheRoundingOfItsOperands) {
  for (const bool is_gradient : {false, true}) {
    const std::vector<Numbers> own = run(is_gradient, "own", 0, kTrials),
                               library = run(is_gradient, "cudnn", 0, kTrials);
    for (std::size_t trial = 0; trial < own.size(); ++trial) {
      for (std::size_t output = 0; output < own[trial].size(); ++output) {
        double square = 0, error = 0;
        for (std::size_t i = 0; i < own[trial][output].size(); ++i) {
          const double a = own[trial][output][i], b = library[trial][output][i];
          square += a * a;
          error += (a - b) * (a - b);
        }
        EXPECT_LT(std::sqrt(error / square), 0.03)
            << "gradient " << is_gradient << ", trial " << trial << ", output " << output;
      }
    }
  }
}

TEST_P(LongAttention, HasTheSameBitsAloneAgainAndReplayed) {
  for (const bool is_gradient : {false, true}) {
    const std::vector<Numbers> together = run(is_gradient, "cudnn", 0, kTrials);
    EXPECT_EQ(run(is_gradient, "cudnn", 0, kTrials), together);
    EXPECT_EQ(run(is_gradient, "cudnn", 0, kTrials, true), together);
    EXPECT_EQ(run(is_gradient, "cudnn", 2, 1)[0], together[2]);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, LongAttention,
                         testing::Values(Case{"Plain", false, false, false}, Case{"Causal", true, false, true},
                                         Case{"Biased", false, true, false}, Case{"CausalBiased", true, true, true}),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace jari
