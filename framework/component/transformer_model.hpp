#pragma once
// The component around a Transformer: model/gpt and model/encoder differ in what a token sees.

#include "framework/component/transformer.hpp"

namespace jari {

template <bool kCausal>
class TransformerModel final : public SequenceModel {
 public:
  explicit TransformerModel(const TransformerParameters& parameters) : transformer_(parameters, kCausal) {}

  Value logits(const BuildContext& context, Value tokens) const override {
    return transformer_.logits(context, tokens);
  }
  std::vector<HiddenState> hidden_states(const BuildContext& context, Value tokens) const override {
    return transformer_.hidden_states(context, tokens);
  }
  bool is_causal() const override { return kCausal; }
  Value next_logits(const BuildContext& context, Value token, Value place) const override {
    return kCausal ? transformer_.next_logits(context, token, place) : Value();
  }
  Value position_table(const BuildContext& context, std::int64_t length) const override {
    return transformer_.position_table(context, length);
  }
  Value position_bias(const BuildContext& context, std::int64_t length) const override {
    return transformer_.position_bias(context, length);
  }
  std::string content_hash() const override { return transformer_.content_hash(); }

 private:
  Transformer transformer_;
};

}  // namespace jari
