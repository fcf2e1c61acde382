#pragma once
// Scaled dot-product attention (Vaswani et al. 2017) with an optional additive bias. It knows no positional scheme.
//
// attention: query, key, value [, bias] -> result, saved.
// attention_gradient: query, key, value, saved, upstream [, bias] -> the gradients of query, key, value [, bias].
//
// Operands and results lie [batch, heads, length, width], or, `tokens_first`, [batch, length, heads, width] as linear
// layers make them; the bias does not change.
//
// `saved` is what the gradient needs: the probabilities [batch, heads, length, keys] while they are no larger than the
// keys themselves, otherwise the logarithms of the rows' sums [batch, heads, length], from which they are computed
// again.

#include <vector>

#include "framework/graph/op.hpp"
#include "framework/ops/ops.hpp"

namespace jari {

struct AttentionAttributes {
  double scale = 1;
  bool causal = false;         // keys after the query (by index) are out
  bool tokens_first = false;   // whether the operands' axes are batch, length, heads, width
  bool bias_gradient = false;  // of attention_gradient: whether the bias's gradient is an output

  template <class F>
  void fields(F& f) {
    f("scale", scale);
    f("causal", causal);
    f("tokens_first", tokens_first);
    f("bias_gradient", bias_gradient);
  }
};

struct AttentionSizes {
  std::int64_t batch = 0, heads = 0, length = 0, keys = 0, width = 0, value_width = 0;

  bool saves_probabilities() const { return keys <= width; }
};
AttentionSizes attention_sizes(const char* op, const AttentionAttributes& attributes, const TensorType& query,
                               const TensorType& key, const TensorType& value);

// softmax(scale query key^T + bias), in simpler ops: [batch, heads, length, keys]. For attention with something between
// the probabilities and their product with the values, as dropout is.
Value attention_probabilities(Value query, Value key, std::optional<Value> bias, AttentionOptions options);

// The same attention without the axes' exchange, where query, key and value are permuted from [batch, length, heads,
// width]: the result, permuted as they are. An invalid Value where they are not, or the graph takes no rewrites.
Value rewrite_attention(const std::vector<Value>& inputs, const AttentionAttributes& attributes);

}  // namespace jari
