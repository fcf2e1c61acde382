// Sinusoids added to the embedding (Vaswani and others 2017, "Attention is all you need", section 3.5):
//   w_m = base^(-2m / width),  row[2m] = sin(position w_m),  row[2m + 1] = cos(position w_m),  m = 0 .. width/2 - 1.
// The dot product of two rows is the sum of cos(gap w_m): it depends on the gap alone.

#include <fmt/format.h>

#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class Layout { interleaved, split };
inline const auto& enum_names(Layout) {
  static const EnumNames<Layout> names{{Layout::interleaved, "interleaved"}, {Layout::split, "split"}};
  return names;
}

struct SinParameters {
  double base = 10000;
  Layout layout = Layout::interleaved;
  template <class F>
  void fields(F& f) {
    f("base", base, "ratio of the longest wavelength to the shortest", more_than(1));
    f("layout", layout, "sine and cosine of one frequency side by side, or all sines before all cosines");
  }
};

class Sin final : public Position {
 public:
  explicit Sin(const SinParameters& parameters) : parameters_(parameters) {}

  Value embed(const PositionContext& context, Value x) const override {
    if (context.width % 2 != 0)
      context.build.fail(
          fmt::format("position/sin: width {} is odd, but each frequency takes a sine and a cosine; "
                      "choose an even width",
                      context.width));
    context.build.graph.require_constant({context.position_count, context.width});
    const Value table = context.build.graph.constant({context.position_count, context.width},
                                                     rows(context.position_count, context.width));
    return x + gather(table, context.query_positions);  // [length, width]
  }
  bool embeds() const override { return true; }

 private:
  // [count, width], in double: angles in single precision lose digits at far positions.
  std::vector<double> rows(std::int64_t count, std::int64_t width) const {
    std::vector<double> values(static_cast<std::size_t>(count * width));
    const std::int64_t half = width / 2;
    const bool split = parameters_.layout == Layout::split;
    for (std::int64_t position = 0; position < count; ++position) {
      double* row = values.data() + position * width;
      for (std::int64_t m = 0; m < half; ++m) {
        const double exponent = 2.0 * static_cast<double>(m) / static_cast<double>(width);
        const double angle = static_cast<double>(position) / std::pow(parameters_.base, exponent);
        row[split ? m : 2 * m] = std::sin(angle);
        row[split ? half + m : 2 * m + 1] = std::cos(angle);
      }
    }
    return values;
  }

  SinParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Sin, jari::SinParameters>(
      "sin", "sinusoids of the absolute position, added to the embedding");
}
