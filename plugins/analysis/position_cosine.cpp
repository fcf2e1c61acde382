// How alike the trained model's position vectors are: cosines between them, their norms, and the mean cosine by gap.
//
// Arrays: `cosine` [length, length], `norm` [length], `cosine_by_gap` [length] (gap 0 first). A vector of zeros has
// cosine 0.

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

double dot(std::span<const double> left, std::span<const double> right) {
  double sum = 0;
  for (std::size_t k = 0; k < left.size(); ++k) sum += left[k] * right[k];
  return sum;
}

AnalysisResult cosines(const std::vector<double>& rows, std::size_t length) {
  const std::size_t width = rows.size() / length;
  const auto row = [&](std::size_t i) { return std::span(rows).subspan(i * width, width); };
  std::vector<double> norm(length), cosine(length * length), by_gap(length);
  for (std::size_t i = 0; i < length; ++i) norm[i] = std::sqrt(dot(row(i), row(i)));
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t j = 0; j < length; ++j) {
      const double norms = norm[i] * norm[j];
      cosine[i * length + j] = norms > 0 ? dot(row(i), row(j)) / norms : 0;
      if (j >= i) by_gap[j - i] += cosine[i * length + j] / static_cast<double>(length - (j - i));
    }
  }
  const auto size = static_cast<std::int64_t>(length);
  AnalysisResult result;
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
