#pragma once
// Finds the first place where a number stops being finite: an observer that looks at every operand of every call.

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "framework/program/observer.hpp"

namespace jari {

struct NonFinite {
  std::int64_t step = 0;  // as the program counts: from 0
  std::string path;       // of the node, or the name of a parameter or input that was bad before it was used
  std::string op;         // "" for a parameter or input
  SourceSpan span;        // the spec line that made the node
  std::string text;       // "3 of 4096 elements of its f32[16, 256] are nan, the first at [0, 12]; ..."

  // "exp at model/attention/weights (configs/a.yaml:12:3): 3 of 4096 ..."
  std::string to_string() const;
};

// A node counts as the first if its result holds a NaN and no operand does, or an infinity and all operands are finite:
// masks of minus infinity, which attention is given on purpose, do not count.
class NonFiniteSearch final : public Observer {
 public:
  void before(int trial, std::int64_t step, const NodeView& node) override;
  void after(int trial, std::int64_t step, const NodeView& node) override;

  std::optional<NonFinite> found(int trial) const;

 private:
  struct Progress {
    bool nan_in = false, infinity_in = false;  // of the call that runs
    double largest_in = 0;
    std::optional<NonFinite> found;
  };
  Progress& progress(int trial);

  mutable std::mutex mutex_;
  std::map<int, Progress> trials_;  // each used by one thread at a time
};

}  // namespace jari
