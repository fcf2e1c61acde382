#pragma once
// Attention and its gradient as graphs that cuDNN's fused engines know: operands of bf16, sums of f32. (Nothing of
// cuDNN itself is seen here.)

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace jari::cuda {

// Of one trial.
struct CudnnAttentionShape {
  std::int64_t batch = 0, heads = 0, length = 0, keys = 0, width = 0, value_width = 0;
  float scale = 1;
  bool causal = false;
  bool tokens_first = false;   // operands lie [batch, length, heads, width], otherwise [batch, heads, length, width]
  bool biased = false;         // a bias [heads or 1, length, keys]
  bool bias_by_head = false;   // rather one that all heads share
  bool bias_gradient = false;  // of gradients: whether that of the bias is asked for

  auto operator<=>(const CudnnAttentionShape&) const = default;
};

// Device memory at a run, 16-byte aligned. All are of bf16 but `bias` and `logarithms`, which are of f32.
struct CudnnAttentionOperands {
  const void *query = nullptr, *key = nullptr, *value = nullptr, *bias = nullptr;
  void* result = nullptr;
  void* logarithms = nullptr;  // of the rows' sums, [batch, heads, length]
};
struct CudnnGradientOperands {
  const void *query = nullptr, *key = nullptr, *value = nullptr, *bias = nullptr;
  const void *result = nullptr, *logarithms = nullptr, *upstream = nullptr;
  void *query_gradient = nullptr, *key_gradient = nullptr, *value_gradient = nullptr;
  void* bias_gradient = nullptr;
};

// The plans of a shape. Made for the calling thread's current card, or for the one whose properties are given (cuDNN's
// JSON for them): then there need not be a card, and the plan can not be run. DeviceError where cuDNN has no plan.
class CudnnAttention {
 public:
  explicit CudnnAttention(const CudnnAttentionShape& shape, const std::string& properties = "");
  ~CudnnAttention();
  std::size_t workspace_bytes() const;
  // Work on the stream (a cudaStream_t), by any thread; can be captured.
  void run(const CudnnAttentionOperands& operands, void* workspace, void* stream) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

// In every run the same bits: the gradients of the scores are stored, and what they are multiplied to is summed in
// order.
class CudnnAttentionGradient {
 public:
  explicit CudnnAttentionGradient(const CudnnAttentionShape& shape, const std::string& properties = "");
  ~CudnnAttentionGradient();
  std::size_t workspace_bytes() const;
  void run(const CudnnGradientOperands& operands, void* workspace, void* stream) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

}  // namespace jari::cuda
