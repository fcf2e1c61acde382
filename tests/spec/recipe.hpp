#pragma once
// A small spec with everything that a parameter struct may hold, for the tests of this folder.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "framework/registry/registry.hpp"

namespace jari::test {

struct Position {
  static constexpr const char* kFamily = "position";
  virtual ~Position() = default;
};
struct Model {
  static constexpr const char* kFamily = "model";
  virtual ~Model() = default;
};
struct Optimizer {
  static constexpr const char* kFamily = "optimizer";
  virtual ~Optimizer() = default;
};

enum class Sides { both, left, right };
inline const EnumNames<Sides>& enum_names(Sides) {
  static const EnumNames<Sides> names{{Sides::both, "both"}, {Sides::left, "left"}, {Sides::right, "right"}};
  return names;
}

struct AlibiParameters {
  PerTrial<double> slope_scale = 1.0;
  Sides sides = Sides::both;
  template <class F>
  void fields(F& f) {
    f("slope_scale", slope_scale, "multiplies the slope of every head", more_than(0));
    f("sides", sides, "which distances are penalised");
  }
};
struct LearnedParameters {
  int max_length = 0;
  template <class F>
  void fields(F& f) {
    f("max_length", max_length, "longest sequence", required, at_least(1), unit("tokens"));
  }
};
struct ProbeParameters {
  int width = 128;
  int heads = 4;
  Slot<Position> position{"none"};
  template <class F>
  void fields(F& f) {
    f("width", width, "of an embedding", at_least(1));
    f("heads", heads, "of attention", between(1, 64));
    f("position", position, "how tokens know where they stand");
  }
  void check(FieldChecks& checks) const {
    if (width % heads != 0) {
      checks.error("width", std::to_string(width) + " can not be divided by " + std::to_string(heads) + " heads",
                   "a multiple of heads");
    }
  }
};
struct Group {
  std::string match;
  std::optional<double> lr;
  template <class F>
  void fields(F& f) {
    f("match", match, "pattern of parameter paths", required);
    f("lr", lr, "learning rate of these", more_than(0));
  }
};
struct AdamParameters {
  PerTrial<double> lr = 1e-3;
  std::vector<double> betas{0.9, 0.999};
  std::vector<Group> groups;
  template <class F>
  void fields(F& f) {
    f("lr", lr, "learning rate", more_than(0));
    f("betas", betas, "decay of the moments", from_below(0, 1));
    f("groups", groups, "parameters with values of their own");
  }
};

struct None final : Position {};
struct Sin final : Position {};
struct Alibi final : Position {
  explicit Alibi(const AlibiParameters& given) : parameters(given) {}
  AlibiParameters parameters;
};
struct Learned final : Position {
  explicit Learned(const LearnedParameters& given) : parameters(given) {}
  LearnedParameters parameters;
};
struct Probe final : Model {
  explicit Probe(const ProbeParameters& given) : parameters(given) {}
  ProbeParameters parameters;
};
struct Adam final : Optimizer {
  explicit Adam(const AdamParameters& given) : parameters(given) {}
  AdamParameters parameters;
};

inline Registry recipe_registry() {
  Registry registry;
  registry.add<Position, None>("none", "no positions");
  registry.add<Position, Sin>("sin", "sines and cosines");
  registry.add<Position, Alibi, AlibiParameters>("alibi", "linear distance bias per head");
  registry.add<Position, Learned, LearnedParameters>("learned", "a table");
  registry.add<Model, Probe, ProbeParameters>("probe", "one layer of attention");
  registry.add<Optimizer, Adam, AdamParameters>("adam", "Adam (Kingma, Ba 2015)");
  return registry;
}

struct Checkpoint {
  int every = 500;
  int keep = 2;
  template <class F>
  void fields(F& f) {
    f("every", every, "between two checkpoints", at_least(1), unit("steps"));
    f("keep", keep, "how many stay", at_least(1), output_setting);
  }
};
struct Train {
  std::int64_t steps = 0;
  int batch = 32;
  std::int64_t length = 20;
  double dropout = 0;
  std::optional<double> clip_norm;
  Slot<Optimizer> optimizer{"adam"};
  Checkpoint checkpoint;
  template <class F>
  void fields(F& f) {
    f("steps", steps, "updates of the weights", required, at_least(1), unit("steps"));
    f("batch", batch, "sequences a step", at_least(1), unit("sequences"));
    f("length", length, "of a sequence", at_least(1), unit("tokens"));
    f("dropout", dropout, "share of values set to zero", from_below(0, 1));
    f("clip_norm", clip_norm, "longest gradient", more_than(0));
    f("optimizer", optimizer, "what updates the weights");
    f("checkpoint", checkpoint, "what is kept on the way");
  }
};
struct Evaluation {
  int length = 0;
  std::optional<int> seen;
  template <class F>
  void fields(F& f) {
    f("length", length, "of a sequence", required, at_least(1), unit("tokens"));
    f("seen", seen, "positions known from training", at_least(0));
  }
};
struct Recipe {
  std::string experiment;
  std::int64_t seed = 1;
  bool shuffle = true;
  std::vector<std::string> words;
  Slot<Model> model;
  Train train;
  SpecMap<Evaluation> evaluate;
  SpecNode notes;
  template <class F>
  void fields(F& f) {
    f("experiment", experiment, "names the folder of the runs", required, output_setting);
    f("seed", seed, "of the first trial", at_least(0));
    f("shuffle", shuffle, "whether the order is random");
    f("words", words, "looked at after training");
    f("model", model, "what is trained");
    f("train", train, "how it is trained");
    f("evaluate", evaluate, "evaluations by name");
    f("notes", notes, "anything", output_setting);
  }
};

}  // namespace jari::test
