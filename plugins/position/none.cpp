// No positions at all ("NoPE"). A causal decoder still learns order through its mask (Haviv, Ram, Press, Izsak, Levy
// 2022, "Transformer language models without positional encodings still learn positional information"); without a mask
// a sequence is a bag of words.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct NoneParameters {
  bool allow_bag_of_words = false;
  template <class F>
  void fields(F& f) {
    f("allow_bag_of_words", allow_bag_of_words, "accept a model without a causal mask, as a control that must fail");
  }
};

class None final : public Position {
 public:
  explicit None(const NoneParameters& parameters) : parameters_(parameters) {}

  // The one hook that every model calls, so the place to refuse.
  Value positions(const PositionContext& context) const override {
    if (!context.causal && !parameters_.allow_bag_of_words)
      context.build.fail(
          "position/none: without positions and without a causal mask a sequence is a bag of words; choose another "
          "scheme, make the model causal, or set allow_bag_of_words: true to keep this as a control");
    return Position::positions(context);
  }
  bool knows_order() const override { return false; }

 private:
  NoneParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Position, jari::None, jari::NoneParameters>("none",
                                                                 "no positions; order only through a causal mask");
}
