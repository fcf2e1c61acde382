#include "framework/backend/cuda/cudnn_attention.hpp"

#include <cuda_runtime_api.h>

#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "framework/backend/cuda/cuda_error.hpp"
#include "framework/backend/cuda/cudnn_graph.hpp"

namespace jari::cuda {

namespace {

constexpr cudnnDataType_t kHalf = CUDNN_DATA_BFLOAT16, kWhole = CUDNN_DATA_FLOAT;

// A handle is no two threads' at one time. They live as long as the process, like those of cuBLAS.
cudnnHandle_t handle() {
  static std::mutex mutex;
  static std::map<std::pair<int, std::thread::id>, cudnnHandle_t> handles;
  int card = 0;
  check(cudaGetDevice(&card), "tell the current card");
  const std::lock_guard lock(mutex);
  cudnnHandle_t& handle = handles[{card, std::this_thread::get_id()}];
  if (handle == nullptr) check_cudnn(cudnnCreate(&handle), "start");
  return handle;
}

CudnnTarget target(const std::string& properties) {
  return properties.empty() ? CudnnTarget(handle()) : CudnnTarget(properties);
}

// The tensors that result and gradient have in common. Axes are batch, heads, tokens, width.
class AttentionGraph {
 public:
  explicit AttentionGraph(const CudnnAttentionShape& given) : shape(given) {}

  CudnnTensor tokens(std::int64_t count, std::int64_t width) {
    return graph.memory(kHalf, {shape.batch, shape.heads, count, width}, strides(count, width));
  }
  // The same memory, the last two axes exchanged.
  CudnnTensor turned_tokens(std::int64_t count, std::int64_t width) {
    std::vector<std::int64_t> exchanged = strides(count, width);
    std::swap(exchanged[2], exchanged[3]);
    return graph.memory(kHalf, {shape.batch, shape.heads, width, count}, exchanged);
  }
  // A number a query.
  CudnnTensor column() {
    const std::vector<std::int64_t> sizes = {shape.batch, shape.heads, shape.length, 1};
    return graph.memory(kWhole, sizes, cudnn_dense_strides(sizes));
  }
  CudnnTensor bias(cudnnDataType_t type) {
    const std::vector<std::int64_t> sizes = {1, shape.bias_by_head ? shape.heads : 1, shape.length, shape.keys};
    return graph.memory(type, sizes, cudnn_dense_strides(sizes));
  }
  CudnnTensor scores(cudnnDataType_t type = kWhole) {
    return graph.intermediate(type, {shape.batch, shape.heads, shape.length, shape.keys});
  }

  // Queries times keys, scaled and biased.
  CudnnTensor biased_scores(const CudnnTensor& query, const CudnnTensor& turned_key, const CudnnTensor& scale,
                            const std::optional<CudnnTensor>& bias) {
    const CudnnTensor products = scores();
    graph.product(query, turned_key, products);
    const CudnnTensor scaled = graph.pointwise(CUDNN_POINTWISE_MUL, {products, scale});
    return bias ? graph.pointwise(CUDNN_POINTWISE_ADD, {scaled, *bias}) : scaled;
  }

  // The lowest number where the query does not see the key.
  CudnnTensor masked(const CudnnTensor& scores) {
    if (!shape.causal) return scores;
    const CudnnTensor row = graph.index(scores, 2), column = graph.index(scores, 3);
    const CudnnTensor is_seen = graph.intermediate(CUDNN_DATA_BOOLEAN, scores.sizes);
    graph.pointwise(CUDNN_POINTWISE_CMP_GE, {row, column}, is_seen);
    return graph.select(scores, graph.scalar(std::numeric_limits<float>::lowest()), is_seen);
  }

  // Nothing is said of plans that several threads run at one time.
  void run(const std::vector<CudnnBinding>& bindings, void* workspace, void* stream) const {
    const std::lock_guard lock(running_);
    const cudnnHandle_t own = handle();
    check_cudnn(cudnnSetStream(own, static_cast<cudaStream_t>(stream)), "use a stream");
    plan.run(own, bindings, workspace);
  }

  CudnnAttentionShape shape;
  CudnnGraph graph;
  CudnnPlan plan;

 private:
  mutable std::mutex running_;

  std::vector<std::int64_t> strides(std::int64_t count, std::int64_t width) const {
    if (!shape.tokens_first) return cudnn_dense_strides({shape.batch, shape.heads, count, width});
    return {count * shape.heads * width, width, shape.heads * width, 1};
  }
};

void add_binding(std::vector<CudnnBinding>& bindings, const std::optional<CudnnTensor>& tensor, const void* data) {
  if (tensor) bindings.push_back({tensor->id, data});
}

}  // namespace

struct CudnnAttention::Graph : AttentionGraph {
  explicit Graph(const CudnnAttentionShape& given, const CudnnTarget& target) : AttentionGraph(given) {
    const CudnnTensor sees = masked(biased_scores(query, turned_key, graph.scalar(shape.scale), bias_in));
    const CudnnTensor largest = graph.reduce_last(CUDNN_REDUCE_TENSOR_MAX, sees);
    const CudnnTensor weights =
        graph.pointwise(CUDNN_POINTWISE_EXP, {graph.pointwise(CUDNN_POINTWISE_SUB, {sees, largest})});
    const CudnnTensor sum = graph.reduce_last(CUDNN_REDUCE_TENSOR_ADD, weights);
    graph.pointwise(CUDNN_POINTWISE_ADD, {largest, graph.pointwise(CUDNN_POINTWISE_LOG, {sum})}, logarithms);
    const CudnnTensor probabilities = scores(kHalf);
    graph.pointwise(CUDNN_POINTWISE_DIV, {weights, sum}, probabilities);
    graph.product(probabilities, value, result);
    plan = graph.plan(target);
  }

  CudnnTensor query = tokens(shape.length, shape.width), turned_key = turned_tokens(shape.keys, shape.width);
  CudnnTensor value = tokens(shape.keys, shape.value_width);
  std::optional<CudnnTensor> bias_in = shape.biased ? std::optional(bias(kWhole)) : std::nullopt;
  CudnnTensor result = tokens(shape.length, shape.value_width), logarithms = column();
};

CudnnAttention::CudnnAttention(const CudnnAttentionShape& shape, const std::string& properties)
    : graph_(std::make_unique<Graph>(shape, target(properties))) {}
CudnnAttention::~CudnnAttention() = default;

std::size_t CudnnAttention::workspace_bytes() const { return graph_->plan.workspace_bytes(); }

void CudnnAttention::run(const CudnnAttentionOperands& operands, void* workspace, void* stream) const {
  std::vector<CudnnBinding> bindings = {{graph_->query.id, operands.query},
                                        {graph_->turned_key.id, operands.key},
                                        {graph_->value.id, operands.value},
                                        {graph_->result.id, operands.result},
                                        {graph_->logarithms.id, operands.logarithms}};
  add_binding(bindings, graph_->bias_in, operands.bias);
  graph_->run(bindings, workspace, stream);
}

struct CudnnAttentionGradient::Graph : AttentionGraph {
  explicit Graph(const CudnnAttentionShape& given, const CudnnTarget& target) : AttentionGraph(given) {
    // Of each query: its probabilities times their gradients, summed.
    const CudnnTensor product = graph.intermediate(kWhole, {shape.batch, shape.heads, shape.length, shape.value_width});
    graph.pointwise(CUDNN_POINTWISE_MUL, {upstream, result}, product);
    const CudnnTensor sums = graph.reduce_last(CUDNN_REDUCE_TENSOR_ADD, product);
    graph.pointwise(CUDNN_POINTWISE_MUL, {sums, graph.scalar(1)}, means);

    const CudnnTensor scale = graph.scalar(shape.scale);
    const CudnnTensor scores_in = biased_scores(query, turned_key, scale, bias_in);
    const CudnnTensor weights =
        graph.pointwise(CUDNN_POINTWISE_EXP, {masked(graph.pointwise(CUDNN_POINTWISE_SUB, {scores_in, logarithms}))});
    graph.product(graph.turned(weights, kHalf), upstream, value_gradient);

    const CudnnTensor by_weight = scores();
    graph.product(upstream, turned_value, by_weight);
    const CudnnTensor by_score =
        graph.pointwise(CUDNN_POINTWISE_MUL, {graph.pointwise(CUDNN_POINTWISE_SUB, {by_weight, means}), weights});
    if (bias_gradient) graph.reduce(CUDNN_REDUCE_TENSOR_ADD, by_score, *bias_gradient);
    const CudnnTensor by_product = graph.pointwise(CUDNN_POINTWISE_MUL, {by_score, scale});
    graph.product(graph.turned(by_product, kHalf), query, key_gradient);
    graph.product(by_product, graph.turned(turned_key, kHalf), query_gradient);
    plan = graph.plan(target);
  }

  // They lie at the beginning of the workspace.
  std::size_t means_bytes() const {
    return (static_cast<std::size_t>(shape.batch * shape.heads * shape.length) * sizeof(float) + 255) / 256 * 256;
  }

  CudnnTensor query = tokens(shape.length, shape.width), turned_key = turned_tokens(shape.keys, shape.width);
  CudnnTensor turned_value = turned_tokens(shape.keys, shape.value_width);
  std::optional<CudnnTensor> bias_in = shape.biased ? std::optional(bias(kWhole)) : std::nullopt;
  CudnnTensor result = tokens(shape.length, shape.value_width), logarithms = column(), means = column();
  CudnnTensor upstream = tokens(shape.length, shape.value_width);
  CudnnTensor query_gradient = tokens(shape.length, shape.width), key_gradient = tokens(shape.keys, shape.width);
  CudnnTensor value_gradient = tokens(shape.keys, shape.value_width);
  std::optional<CudnnTensor> bias_gradient = shape.bias_gradient ? std::optional(bias(kHalf)) : std::nullopt;
};

CudnnAttentionGradient::CudnnAttentionGradient(const CudnnAttentionShape& shape, const std::string& properties)
    : graph_(std::make_unique<Graph>(shape, target(properties))) {}
CudnnAttentionGradient::~CudnnAttentionGradient() = default;

std::size_t CudnnAttentionGradient::workspace_bytes() const {
  return graph_->means_bytes() + graph_->plan.workspace_bytes();
}

void CudnnAttentionGradient::run(const CudnnGradientOperands& operands, void* workspace, void* stream) const {
  std::vector<CudnnBinding> bindings = {{graph_->query.id, operands.query},
                                        {graph_->turned_key.id, operands.key},
                                        {graph_->turned_value.id, operands.value},
                                        {graph_->result.id, operands.result},
                                        {graph_->logarithms.id, operands.logarithms},
                                        {graph_->upstream.id, operands.upstream},
                                        {graph_->means.id, workspace},
                                        {graph_->query_gradient.id, operands.query_gradient},
                                        {graph_->key_gradient.id, operands.key_gradient},
                                        {graph_->value_gradient.id, operands.value_gradient}};
  add_binding(bindings, graph_->bias_in, operands.bias);
  add_binding(bindings, graph_->bias_gradient, operands.bias_gradient);
  graph_->run(bindings, static_cast<std::byte*>(workspace) + graph_->means_bytes(), stream);
}

}  // namespace jari::cuda
