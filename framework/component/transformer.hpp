#pragma once
// Blocks of attention and MLP around a residual stream (Vaswani et al. 2017), what model/gpt and model/encoder share:
//
//   x = embedding[tokens] (+ positions)
//   x = x + attention(norm(x));  x = x + mlp(norm(x))        each block; norm: before
//   x = norm(x + attention(x));  x = norm(x + mlp(x))        each block; norm: after
//   logits = norm(x) embedding^T                              tied; norm: after has no last norm
//
// Parameters, with GPT-2's names beside them (Radford et al. 2019, as Hugging Face writes them):
//   embedding [token, width]                                  wte.weight
//   block0/attention_norm/scale, shift [width]                h.0.ln_1.weight, bias
//   block0/attention/weight [width, 3 width], bias            h.0.attn.c_attn: query, key, value side by side
//   block0/attention/output_weight [width, width], .._bias    h.0.attn.c_proj
//   block0/mlp_norm/scale, shift                              h.0.ln_2
//   block0/mlp/weight [width, hidden], bias                   h.0.mlp.c_fc
//   block0/mlp/gate_weight [width, hidden], gate_bias         of swiglu (Shazeer 2020), which GPT-2 has not
//   block0/mlp/output_weight [hidden, width], output_bias     h.0.mlp.c_proj
//   norm/scale, shift                                         ln_f
//   output_weight [token, width]                              of an untied output

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/component/model.hpp"
#include "framework/component/position.hpp"
#include "framework/registry/slot.hpp"
#include "framework/spec/fields.hpp"
#include "framework/spec/spec_path.hpp"

namespace jari {

enum class NormKind { layer, rms };
enum class NormPlace { before, after };
enum class Activation { gelu, gelu_exact, relu, swiglu };

inline const EnumNames<NormKind>& enum_names(NormKind) {
  static const EnumNames<NormKind> names{{NormKind::layer, "layer"}, {NormKind::rms, "rms"}};
  return names;
}
inline const EnumNames<NormPlace>& enum_names(NormPlace) {
  static const EnumNames<NormPlace> names{{NormPlace::before, "before"}, {NormPlace::after, "after"}};
  return names;
}
inline const EnumNames<Activation>& enum_names(Activation) {
  static const EnumNames<Activation> names{{Activation::gelu, "gelu"},
                                           {Activation::gelu_exact, "gelu_exact"},
                                           {Activation::relu, "relu"},
                                           {Activation::swiglu, "swiglu"}};
  return names;
}

struct TransformerParameters {
  std::int64_t blocks = 4, heads = 4, width = 128;
  double mlp_ratio = 4, embedding_scale = 1;
  NormKind norm = NormKind::layer;
  NormPlace norm_place = NormPlace::before;
  double epsilon = 1e-5;
  Activation activation = Activation::gelu;
  bool bias = true, tied = true;
  std::optional<PerTrial<double>> dropout, attention_dropout;
  PerTrial<double> init_deviation = 0.02;
  Slot<Position> position;
  std::optional<SpecPath> checkpoint;

  template <class F>
  void fields(F& f) {
    f("blocks", blocks, "pairs of attention and MLP", at_least(1));
    f("heads", heads, "attention heads; must divide the width", at_least(1));
    f("width", width, "numbers a token", at_least(1));
    f("mlp_ratio", mlp_ratio, "width of the MLP's inner layer, times `width`", more_than(0));
    f("embedding_scale", embedding_scale,
      "what token rows are multiplied by before positions are added; for sin, whose waves have size 1, the root of the "
      "width (Vaswani et al. 2017)",
      more_than(0));
    f("norm", norm, "layer: mean and variance (Ba et al. 2016); rms: mean square alone (Zhang and Sennrich 2019)");
    f("norm_place", norm_place, "before each layer and once at the end, as GPT-2; or after each sum");
    f("epsilon", epsilon, "added to the norms' variance", more_than(0));
    f("activation", activation, "of the MLP; gelu is GPT-2's, with tanh; swiglu has a gate: a third matrix");
    f("bias", bias, "whether linear maps add a vector, and norms shift");
    f("tied", tied, "whether the output's matrix is the token table");
    f("dropout", dropout, "share of the embedding's and each layer's output that is dropped in training",
      from_below(0, 1));
    f("attention_dropout", attention_dropout,
      "share of the attention's probabilities that is dropped in training, GPT-2's attn_pdrop; takes longer and more "
      "memory, since the probabilities of a batch are kept",
      from_below(0, 1));
    f("init_deviation", init_deviation,
      "standard deviation of first weights; that of layers which write to the stream is divided by sqrt(2 blocks)",
      more_than(0));
    f("position", position, "how the model knows where a token stands", required);
    f("checkpoint", checkpoint, "first weights from this safetensors file with GPT-2's names", output_setting);
  }
  void check(FieldChecks& checks) const;
};

class CheckpointValues;

class Transformer {
 public:
  Transformer(const TransformerParameters& parameters, bool causal);

  // tokens: i32 [batch, length] -> [batch, length, vocabulary].
  Value logits(const BuildContext& context, Value tokens) const;

  // SequenceModel::next_logits, with kept keys and values. Causal models only.
  Value next_logits(const BuildContext& context, Value token, Value place) const;

  // The stream after the embedding, then after attention and after the MLP of each block.
  std::vector<HiddenState> hidden_states(const BuildContext& context, Value tokens) const;

  Value position_table(const BuildContext& context, std::int64_t length) const;
  Value position_bias(const BuildContext& context, std::int64_t length) const;
  std::string content_hash() const;  // of the checkpoint

 private:
  struct Decoding;

  BuildContext with_checkpoint(const BuildContext& given) const;
  PositionContext place_tokens(const BuildContext& context) const;
  Value embed(const BuildContext& context, Value tokens, const PositionContext& at) const;
  Value block(const BuildContext& context, std::int64_t index, Value x, const PositionContext& at,
              const Decoding* decoding, std::vector<HiddenState>* states) const;
  Value attend(const BuildContext& context, const std::string& block, Value x, const PositionContext& at,
               const Decoding* decoding) const;
  Value score(const BuildContext& context, const std::string& path, const std::vector<Value>& projected,
              const PositionContext& at) const;
  Value score_cached(const BuildContext& context, const std::string& path, const std::vector<Value>& projected,
                     const PositionContext& at, const Decoding& decoding) const;
  Value mlp(const BuildContext& context, const std::string& block, Value x) const;
  Value output(const BuildContext& context, Value x) const;
  Value norm(const BuildContext& context, const std::string& name, Value x) const;
  Value drop(const BuildContext& context, Value x) const;
  Value linear(const BuildContext& context, const std::string& name, Value x, std::int64_t width,
               Initializer init) const;
  Initializer weights() const;         // of a layer's first matrix
  Initializer output_weights() const;  // of the one that writes to the stream

  TransformerParameters parameters_;
  bool causal_;
  std::shared_ptr<const CheckpointValues> checkpoint_;  // null: none
};

}  // namespace jari
