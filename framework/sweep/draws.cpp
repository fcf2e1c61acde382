#include "framework/sweep/draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/mersenne_twister.hpp>
#include <boost/random/sobol.hpp>
#include <cmath>
#include <optional>

#include "framework/base/hash.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/sweep/inner_grid.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostDimensions = 1000;
constexpr std::size_t kMostDrawn = 1'000'000;  // numbers of all points

boost::random::mt19937_64 generator_of(const std::string& path, std::int64_t seed) {
  return boost::random::mt19937_64(hash64(fmt::format("{}/{}", seed, path)));
}

// From a number in (0, 1) to one in (low, high), evenly, or evenly in the logarithm.
double stretched(double unit, double low, double high, Scale scale) {
  if (scale == Scale::linear) return low + unit * (high - low);
  return std::exp(std::log(low) + unit * (std::log(high) - std::log(low)));
}

double rounded(double value) { return parse_number(fmt::format("{:.4e}", value)).value(); }

bool is_whole_text(const SpecNode& node) {
  return node.text.find_first_not_of("+-0123456789") == std::string::npos && parse_integer(node.text).has_value();
}

// How one key of the space turns numbers into values.
class Draw {
 public:
  // Nothing after an error.
  static std::optional<Draw> make(const DrawSpec& spec, const SpecEntry& entry, const std::string& place,
                                  Diagnostics& diagnostics) {
    Draw draw;
    draw.scale_ = spec.scale;
    if (!spec.values.empty()) {
      for (const SpecNode& value : spec.values) {
        std::ranges::move(alternatives(value, place, diagnostics), std::back_inserter(draw.values_));
      }
      if (draw.values_.empty()) return std::nullopt;
      return draw;
    }
    draw.low_ = *spec.from;
    draw.high_ = *spec.to;
    draw.whole_ = is_whole_text(*entry.value.find("from")) && is_whole_text(*entry.value.find("to"));
    if (spec.multiple_of && !draw.whole_) {
      diagnostics.error(entry.value.find("multiple_of")->span, place + ".multiple_of", "goes with whole numbers only",
                        "write from and to without a fraction");
      return std::nullopt;
    }
    if (draw.whole_ && !draw.count_multiples(spec.multiple_of.value_or(1), entry, place, diagnostics)) {
      return std::nullopt;
    }
    return draw;
  }

  const std::vector<SpecNode>& values() const { return values_; }

  SpecNode at(double unit, const SourceSpan& span) const {
    if (!values_.empty()) {
      const auto count = static_cast<double>(values_.size());
      return values_[static_cast<std::size_t>(std::min(unit * count, count - 1))];
    }
    if (!whole_) {
      const double value = std::clamp(rounded(stretched(unit, low_, high_, scale_)), low_, high_);
      return SpecNode::scalar(format_number(value + 0.0), false, span);  // no "-0"
    }
    // Each whole number k stands for [k - 1/2, k + 1/2).
    const double k = std::round(stretched(unit, low_ - 0.5, high_ + 0.5, scale_));
    const auto number = static_cast<std::int64_t>(std::clamp(k, low_, high_)) * step_;
    return SpecNode::scalar(std::to_string(number), false, span);
  }

 private:
  // Makes low_ and high_ count multiples of `step`.
  bool count_multiples(std::int64_t step, const SpecEntry& entry, const std::string& place, Diagnostics& diagnostics) {
    step_ = step;
    low_ = std::ceil(low_ / static_cast<double>(step));
    high_ = std::floor(high_ / static_cast<double>(step));
    if (high_ - low_ >= 2) return true;
    const SpecNode& from = *entry.value.find("from");
    const SpecNode& to = *entry.value.find("to");
    diagnostics.error(entry.value.span, place,
                      fmt::format("there are fewer than three whole numbers{} from {} to {}",
                                  step > 1 ? fmt::format(" that are multiples of {}", step) : "", from.text, to.text),
                      fmt::format("for fractions write from: {}.0; for a choice write {{values: [{}, {}]}}", from.text,
                                  from.text, to.text));
    return false;
  }

  double low_ = 0, high_ = 0;
  Scale scale_ = Scale::linear;
  bool whole_ = false;
  std::int64_t step_ = 1;
  std::vector<SpecNode> values_;  // instead of a range
};

}  // namespace

std::vector<std::vector<std::uint64_t>> sobol_bits(std::size_t points, std::size_t dimensions) {
  boost::random::sobol engine(dimensions);
  std::vector<std::vector<std::uint64_t>> bits(points, std::vector<std::uint64_t>(dimensions, 0));
  for (std::size_t i = 1; i < points; ++i) {  // the engine leaves the all-zero point out
    for (std::uint64_t& coordinate : bits[i]) coordinate = engine();
  }
  return bits;
}

std::vector<std::vector<std::uint64_t>> shifted_sobol_bits(std::size_t points, const std::vector<std::string>& paths,
                                                           std::int64_t seed) {
  std::vector<std::vector<std::uint64_t>> bits = sobol_bits(points, paths.size());
  for (std::size_t dimension = 0; dimension < paths.size(); ++dimension) {
    const std::uint64_t shift = generator_of(paths[dimension], seed)();
    for (std::vector<std::uint64_t>& point : bits) point[dimension] ^= shift;
  }
  return bits;
}

std::vector<std::vector<std::uint64_t>> random_bits(std::size_t points, const std::vector<std::string>& paths,
                                                    std::int64_t seed) {
  std::vector<std::vector<std::uint64_t>> bits(points, std::vector<std::uint64_t>(paths.size()));
  for (std::size_t dimension = 0; dimension < paths.size(); ++dimension) {
    boost::random::mt19937_64 generator = generator_of(paths[dimension], seed);
    for (std::vector<std::uint64_t>& point : bits) point[dimension] = generator();
  }
  return bits;
}

double unit_number(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

std::vector<Axis> read_draws(const DrawsSpec& spec, const SpecNode& node, DrawMethod method, Diagnostics& diagnostics) {
  const std::string place = method == DrawMethod::random ? "sweep.random" : "sweep.sobol";
  const SpecNode& space = *node.find("space");
  if (spec.space.empty() || spec.space.size() > kMostDimensions) {
    diagnostics.error(space.span, place + ".space",
                      fmt::format("expected 1 to {} keys, found {}", kMostDimensions, spec.space.size()),
                      "write for example {train.optimizer.lr: {from: 1e-4, to: 1e-1, scale: log}}");
    return {};
  }
  std::vector<std::string> paths;
  std::vector<Draw> draws;
  std::map<std::string, ValueLabels> labels;
  for (std::size_t i = 0; i < spec.space.size(); ++i) {
    const SpecEntry& entry = space.entries[i];
    const std::string own_place = place + ".space." + entry.key;
    if (refuse_seed(entry.key_span, entry.key, own_place, diagnostics)) continue;
    const std::optional<Draw> draw = Draw::make(spec.space[i].second, entry, own_place, diagnostics);
    if (!draw) continue;
    if (!draw->values().empty()) labels.emplace(entry.key, ValueLabels(draw->values()));
    paths.push_back(entry.key);
    draws.push_back(*draw);
  }
  if (paths.size() != spec.space.size()) return {};
  if (static_cast<std::size_t>(spec.trials) > kMostDrawn / paths.size()) {
    diagnostics.error(space.span, place, fmt::format("more than {} values to draw", kMostDrawn), "split the sweep");
    return {};
  }

  const auto points = static_cast<std::size_t>(spec.trials);
  const auto bits = method == DrawMethod::random ? random_bits(points, paths, spec.seed)
                                                 : shifted_sobol_bits(points, paths, spec.seed);
  std::vector<SpecNode> rows(points, SpecNode::mapping(node.span));
  for (std::size_t i = 0; i < points; ++i) {
    for (std::size_t k = 0; k < paths.size(); ++k) {
      rows[i].set(paths[k], draws[k].at(unit_number(bits[i][k]), space.entries[k].value.span),
                  space.entries[k].key_span);
    }
  }
  return {make_axis(place, node.span, rows, labels)};
}

}  // namespace jari
