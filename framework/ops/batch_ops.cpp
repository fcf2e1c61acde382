// What makes batches of token ids.

#include "framework/ops/check.hpp"
#include "framework/ops/ops.hpp"
#include "framework/ops/text_windows.hpp"
#include "framework/ops/word_windows.hpp"

namespace jari {

namespace {

void require_ids(const char* op, const char* name, const TensorType& type) {
  require_dtype(op, name, type, DType::i32);
  if (type.shape.rank() != 1)
    throw ShapeError(fmt::format("{}: {} must be i32[n], not {}", op, name, type.to_string()));
}

Types infer_take_ids(const Types& inputs, const Attributes&) {
  const char* op = "take_ids";
  require_inputs(op, inputs.size(), 2, 2);
  require_dtype(op, "the ids", inputs[0], DType::i32);
  require_rank(op, "the ids", inputs[0], 1);
  require_ids(op, "the places", inputs[1]);
  Shape shape = inputs[0].shape.first(inputs[0].shape.rank() - 1);
  shape.push_back(inputs[1].shape[0]);
  return {{DType::i32, shape}};
}

Types infer_text_windows(const Types& inputs, const Attributes& attributes) {
  const char* op = "text_windows";
  require_inputs(op, inputs.size(), 3, 3);
  require_ids(op, "the text", inputs[0]);
  require_ids(op, "the begins", inputs[1]);
  require_type(op, "the skips", inputs[2], inputs[1]);
  const auto& options = attributes.as<TextWindowsAttributes>();
  if (options.end < 0 || options.end > inputs[0].shape[0])
    throw ShapeError(fmt::format("{}: its end, {}, is outside the text {}", op, options.end, inputs[0].to_string()));
  const TensorType windows{DType::i32, {inputs[1].shape[0], options.length}};
  return {windows, windows};
}

// words, line starts, seed, step [, chances] -> centers, contexts
Types infer_word_windows(const Types& inputs, const Attributes& attributes) {
  const char* op = "word_windows";
  require_inputs(op, inputs.size(), 4, 5);
  require_ids(op, "the words", inputs[0]);
  require_ids(op, "the line starts", inputs[1]);
  require_type(op, "seed", inputs[2], {DType::i32, {2}});
  require_type(op, "step", inputs[3], {DType::i32, {}});
  if (inputs.size() > 4) {
    require_dtype(op, "the chances", inputs[4], DType::f32);
    require_rank(op, "the chances", inputs[4], 1);
  }
  const auto& options = attributes.as<WordWindowsAttributes>();
  if (options.window < 1 || (options.width != 2 * options.window && (options.passes || options.width != 1)))
    throw ShapeError(fmt::format("{}: rows of {} do not go with windows of {}", op, options.width, options.window));
  if (inputs[0].shape[0] <= 2 * options.window || inputs[1].shape[0] < 2)
    throw ShapeError(fmt::format("{}: the words {} are too few for windows of {}, or have no line", op,
                                 inputs[0].to_string(), options.window));
  return {{DType::i32, {options.batch}}, {DType::i32, {options.batch, options.width}}};
}

}  // namespace

const Op op_take_ids = {.name = "take_ids", .infer = infer_take_ids, .once = true};
const Op op_text_windows = {.name = "text_windows", .infer = infer_text_windows, .once = true};
const Op op_word_windows = {.name = "word_windows", .infer = infer_word_windows, .once = true};

WordWindows word_windows(Value words, Value line_starts, Value chances, const WordWindowsAttributes& options) {
  Graph& graph = words.graph();
  const auto [seed, step] = random_inputs(graph);
  Values inputs = {words, line_starts, seed, step};
  if (chances) inputs.push_back(chances);
  const Values outputs = graph.apply(op_word_windows, inputs, options);
  return {outputs[0], outputs[1]};
}

Value take_ids(Value ids, Value places) { return ids.graph().apply_one(op_take_ids, {ids, places}); }

TextWindows text_windows(Value text, Value begins, Value skips, std::int64_t length, std::int64_t end) {
  const Values outputs = text.graph().apply(op_text_windows, {text, begins, skips}, TextWindowsAttributes{length, end});
  return {outputs[0], outputs[1]};
}

}  // namespace jari
