// Every id as often as every other: the choice of the source's word2vec_zero.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class UniformSampler final : public Sampler {
 public:
  explicit UniformSampler(const NegativeSettings& settings) : settings_(settings) {}
  NegativeSettings settings() const override { return settings_; }
  std::vector<double> weights(std::span<const std::int64_t> counts) const override {
    return std::vector<double>(counts.size(), 1.0);
  }

 private:
  NegativeSettings settings_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Sampler, jari::UniformSampler, jari::NegativeSettings>("uniform", "all ids alike");
}
