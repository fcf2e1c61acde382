// What the trained model's positional scheme adds to attention scores, by the offset of the key from the query.
//
// Arrays: `bias` [head, length, length] (query, key); `offset` [2 length - 1], and by offset `bias_by_offset`
// [head, offset], means over all pairs at that offset. Heads that share a bias are one. Number: `spread`, the largest
// difference between two pairs at one offset; 0 for a scheme that knows only offsets.

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct PositionBiasParameters {
  std::optional<std::int64_t> length;
  template <class F>
  void fields(F& f) {
    f("length", length, "positions to look at; by default the trained length", at_least(1), unit("tokens"));
  }
};

// The mean and the spread of the biases at one offset. Masked pairs are minus infinity, all of them or none.
struct OffsetBias {
  double sum = 0, low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();
  std::int64_t count = 0;

  void add(double value) {
    sum += value;
    low = std::min(low, value);
    high = std::max(high, value);
    ++count;
  }
  double mean() const { return sum / static_cast<double>(count); }
  double spread() const { return low == high ? 0 : high - low; }  // infinities less each other are no number
};

class PositionBias final : public Analysis {
 public:
  explicit PositionBias(const PositionBiasParameters& parameters) : parameters_(parameters) {}

  AnalysisResult run(const AnalysisContext& context) const override {
    if (context.model == nullptr) return skip("the spec has no model");
    const std::int64_t length = parameters_.length.value_or(context.trained_length);
    if (length < 1) return skip("nothing was trained, so there is no trained length; give a length");
    auto bias = context.evaluate(
        length, [&](const BuildContext& build) { return context.model->position_bias(build, length); });
    if (!bias) return skip("the model's positional scheme adds nothing to scores");
    return tabulate(std::move(bias->values), length);
  }

 private:
  static AnalysisResult skip(std::string reason) { return {.arrays = {}, .numbers = {}, .skipped = std::move(reason)}; }

  static AnalysisResult tabulate(std::vector<double> bias, std::int64_t length) {
    const std::int64_t offsets = 2 * length - 1, heads = static_cast<std::int64_t>(bias.size()) / (length * length);
    std::vector<OffsetBias> found(static_cast<std::size_t>(heads * offsets));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bias.size()); ++i) {
      const std::int64_t head = i / (length * length), query = i / length % length, key = i % length;
      found[static_cast<std::size_t>(head * offsets + key - query + length - 1)].add(bias[static_cast<std::size_t>(i)]);
    }
    std::vector<double> offset, mean;
    for (std::int64_t k = 1 - length; k < length; ++k) offset.push_back(static_cast<double>(k));
    double spread = 0;
    for (const OffsetBias& each : found) {
      mean.push_back(each.mean());
      spread = std::max(spread, each.spread());
    }
    AnalysisResult result;
    result.arrays.push_back({"bias", {heads, length, length}, std::move(bias), {"head", "query", "key"}});
    result.arrays.push_back({"offset", {offsets}, std::move(offset), {"offset"}});
    result.arrays.push_back({"bias_by_offset", {heads, offsets}, std::move(mean), {"head", "offset"}});
    result.numbers.emplace_back("spread", spread);
    return result;
  }

  PositionBiasParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Analysis, jari::PositionBias, jari::PositionBiasParameters>(
      "position_bias", "what the trained model's positional scheme adds to scores, by offset");
}
