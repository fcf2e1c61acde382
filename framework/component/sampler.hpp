#pragma once
// Family `sampler`: which ids stand in for wrong answers, and how often.

#include <cstdint>
#include <span>
#include <vector>

#include "framework/spec/fields.hpp"

namespace jari {

// Whom a draw of negatives serves.
enum class Share { pair, center, batch };
inline const EnumNames<Share>& enum_names(Share) {
  static const EnumNames<Share> names{{Share::pair, "pair"}, {Share::center, "center"}, {Share::batch, "batch"}};
  return names;
}

// What all samplers have.
struct NegativeSettings {
  std::int64_t count = 5;
  Share share = Share::pair;
  double weight = 1;

  template <class F>
  void fields(F& f) {
    f("count", count, "negatives that a true neighbor is compared with", between(1, 1 << 20));
    f("share", share, "whether each pair, each center or the whole batch draws its own");
    f("weight", weight,
      "of the mean over the negatives beside the true neighbor; 5 weighs as much as word2vec's sum over 5",
      more_than(0));
  }
};

class Sampler {
 public:
  static constexpr const char* kFamily = "sampler";
  virtual ~Sampler() = default;

  virtual NegativeSettings settings() const = 0;

  // How often each id is to be drawn, in proportion; `counts`: of the ids in the corpus.
  virtual std::vector<double> weights(std::span<const std::int64_t> counts) const = 0;
};

}  // namespace jari
