#pragma once
// Family `init`: first values of a parameter. Always on the host, so that they are bit-equal on every device.

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "framework/graph/tensor_type.hpp"
#include "framework/spec/per_trial.hpp"

namespace jari {

// Looks up the value that one trial's resolved spec has for a hyperparameter.
class TrialValues {
 public:
  virtual ~TrialValues() = default;
  virtual double number(const std::string& spec_path) const = 0;
  double operator()(const PerTrial<double>& hyperparameter) const {
    return hyperparameter.spec_path().empty() ? hyperparameter.example() : number(hyperparameter.spec_path());
  }
};

struct InitContext {
  std::uint64_t seed;  // of the trial
  std::string path;    // of the parameter: names its stream of random numbers
  Shape shape;
  const TrialValues* values;  // null: every hyperparameter at its example
  double value_of(const PerTrial<double>& hyperparameter) const {
    return values ? (*values)(hyperparameter) : hyperparameter.example();
  }
};

class Init {
 public:
  static constexpr const char* kFamily = "init";
  virtual ~Init() = default;
  // Fills `out`, row-major, shape.size() numbers.
  virtual void fill(const InitContext& context, std::span<double> out) const = 0;
};

using Initializer = std::shared_ptr<const Init>;

// Draws on Philox, stream = hash64(path), step 0; bits depend on (seed, path, element) alone, so a longer parameter
// starts with the numbers of a shorter one.
// N(mean, sd^2) by Box and Muller (1958): block k makes elements 2k and 2k + 1, radius from words 0 and 1, angle from
// 2, 3.
void fill_normal(const InitContext& context, double mean, double standard_deviation, std::span<double> out);
// Uniform on [low, high): words 0 and 1 of block k make element 2k, words 2 and 3 element 2k + 1.
void fill_uniform(const InitContext& context, double low, double high, std::span<double> out);

// Initializers for models that fix their own (the spec's `init:` blocks are the registered components).
Initializer zeros();
Initializer constant_init(double value);
Initializer normal(double standard_deviation);  // N(0, sd^2), Box-Muller on Philox
Initializer uniform(double low, double high);

}  // namespace jari
