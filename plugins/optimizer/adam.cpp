// Adam (Kingma and Ba 2015), with PyTorch's update rule and defaults; weight decay is added to the gradient.

#include "framework/plugin_api.hpp"

JARI_PLUGIN(registry) {
  using Adam = jari::AdamOptimizer<false>;
  registry.add<jari::Optimizer, Adam, Adam::Parameters>("adam",
                                                        "adaptive moments; weight decay is part of the gradient");
}
