#include "framework/component/init.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "framework/base/hash.hpp"
#include "framework/base/philox.hpp"

namespace jari {

namespace {

RandomStream stream_of(const InitContext& context) { return {context.seed, hash64(context.path), 0}; }

class ConstantInit final : public Init {
 public:
  explicit ConstantInit(double value) : value_(value) {}
  void fill(const InitContext&, std::span<double> out) const override { std::fill(out.begin(), out.end(), value_); }

 private:
  double value_;
};

class NormalInit final : public Init {
 public:
  explicit NormalInit(double standard_deviation) : standard_deviation_(standard_deviation) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    fill_normal(context, 0, standard_deviation_, out);
  }

 private:
  double standard_deviation_;
};

class UniformInit final : public Init {
 public:
  UniformInit(double low, double high) : low_(low), high_(high) {}
  void fill(const InitContext& context, std::span<double> out) const override {
    fill_uniform(context, low_, high_, out);
  }

 private:
  double low_, high_;
};

}  // namespace

void fill_normal(const InitContext& context, double mean, double standard_deviation, std::span<double> out) {
  const RandomStream random = stream_of(context);
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(i / 2));
    // 1 - u is in (0, 1], so the logarithm is finite.
    const double radius = std::sqrt(-2 * std::log(1 - uniform_f64(block.word[0], block.word[1])));
    const double angle = 2 * std::numbers::pi * uniform_f64(block.word[2], block.word[3]);
    out[i] = mean + standard_deviation * radius * std::cos(angle);
    if (i + 1 < out.size()) out[i + 1] = mean + standard_deviation * radius * std::sin(angle);
  }
}

void fill_uniform(const InitContext& context, double low, double high, std::span<double> out) {
  const RandomStream random = stream_of(context);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const PhiloxBlock block = random.block(static_cast<std::uint32_t>(i / 2));
    const int half = i % 2 == 0 ? 0 : 2;
    out[i] = low + (high - low) * uniform_f64(block.word[half], block.word[half + 1]);
  }
}

Initializer zeros() { return constant_init(0); }
Initializer constant_init(double value) { return std::make_shared<ConstantInit>(value); }
Initializer normal(double standard_deviation) { return std::make_shared<NormalInit>(standard_deviation); }
Initializer uniform(double low, double high) { return std::make_shared<UniformInit>(low, high); }

}  // namespace jari
