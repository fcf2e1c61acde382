#include "framework/backend/cuda/library_attention.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/backend/cuda/cuda_error.hpp"
#include "framework/backend/cuda/half_copies.hpp"
#include "framework/backend/cuda/stream_queue.hpp"
#include "framework/ops/attention.hpp"
#include "framework/ops/ops.hpp"

namespace jari::cuda {

namespace {

constexpr std::int64_t kFromLength = 256;
constexpr std::int64_t kWidthStep = 8, kMostWidth = 128;

// Plans take half a second to make; the layers of a model share theirs.
template <class Plan>
std::shared_ptr<const Plan> plan_of(const CudnnAttentionShape& shape) {
  static std::mutex mutex;
  // Never destroyed: at the end of the process cuDNN may be gone first.
  static auto& plans = *new std::map<std::pair<int, CudnnAttentionShape>, std::shared_ptr<const Plan>>;
  int card = 0;
  check(cudaGetDevice(&card), "tell the current card");
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Plan>& plan = plans[{card, shape}];
  if (!plan) plan = std::make_shared<const Plan>(shape);
  return plan;
}

std::size_t aligned(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

// Numbers of each operand of a trial.
struct Counts {
  explicit Counts(const CudnnAttentionShape& shape) {
    const std::int64_t pairs = shape.batch * shape.heads;
    query = pairs * shape.length * shape.width;
    key = pairs * shape.keys * shape.width;
    value = pairs * shape.keys * shape.value_width;
    result = pairs * shape.length * shape.value_width;
    rows = pairs * shape.length;
    bias = (shape.bias_by_head ? shape.heads : 1) * shape.length * shape.keys;
  }
  std::int64_t query, key, value, result, rows, bias;
};

// Hands out a workspace piece by piece; from null, it counts what they take.
class Pieces {
 public:
  explicit Pieces(void* workspace) : begin_(static_cast<std::byte*>(workspace)) {}
  void* halves(std::int64_t count) { return bytes(static_cast<std::size_t>(count) * 2); }
  void* wholes(std::int64_t count) { return bytes(static_cast<std::size_t>(count) * sizeof(float)); }
  void* bytes(std::size_t count) {
    void* const piece = begin_ ? begin_ + taken_ : nullptr;
    taken_ += aligned(count);
    return piece;
  }
  std::size_t taken() const { return taken_; }

 private:
  std::byte* begin_;
  std::size_t taken_ = 0;
};

void* at(const DeviceOperand& operand, int trial) {
  return static_cast<std::byte*>(operand.data) + static_cast<std::size_t>(trial) * operand.stride;
}

struct ForwardPieces {
  ForwardPieces(const Counts& counts, std::size_t plan_bytes, void* workspace) {
    Pieces pieces(workspace);
    query = pieces.halves(counts.query);
    key = pieces.halves(counts.key);
    value = pieces.halves(counts.value);
    result = pieces.halves(counts.result);
    plan = pieces.bytes(plan_bytes);
    bytes = pieces.taken();
  }
  void *query, *key, *value, *result, *plan;
  std::size_t bytes;
};

class LibraryAttention final : public DeviceKernel {
 public:
  explicit LibraryAttention(const CudnnAttentionShape& shape)
      : shape_(shape), counts_(shape), plan_(plan_of<CudnnAttention>(shape)) {}

  std::size_t workspace_bytes(int /*trials*/) const override { return pieces(nullptr).bytes; }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    const ForwardPieces own = pieces(arguments.workspace);
    for (int trial = 0; trial < arguments.trials; ++trial) {
      round_to_bf16({{at(arguments.inputs[0], trial), own.query, counts_.query},
                     {at(arguments.inputs[1], trial), own.key, counts_.key},
                     {at(arguments.inputs[2], trial), own.value, counts_.value}},
                    queue);
      plan_->run({.query = own.query,
                  .key = own.key,
                  .value = own.value,
                  .bias = shape_.biased ? at(arguments.inputs[3], trial) : nullptr,
                  .result = own.result,
                  .logarithms = at(arguments.outputs[1], trial)},
                 own.plan, static_cast<StreamQueue&>(queue).stream());
      widen_from_bf16({{own.result, at(arguments.outputs[0], trial), counts_.result}}, queue);
    }
  }

 private:
  ForwardPieces pieces(void* workspace) const { return {counts_, plan_->workspace_bytes(), workspace}; }

  CudnnAttentionShape shape_;
  Counts counts_;
  std::shared_ptr<const CudnnAttention> plan_;
};

struct BackwardPieces {
  BackwardPieces(const Counts& counts, bool biased, std::size_t plan_bytes, void* workspace) {
    Pieces pieces(workspace);
    query = pieces.halves(counts.query);
    key = pieces.halves(counts.key);
    value = pieces.halves(counts.value);
    result = pieces.halves(counts.result);
    upstream = pieces.halves(counts.result);
    logarithms = pieces.wholes(counts.rows);
    query_gradient = pieces.halves(counts.query);
    key_gradient = pieces.halves(counts.key);
    value_gradient = pieces.halves(counts.value);
    bias_gradient = pieces.halves(biased ? counts.bias : 0);
    plan = pieces.bytes(plan_bytes);
    bytes = pieces.taken();
  }
  void *query, *key, *value, *result, *upstream, *logarithms;
  void *query_gradient, *key_gradient, *value_gradient, *bias_gradient, *plan;
  std::size_t bytes;
};

// cuDNN wants the result, which is no input of the op: it is made again. The rows' sums come from there too rather than
// from what was saved, so that probabilities of rounded operands sum to one.
class LibraryAttentionGradient final : public DeviceKernel {
 public:
  explicit LibraryAttentionGradient(const CudnnAttentionShape& shape)
      : shape_(shape), counts_(shape), plan_(plan_of<CudnnAttentionGradient>(shape)) {
    CudnnAttentionShape forward = shape;
    forward.bias_gradient = false;
    forward_ = plan_of<CudnnAttention>(forward);
  }

  std::size_t workspace_bytes(int /*trials*/) const override { return pieces(nullptr).bytes; }

  void launch(const DeviceArguments& arguments, DeviceQueue& queue) const override {
    for (int trial = 0; trial < arguments.trials; ++trial) launch_trial(arguments, trial, queue);
  }

 private:
  BackwardPieces pieces(void* workspace) const {
    return {counts_, shape_.bias_gradient, std::max(plan_->workspace_bytes(), forward_->workspace_bytes()), workspace};
  }

  void launch_trial(const DeviceArguments& arguments, int trial, DeviceQueue& queue) const {
    const BackwardPieces own = pieces(arguments.workspace);
    const auto input = [&](int i) { return at(arguments.inputs[i], trial); };
    const auto output = [&](int i) { return at(arguments.outputs[i], trial); };
    const void* const bias = shape_.biased ? input(5) : nullptr;
    const auto stream = static_cast<StreamQueue&>(queue).stream();
    round_to_bf16({{input(0), own.query, counts_.query},
                   {input(1), own.key, counts_.key},
                   {input(2), own.value, counts_.value},
                   {input(4), own.upstream, counts_.result}},
                  queue);
    forward_->run({own.query, own.key, own.value, bias, own.result, own.logarithms}, own.plan, stream);
    plan_->run({.query = own.query,
                .key = own.key,
                .value = own.value,
                .bias = bias,
                .result = own.result,
                .logarithms = own.logarithms,
                .upstream = own.upstream,
                .query_gradient = own.query_gradient,
                .key_gradient = own.key_gradient,
                .value_gradient = own.value_gradient,
                .bias_gradient = own.bias_gradient},
               own.plan, stream);
    std::vector<HalfCopy> results = {{own.query_gradient, output(0), counts_.query},
                                     {own.key_gradient, output(1), counts_.key},
                                     {own.value_gradient, output(2), counts_.value}};
    if (shape_.bias_gradient) results.push_back({own.bias_gradient, output(3), counts_.bias});
    widen_from_bf16(results, queue);
  }

  CudnnAttentionShape shape_;
  Counts counts_;
  std::shared_ptr<const CudnnAttentionGradient> plan_;
  std::shared_ptr<const CudnnAttention> forward_;
};

bool serves(const AttentionSizes& sizes) {
  const auto serves_width = [](std::int64_t width) {
    return width > 0 && width <= kMostWidth && width % kWidthStep == 0;
  };
  return sizes.batch * sizes.heads > 0 && std::min(sizes.length, sizes.keys) >= kFromLength &&
         serves_width(sizes.width) && serves_width(sizes.value_width) && !sizes.saves_probabilities();
}

}  // namespace

std::optional<CudnnAttentionShape> library_attention_shape(const KernelRequest& request) {
  const bool is_gradient = request.op->name == std::string_view(op_attention_gradient.name);
  const auto& options = request.attributes.as<AttentionAttributes>();
  const AttentionSizes sizes =
      attention_sizes(request.op->name, options, request.inputs[0], request.inputs[1], request.inputs[2]);
  if (request.products != Products::bf16 || request.inputs[0].dtype != DType::f32 || !serves(sizes)) return {};
  const std::size_t bias = is_gradient ? 5 : 3;
  const bool is_biased = request.inputs.size() > bias;
  return CudnnAttentionShape{.batch = sizes.batch,
                             .heads = sizes.heads,
                             .length = sizes.length,
                             .keys = sizes.keys,
                             .width = sizes.width,
                             .value_width = sizes.value_width,
                             .scale = static_cast<float>(options.scale),
                             .causal = options.causal,
                             .tokens_first = options.tokens_first,
                             .biased = is_biased,
                             .bias_by_head = is_biased && request.inputs[bias].shape.rank() == 3,
                             .bias_gradient = is_gradient && options.bias_gradient};
}

std::unique_ptr<DeviceKernel> make_library_attention(const CudnnAttentionShape& shape) {
  return std::make_unique<LibraryAttention>(shape);
}

std::unique_ptr<DeviceKernel> make_library_attention_gradient(const CudnnAttentionShape& shape) {
  return std::make_unique<LibraryAttentionGradient>(shape);
}

}  // namespace jari::cuda
