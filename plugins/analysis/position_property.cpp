// Do dot products of a scheme's position vectors depend on the gap between two positions alone? For sinusoids they do:
// the dot product is the sum of cos(gap w_m) over their frequencies (Vaswani and others 2017, section 3.5).
//
// Arrays: `dot_products` [length, length]; `gaps`, and by gap `gap_mean` and `gap_sd` over all pairs with that gap.
// Numbers: gap_<k>/mean, gap_<k>/sd (n - 1, as torch.std), gap_<k>/spread (largest less smallest).

#include <algorithm>
#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct PositionPropertyParameters {
  Slot<Position> scheme{"sin"};
  std::int64_t length = 64;
  std::int64_t width = 128;
  std::vector<std::int64_t> gaps = {1, 3, 10, 30};
  template <class F>
  void fields(F& f) {
    f("scheme", scheme, "what adds vectors to embeddings");
    f("length", length, "positions to look at", at_least(2), unit("tokens"));
    f("width", width, "numbers a vector", at_least(1));
    f("gaps", gaps, "distances to tabulate", at_least(0), unit("tokens"));
  }
  void check(FieldChecks& checks) const {
    for (const std::int64_t gap : gaps)
      if (gap >= length)
        checks.error("gaps", "no two of " + std::to_string(length) + " positions are " + std::to_string(gap) + " apart",
                     "take gaps below the length");
  }
};

// rows: [length, width] -> [length, length].
std::vector<double> dot_products(const std::vector<double>& rows, std::size_t length) {
  const std::size_t width = rows.size() / length;
  std::vector<double> products(length * length);
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j)
      for (std::size_t k = 0; k < width; ++k) products[i * length + j] += rows[i * width + k] * rows[j * width + k];
  return products;
}

struct GapStatistics {
  double mean = 0, sd = 0, spread = 0;
};

GapStatistics statistics_of(const std::vector<double>& products, std::size_t length, std::size_t gap) {
  std::vector<double> values;
  for (std::size_t i = 0; i + gap < length; ++i) values.push_back(products[i * length + i + gap]);
  GapStatistics result;
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  for (const double value : values) result.sd += (value - result.mean) * (value - result.mean);
  result.sd = values.size() > 1 ? std::sqrt(result.sd / static_cast<double>(values.size() - 1)) : 0;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  result.spread = *high - *low;
  return result;
}

class PositionProperty final : public Analysis {
 public:
  explicit PositionProperty(const PositionPropertyParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    const auto rows = context.evaluate(parameters_.length, [&](const BuildContext& build) {
      const Graph::Scope scope(build.graph, "position_property", parameters_.scheme.span());
      return embedded_zeros(build, *parameters_.scheme, parameters_.width);
    });
    if (!rows)
      return {.arrays = {},
              .numbers = {},
              .skipped = "position/" + parameters_.scheme.type() + " adds nothing to embeddings"};
    return tabulate(dot_products(rows->values, static_cast<std::size_t>(parameters_.length)));
  }

 private:
  AnalysisResult tabulate(std::vector<double> products) const {
    AnalysisResult result;
    std::vector<double> gaps, means, deviations;
    for (const std::int64_t gap : parameters_.gaps) {
      const GapStatistics found =
          statistics_of(products, static_cast<std::size_t>(parameters_.length), static_cast<std::size_t>(gap));
      const std::string name = "gap_" + std::to_string(gap);
      result.numbers.emplace_back(name + "/mean", found.mean);
      result.numbers.emplace_back(name + "/sd", found.sd);
      result.numbers.emplace_back(name + "/spread", found.spread);
      gaps.push_back(static_cast<double>(gap));
      means.push_back(found.mean);
      deviations.push_back(found.sd);
    }
    const Shape by_gap{static_cast<std::int64_t>(gaps.size())};
    result.arrays.push_back(
        {"dot_products", {parameters_.length, parameters_.length}, std::move(products), {"position", "position"}});
    result.arrays.push_back({"gaps", by_gap, std::move(gaps), {"gap"}});
    result.arrays.push_back({"gap_mean", by_gap, std::move(means), {"gap"}});
    result.arrays.push_back({"gap_sd", by_gap, std::move(deviations), {"gap"}});
    return result;
  }

  PositionPropertyParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::PositionProperty, jari::PositionPropertyParameters>(
      "position_property", "dot products of a scheme's position vectors, by the gap between positions");
}
