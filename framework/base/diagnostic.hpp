#pragma once
// Mistakes that the user made, collected so that all are told at once:
//
//   configs/lm.yaml:14:11: error: model.position.type: unknown position 'alibbi'
//      14 |     type: alibbi
//         |           ^^^^^^ did you mean 'alibi'? known: alibi, none, rope, sin

#include <cstddef>
#include <functional>
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

  // Of a sweep.
  std::vector<std::size_t> trials{};  // that have this error, in order
  std::size_t total = 0;              // trials of the sweep; 0: there is no sweep
  std::string which{};                // what the trials have in common, or ""
  std::string remedy{};               // what to do if they are not meant to be there, or ""
};

class Diagnostics {
 public:
  static constexpr std::size_t kMostShown = 20;

  // An error with the place, path and message of an earlier one is the same error.
  Diagnostic& add(Diagnostic diagnostic);
  void error(SourceSpan span, std::string path, std::string message, std::string hint = "");

  // Adds what was found in trial `index` of a sweep of `total` trials; equal errors of several trials are one.
  void add_trial(const Diagnostics& of_trial, std::size_t index, std::size_t total);

  // Lets `name` fill `which` and `remedy` of the errors that render() shows and that some of the trials have.
  void name_trials(const std::function<void(Diagnostic&)>& name);

  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const std::vector<Diagnostic>& all() const { return all_; }  // in the order of arrival

  // Sorted by place, at most kMostShown in full, ending with "2 errors; nothing was started.\n".
  std::string render() const;

  // Throws SpecError with the rendered text if there is an error.
  void throw_if_any() const;

 private:
  std::vector<std::size_t> shown() const;  // indices of all_, sorted by place, at most kMostShown

  std::vector<Diagnostic> all_;
  std::unordered_map<std::string, std::size_t> index_;  // of all_, by place, path and message
};

// One error: place, message, source line, caret; ends with a line end.
std::string render(const Diagnostic& diagnostic);

}  // namespace jari
