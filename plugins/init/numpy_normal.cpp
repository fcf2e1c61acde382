// The values of NumPy's `default_rng(seed).normal(mean, std, shape)`, bit for bit.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct NumpyNormalParameters {
  std::optional<std::int64_t> seed;
  double std = 0.02;
  double mean = 0;
  std::int64_t skip = 0;
  template <class F>
  void fields(F& f) {
    f("seed", seed, "seed of NumPy's generator; by default the trial's", at_least(0));
    f("std", std, "standard deviation", at_least(0));
    f("mean", mean, "mean");
    f("skip", skip, "draws made before: the size of the tables that the same generator filled first", at_least(0));
  }
};

class NumpyNormal final : public Init {
 public:
  explicit NumpyNormal(const NumpyNormalParameters& parameters) : parameters_(parameters) {}

  void fill(const InitContext& context, std::span<double> out) const override {
    NumpyRandom random(parameters_.seed ? static_cast<std::uint64_t>(*parameters_.seed) : context.seed);
    for (std::int64_t i = 0; i < parameters_.skip; ++i) random.standard_normal();
    // In two passes: a fused multiply-add would round otherwise than NumPy.
    for (double& value : out) value = parameters_.std * random.standard_normal();
    for (double& value : out) value += parameters_.mean;
  }

 private:
  NumpyNormalParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Init, jari::NumpyNormal, jari::NumpyNormalParameters>(
      "numpy_normal", "the values of NumPy's default_rng(seed).normal");
}
