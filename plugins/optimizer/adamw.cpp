// AdamW (Loshchilov and Hutter 2019, "Decoupled weight decay regularization"), with PyTorch's update rule and defaults.

#include "framework/plugin_api.hpp"

JARI_PLUGIN(registry) {
  using AdamW = jari::AdamOptimizer<true>;
  registry.add<jari::Optimizer, AdamW, AdamW::Parameters>("adamw", "adaptive moments with decoupled weight decay");
}
