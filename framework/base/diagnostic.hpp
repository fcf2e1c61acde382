#pragma once
// Mistakes that the user made, collected so that all are told at once:
//
//   configs/lm.yaml:14:11: error: model.position.type: unknown position 'alibbi'
//      14 |     type: alibbi
//         |           ^^^^^^ did you mean 'alibi'? known: alibi, none, rope, sin

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/base/source_span.hpp"

namespace jari {

struct Diagnostic {
  SourceSpan span;
  std::string path;     // of the spec: "model.position.type", or ""
  std::string message;  // what was expected and what was found
  std::string hint;     // what to do, or ""
  int affected = 0;     // trials of a sweep that have this error; 0: there is no sweep
  int total = 0;
};

class Diagnostics {
 public:
  static constexpr std::size_t kMostShown = 20;

  // An error with the place, path and message of an earlier one is the same error.
  Diagnostic& add(Diagnostic diagnostic);
  void error(SourceSpan span, std::string path, std::string message, std::string hint = "");

  // Adds what was found in one trial of a sweep of `total` trials; equal errors of several trials are counted.
  void add_trial(const Diagnostics& of_trial, int total);

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const std::vector<Diagnostic>& all() const { return all_; }  // in the order of arrival

  // Sorted by place, at most kMostShown in full, ending with "2 errors; nothing was started.\n".
  std::string render() const;

  // Throws SpecError with the rendered text if there is an error.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> all_;
  std::unordered_map<std::string, std::size_t> index_;  // of all_, by place, path and message
};

// One error: place, message, source line, caret; ends with a line end.
std::string render(const Diagnostic& diagnostic);

}  // namespace jari
