// How alike the trained model's position vectors are: cosines between them, their norms, and the mean cosine by gap.
//
// Arrays: `cosine` [length, length], `norm` [length], `cosine_by_gap` [length] (gap 0 first). A vector of zeros has
// cosine 0.
//
// Numbers: norm_first (of position 0), norm_median (of all positions) and norm_ratio of the two, where there is one;
// cosine_near, the mean of neighbors, and cosine_far, that of pairs at least three quarters of the longest gap apart.

#include <algorithm>
#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct PositionCosineParameters {
  std::optional<std::int64_t> length;
  template <class F>
  void fields(F& f) {
    f("length", length, "positions to look at; by default the trained length", at_least(1), unit("tokens"));
  }
};

using Numbers = std::vector<std::pair<std::string, double>>;

std::vector<double> norms_of(std::span<const double> rows, std::size_t length) {
  const std::size_t width = rows.size() / length;
  std::vector<double> norms(length);
  for (std::size_t i = 0; i < rows.size(); ++i) norms[i / width] += rows[i] * rows[i];
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void add_norms(Numbers& numbers, const std::vector<double>& norm) {
  const double middle = median(norm);
  numbers.emplace_back("norm_first", norm.front());
  numbers.emplace_back("norm_median", middle);
  if (middle > 0) numbers.emplace_back("norm_ratio", norm.front() / middle);
}

// A mean by gap stands for as many pairs as have that gap.
void add_gaps(Numbers& numbers, const std::vector<double>& by_gap) {
  const std::size_t length = by_gap.size();
  if (length < 2) return;
  numbers.emplace_back("cosine_near", by_gap[1]);
  double sum = 0, pairs = 0;
  for (std::size_t gap = 1; gap < length; ++gap) {
    if (4 * gap < 3 * (length - 1)) continue;
    sum += by_gap[gap] * static_cast<double>(length - gap);
    pairs += static_cast<double>(length - gap);
  }
  numbers.emplace_back("cosine_far", sum / pairs);
}

AnalysisResult cosines(const std::vector<double>& rows, std::size_t length) {
  std::vector<double> norm = norms_of(rows, length), cosine = cosine_matrix(rows, length), by_gap(length);
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = i; j < length; ++j)
      by_gap[j - i] += cosine[i * length + j] / static_cast<double>(length - (j - i));
  const auto size = static_cast<std::int64_t>(length);
  AnalysisResult result;
  add_norms(result.numbers, norm);
  add_gaps(result.numbers, by_gap);
  result.arrays.push_back({"cosine", {size, size}, std::move(cosine), {"position", "position"}});
  result.arrays.push_back({"norm", {size}, std::move(norm), {"position"}});
  result.arrays.push_back({"cosine_by_gap", {size}, std::move(by_gap), {"gap"}});
  return result;
}

class PositionCosine final : public Analysis {
 public:
  explicit PositionCosine(const PositionCosineParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    if (context.model == nullptr) return skip("the spec has no model");
    const std::int64_t length = parameters_.length.value_or(context.trained_length);
    if (length < 1) return skip("nothing was trained, so there is no trained length; give a length");
    const auto rows = context.evaluate(
        length, [&](const BuildContext& build) { return context.model->position_table(build, length); });
    if (!rows) return skip("the model's positional scheme adds nothing to embeddings");
    return cosines(rows->values, static_cast<std::size_t>(length));
  }

 private:
  static AnalysisResult skip(std::string reason) { return {.arrays = {}, .numbers = {}, .skipped = std::move(reason)}; }

  PositionCosineParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::PositionCosine, jari::PositionCosineParameters>(
      "position_cosine", "cosines between the trained model's position vectors");
}
