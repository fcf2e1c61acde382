#pragma once
// Family `analysis`: what is looked at once a trial is trained.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "framework/component/model.hpp"
#include "framework/graph/tensor_type.hpp"
#include "framework/table/word_table.hpp"

namespace jari {

// A named array of an analysis: written under /analyses/<name>/.
struct AnalysisArray {
  std::string name;
  Shape shape;
  std::vector<double> values;
  std::vector<std::string> axes;
  std::vector<std::string> texts = {};  // in place of the values: words
};

struct AnalysisResult {
  std::vector<AnalysisArray> arrays;
  std::vector<std::pair<std::string, double>> numbers;  // compared like metrics: "gap_1/mean"
  std::string skipped;                                  // "" or why there was nothing to look at
};

struct AnalysisContext {
  std::uint64_t seed = 0;
  const Model* model = nullptr;  // null in a spec without a model
  std::int64_t vocabulary = 0;
  std::int64_t trained_length = 0;
  // Words of the tokens, by their numbers, and how often they occur in the corpus; empty where the task has none.
  std::span<const std::string> words;
  std::span<const std::int64_t> counts;
  // The pieces of a text as the spec's tokenizer makes them, and their ids, as a text of the corpus has them; pieces
  // without an id are left out there. Null where the spec has no tokenizer.
  std::function<std::vector<std::string>(const std::string& text)> pieces;
  std::function<std::vector<std::int32_t>(const std::string& text)> ids;
  // A table of vectors that the spec imports; null: the model's own weights are looked at.
  std::shared_ptr<const WordTable> table;
  // Values of a trained parameter by its path ("model/embedding"); nothing if there is none.
  std::function<std::optional<AnalysisArray>(const std::string& path)> weights;
  // Runs a piece of graph on the trained weights: `build` is given a context with the declared parameters, the scope
  // "model" open, and returns the Value to read; nothing if it returns an invalid Value. A parameter that the trained
  // model does not have (of a scheme that only the analysis looks at) has its first values.
  std::function<std::optional<AnalysisArray>(std::int64_t length,
                                             const std::function<Value(const BuildContext&)>& build)>
      evaluate;
};

class Analysis {
 public:
  static constexpr const char* kFamily = "analysis";
  virtual ~Analysis() = default;
  virtual AnalysisResult run(const AnalysisContext& context) const = 0;
};

}  // namespace jari
