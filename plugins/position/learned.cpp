// One trained vector for each absolute position, added to the embedding (Gehring and others 2017, "Convolutional
// sequence to sequence learning"; GPT-2). Rows beyond the trained length never get a gradient.

#include <fmt/format.h>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct LearnedParameters {
  std::int64_t max_length = 0;
  Slot<Init> init{"normal"};
  template <class F>
  void fields(F& f) {
    f("max_length", max_length, "rows of the table: no sequence may be longer", required, at_least(1), unit("tokens"));
    f("init", init, "first values of the table");
  }
};

class Learned final : public Position {
 public:
  explicit Learned(const LearnedParameters& parameters) : parameters_(parameters) {}

  Value embed(const PositionContext& context, Value x) const override {
    const std::int64_t rows = parameters_.max_length;
    if (context.position_count > rows)
      context.build.fail(fmt::format(
          "position/learned: length {} is over max_length {}; raise max_length or evaluate at most {} tokens",
          context.position_count, rows, rows));
    const Value table =
        context.build.parameter("table", {rows, context.width}, parameters_.init.shared(), {"position", "width"});
    return x + gather(table, context.query_positions);  // [length, width]
  }
  bool embeds() const override { return true; }

 private:
  LearnedParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::Learned, jari::LearnedParameters>(
      "learned", "a trained vector for each absolute position, added to the embedding");
}
