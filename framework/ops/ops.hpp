#pragma once
// The functions that components build graphs with. Each appends one node (or a few) and returns its Value.
// Shapes are those of one trial. [..., n] means any leading axes. All throw ShapeError with the shapes in the text.

#include <optional>
#include <string>
#include <vector>

#include "framework/graph/graph.hpp"

namespace jari {

// Every op as a global constant: `op_matmul`, `op_softmax` ...
#define JARI_OP(name) extern const Op op_##name;
#include "framework/ops/ops.def"
#undef JARI_OP

// Every op, in the order of ops.def.
const std::vector<const Op*>& all_ops();

// -- pointwise, with NumPy's broadcasting; both sides of one dtype
Value operator+(Value left, Value right);
Value operator-(Value left, Value right);
Value operator*(Value left, Value right);
Value operator/(Value left, Value right);
Value operator-(Value x);
Value operator+(Value left, double right);
Value operator-(Value left, double right);
Value operator*(Value left, double right);
Value operator*(double left, Value right);
Value operator/(Value left, double right);
Value maximum(Value left, Value right);
Value minimum(Value left, Value right);
Value equal(Value left, Value right);        // -> boolean
Value less(Value left, Value right);         // left < right -> boolean
Value logical_and(Value left, Value right);  // booleans
Value logical_not(Value x);
Value select(Value condition, Value if_true, Value if_false);  // broadcasting
Value exp(Value x);
Value log(Value x);
Value sqrt(Value x);
Value sin(Value x);
Value cos(Value x);
Value tanh(Value x);
Value sigmoid(Value x);
Value abs(Value x);
Value erf(Value x);
Value square(Value x);
Value relu(Value x);
Value gelu(Value x);               // GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks and Gimpel 2016
Value gelu_exact(Value x);         // x Phi(x), through erf
Value cast(Value x, DType dtype);  // real -> i32 rounds toward zero
Value all_reduce(Value x);         // sum over the devices that train one trial; alone: x

// -- shape
Value reshape(Value x, Shape shape);             // same number of elements
Value permute(Value x, std::vector<int> order);  // axis i of the result is axis order[i] of x
Value transpose(Value x);                        // swaps the last two axes
Value slice(Value x, int axis, std::int64_t begin, std::int64_t end, std::int64_t stride = 1);
Value pad(Value x, int axis, std::int64_t before, std::int64_t after);  // with zeros
Value concat(const std::vector<Value>& parts, int axis);
Value broadcast_to(Value x, Shape shape);
Value iota(Graph& graph, std::int64_t count);  // i32 [count]: 0, 1, 2 ...

// -- reductions; negative axes count from the back
Value reduce_sum(Value x, std::vector<int> axes, bool keep = false);
Value reduce_max(Value x, std::vector<int> axes, bool keep = false);  // gradient to the first of equal maxima
Value mean(Value x, std::vector<int> axes, bool keep = false);
Value sum_all(Value x);                                 // -> scalar
Value mean_all(Value x);                                // -> scalar
Value sum_of_squares(const std::vector<Value>& parts);  // of all their elements -> scalar
Value argmax(Value x);                                  // [..., n] -> i32 [...]; the first of equal maxima

// -- tables; an id below 0 stands for none
Value gather(Value table, Value ids);  // [rows, ...], i32 [...] -> [ids..., ...]; zeros for none
Value scatter_add(Value updates, Value ids,
                  std::int64_t rows);  // [ids..., ...], i32 [ids...] -> [rows, ...]; fixed order of additions
struct CombinedRows {
  // [n, ...], i32 [n] with n = min(ids, rows): each id once, in order of appearance, then -1 and zeros.
  Value rows, ids;
  Value squares;  // scalar: sum of the squares of all rows
};
// What scatter_add would sum, without the rows that stay 0: [ids..., ...], i32 [ids...].
CombinedRows combine_rows(Value updates, Value ids, std::int64_t rows);

// -- products
// [..., m, k] x [..., k, n] -> [..., m, n]; leading axes broadcast; `transpose_*` reads [..., k, m] / [..., n, k].
Value matmul(Value left, Value right, bool transpose_left = false, bool transpose_right = false);

// -- composite ops with kernels of their own; each has a body in the ops above
Value softmax(Value x);  // over the last axis
Value log_softmax(Value x);
// (x - mean) / sqrt(variance + epsilon) scale + shift over the last axis: [..., n], [n], [n].
Value layer_norm(Value x, Value scale, std::optional<Value> shift, double epsilon = 1e-5);
Value rms_norm(Value x, Value scale, double epsilon = 1e-5);  // x / sqrt(mean square + epsilon) scale: [..., n], [n]
// Mean over the positions whose target is >= 0 of -log softmax(logits)[target]. [..., n], i32 [...] -> scalar.
Value cross_entropy(Value logits, Value targets);
// The same by position, 0 where the target is < 0. [..., n], i32 [...] -> [...].
Value cross_entropy_by_position(Value logits, Value targets);

struct NegativeSamplingResult {
  Value loss, pairs;  // real scalars; only the loss has a gradient
};
// Formula and shapes: framework/ops/negative_sampling.hpp.
// `most_rows`: how many distinct ids targets and negatives can have, if that is known to be fewer than they are.
NegativeSamplingResult negative_sampling(Value hidden, Value table, Value targets, Value negatives, double weight,
                                         std::int64_t most_rows = 0);

struct AttentionOptions {
  double scale = 1;     // multiplies query x key, not the bias
  bool causal = false;  // keys after the query are out
};
// softmax(scale query key^T + bias) value. query [batch, heads, length, width], key [batch, heads, keys, width],
// value [batch, heads, keys, value_width] -> [batch, heads, length, value_width].
// bias: [length, keys] or [heads, length, keys], real; -infinity takes a key out.
Value attention(Value query, Value key, Value value, std::optional<Value> bias, AttentionOptions options);

// -- random; `seed` is i32 [2] per trial (low and high word), `step` an i32 scalar: see random_inputs().
// `stream` comes from the path of the innermost scope and `name`.
struct RandomInputs {
  Value seed, step;
};
inline constexpr const char* kRandomSeed = "random/seed";
inline constexpr const char* kRandomStep = "random/step";
RandomInputs random_inputs(Graph& graph);                                  // the inputs "random/seed" and "random/step"
Value random_uniform(Graph& graph, const std::string& name, Shape shape);  // [0, 1)
// Zeroes each element with probability `rate` (a scalar, may be per trial) and divides the others by 1 - rate.
Value dropout(Value x, const std::string& name, Value rate);

// -- batches, made where they are used
struct IdDraws {
  std::uint64_t stream = 0;
  Shape shape;
  std::int64_t count = 0;  // ids are drawn from [0, count)
  std::int64_t first = 0;  // element of the stream that the first draw is
  Value asked = {};        // i32, whose axes are the first of `shape`: where it is below 0, ids are -1. Optional.
  // An alias table, i32 [count] both: 32 random bits below a cell's limit are its own id, others the other one.
  // Optional: all alike.
  Value limits = {}, others = {};
};
// Element i is uniform_below(bits(first + i), count) of the RandomStream {seed, stream, step}; by an alias table it
// takes two words.
Value random_ids(Graph& graph, const IdDraws& draws);
// The ids at places of each row: i32 [..., n], i32 [m] -> [..., m]. A place below 0 stands for none and gives -1.
Value take_ids(Value ids, Value places);
struct TextWindows {
  // i32 [windows, length]: what stands from each begin on, 0 behind the end; and what follows each of them, -1 where
  // nothing does and for the first `skips` of a window.
  Value tokens, targets;
};
// text: i32 [n], of which [0, end) counts; begins, skips: i32 [windows].
TextWindows text_windows(Value text, Value begins, Value skips, std::int64_t length, std::int64_t end);
struct WordWindowsAttributes;
struct WordWindows {
  Value centers, contexts;  // i32 [batch], [batch, width]; -1: none
};
// framework/ops/word_windows.hpp. words: i32 [n]; line_starts: i32 [lines + 1]; chances: f32 [ids], of each id not to
// be dropped, or an empty Value.
WordWindows word_windows(Value words, Value line_starts, Value chances, const WordWindowsAttributes& options);

// -- optimizer steps, one node a parameter; `step` is the i32 scalar input "random/step", counted from 0.
struct SgdOptions {
  double momentum = 0;
  bool nesterov = false;
};
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  bool decoupled_decay = false;  // AdamW (Loshchilov and Hutter 2019); otherwise decay is added to the gradient
};
// PyTorch's update rules (torch.optim.SGD, Adam, AdamW). A gradient that is a scatter_add of combined rows changes
// these rows alone where that comes to the same (framework/ops/row_updates.hpp). Scalars `learning_rate` and
// `weight_decay` may be per trial.
struct SgdResult {
  Value parameter, momentum;  // momentum is invalid if options.momentum is 0
};
SgdResult sgd_update(Value parameter, Value gradient, Value momentum, Value learning_rate, Value weight_decay,
                     Value step, SgdOptions options);
struct AdamResult {
  Value parameter, first_moment, second_moment;
};
AdamResult adam_update(Value parameter, Value gradient, Value first_moment, Value second_moment, Value learning_rate,
                       Value weight_decay, Value step, AdamOptions options);

}  // namespace jari
