// A transformer that sees both ways (Devlin et al. 2019, "BERT", of which it is the stack of blocks).

#include "framework/plugin_api.hpp"

JARI_PLUGIN(registry) {
  registry.add<jari::Model, jari::TransformerModel<false>, jari::TransformerParameters>(
      "encoder", "a transformer in which each token sees all of its sequence");
}
