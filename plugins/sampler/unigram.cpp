// As often as they occur, to a power (Mikolov and others 2013: 0.75).

#include <cmath>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct UnigramParameters {
  NegativeSettings settings;
  double power = 0.75;
  template <class F>
  void fields(F& f) {
    settings.fields(f);
    f("power", power, "of the counts: 1 draws as in the corpus, 0 uniformly", between(-2, 2));
  }
};

class UnigramSampler final : public Sampler {
 public:
  explicit UnigramSampler(const UnigramParameters& parameters) : parameters_(parameters) {}
  NegativeSettings settings() const override { return parameters_.settings; }
  std::vector<double> weights(std::span<const std::int64_t> counts) const override {
    std::vector<double> weights;
    for (const std::int64_t count : counts)
      weights.push_back(count > 0 ? std::pow(static_cast<double>(count), parameters_.power) : 0.0);
    return weights;
  }

 private:
  UnigramParameters parameters_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Sampler, jari::UnigramSampler, jari::UnigramParameters>("unigram",
                                                                             "by the counts in the corpus, to a power");
}
