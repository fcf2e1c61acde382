// A causal transformer (Radford et al. 2019, "Language models are unsupervised multitask learners"): with its defaults,
// and positions: learned, it is GPT-2, whose checkpoints it takes.

#include "framework/plugin_api.hpp"

JARI_PLUGIN(registry) {
  registry.add<jari::Model, jari::TransformerModel<true>, jari::TransformerParameters>(
      "gpt", "a causal transformer: each token sees itself and what stands before it");
}
