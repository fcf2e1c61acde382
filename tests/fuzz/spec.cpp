// A spec from its text to typed trials and their graphs, with the built-in components. Input: the text; behind a line
// "====", overrides, one a line; behind another one, the text of a parent.

#include <algorithm>
#include <optional>
#include <sstream>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/scalar.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/sweep/sweep.hpp"
#include "framework/sweep/trial_sets.hpp"
#include "tests/fuzz/expect.hpp"

namespace jari::fuzz {
namespace {

const Registry& registry() {
  static const Registry builtin = [] {
    Registry result;
    register_builtin_plugins(result);
    return result;
  }();
  return builtin;
}

// Trials that are bound; all of them are expanded.
constexpr std::size_t kMostBound = 4;
constexpr std::size_t kMostDeclared = 200;

std::vector<std::string> sections_of(const std::string& text) {
  constexpr std::string_view kMark = "\n====\n";
  std::vector<std::string> sections;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(kMark, begin), text.size());
    sections.push_back(text.substr(begin, end - begin));
    begin = end + kMark.size();
  }
  return sections;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line) && lines.size() < 10;) lines.push_back(line);
  return lines;
}

// Whether every number in a tree is at most `limit`.
bool is_small(const SpecNode& node, double limit) {
  const std::optional<double> number = node.is_scalar() ? parse_number(node.text) : std::nullopt;
  return (!number || *number <= limit) &&
         std::all_of(node.items.begin(), node.items.end(), [&](const auto& item) { return is_small(item, limit); }) &&
         std::all_of(node.entries.begin(), node.entries.end(),
                     [&](const auto& entry) { return is_small(entry.value, limit); });
}

// At least as many as the trials that a tree of axes declares: lists multiply, and so do numbers of draws.
std::size_t most_trials(const SpecNode& node) {
  std::size_t product = std::max<std::size_t>(1, node.items.size());
  const auto multiply = [&product](std::size_t by) { product = std::min(product * by, kMostDeclared + 1); };
  for (const SpecNode& item : node.items) multiply(most_trials(item));
  for (const SpecEntry& entry : node.entries) {
    multiply(most_trials(entry.value));
    if (entry.key == "trials") multiply(is_small(entry.value, 8) ? 8 : kMostDeclared + 1);  // of random and sobol
  }
  return product;
}

// A spec may declare a hundred thousand trials, which takes too long for a million inputs.
bool declares_few_trials(const SpecNode& spec) {
  const SpecNode* sweep = spec.find("sweep");
  const SpecNode* seeds = spec.find("seeds");
  return (sweep == nullptr || most_trials(*sweep) <= kMostDeclared) && (seeds == nullptr || is_small(*seeds, 4));
}

void check_resolved(const SpecNode& resolved) {
  Diagnostics diagnostics;
  const SpecNode again = read_yaml_text(to_yaml(resolved), "again.yaml", diagnostics);
  expect(diagnostics.empty(), "a resolved spec can be read:\n" + diagnostics.render() + to_yaml(resolved));
  Experiment experiment;
  SpecNode second;
  Binder(&registry(), diagnostics).bind(again, "", experiment, second);
  expect(diagnostics.empty(), "a resolved spec binds:\n" + diagnostics.render() + to_yaml(resolved));
  expect(same_value(resolved, second), "a resolved spec resolves to itself:\n" + to_yaml(resolved) + to_yaml(second));
}

// Graphs of small shapes; they are not planned, so nothing takes the memory of tensors.
void build_graphs(const Experiment& experiment, const SpecNode& resolved) {
  constexpr double kLargest = 300;
  for (const char* part : {"task", "model", "evaluate", "analyses"}) {
    const SpecNode* node = resolved.find(part);
    if (node != nullptr && !is_small(*node, part == std::string("evaluate") ? 4096 : kLargest)) return;
  }
  if (!experiment.train || experiment.train->batch > 300 || experiment.train->length > 300) return;
  try {
    const TrialPrograms programs(experiment);
    if (experiment.train) experiment.train->optimizer->check(programs.trained_paths());
  } catch (const ShapeError&) {
  }
}

// `is_whole`: reading found no mistake. A value that was refused there is not told of again when it is bound.
void check_trial(const SpecNode& spec, bool is_whole, Diagnostics& own) {
  Experiment experiment;
  SpecNode resolved;
  Binder(&registry(), own).bind(spec, "", experiment, resolved);
  if (!is_whole || !own.empty()) return;
  check_resolved(resolved);
  build_graphs(experiment, resolved);
}

void check_trials(const Expansion& expansion, Diagnostics& diagnostics) {
  const bool is_whole = diagnostics.empty();
  std::vector<TrialView> views;
  const std::size_t count = std::min(kMostBound, expansion.cells.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Expansion::Cell& cell = expansion.cells[i];
    Diagnostics own;
    check_trial(cell.spec, is_whole, own);
    diagnostics.add_trial(own, i, count);
    views.push_back({&cell.varying, &cell.spec});
  }
  name_trials(diagnostics, views);
}

void check(const std::string& text) {
  const std::vector<std::string> sections = sections_of(text);
  Diagnostics diagnostics;
  SpecNode spec = read_yaml_text(sections[0], "spec.yaml", diagnostics);
  if (sections.size() > 2) {
    SpecNode parent = read_yaml_text(sections[2], "parent.yaml", diagnostics);
    if (spec.is_mapping() && parent.is_mapping()) {
      merge_into(parent, std::move(spec));
      spec = std::move(parent);
    }
  }
  if (spec.is_mapping()) {
    if (sections.size() > 1) set_overrides(spec, lines_of(sections[1]), diagnostics);
    if (declares_few_trials(spec)) check_trials(expand(spec, diagnostics), diagnostics);
  }
  const std::string errors = diagnostics.render();
  expect(!first_invalid_utf8(errors), "errors are UTF-8");
  const auto is_control = [](unsigned char byte) { return (byte < 0x20 && byte != '\n') || byte == 0x7F; };
  expect(std::none_of(errors.begin(), errors.end(), is_control), "errors hold no control characters");
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  jari::fuzz::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
