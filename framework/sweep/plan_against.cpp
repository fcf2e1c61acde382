#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "framework/base/text.hpp"
#include "framework/sweep/plan.hpp"
#include "framework/sweep/trial_sets.hpp"

namespace jari {
namespace {

std::vector<std::size_t> trials_in(const Sweep& sweep, const Sweep& other, bool wanted) {
  std::set<std::string> hashes;
  for (const Trial& trial : other.trials) hashes.insert(trial.hash);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    if (hashes.contains(sweep.trials[i].hash) == wanted) result.push_back(i);
  }
  return result;
}

// "seed 42", or "5 seeds".
std::string seeds_text(const std::vector<std::string>& seeds) {
  return seeds.size() == 1 ? fmt::format("seed {}", seeds.front()) : fmt::format("{} seeds", seeds.size());
}

// One line a combination, with its seeds.
std::string listing(const Sweep& sweep, const std::vector<std::size_t>& trials) {
  constexpr std::size_t kMostLines = 20;
  std::vector<std::pair<std::string, std::vector<std::string>>> combinations;  // trials of one stand together
  for (const std::size_t trial : trials) {
    const VaryingKeys& varying = sweep.trials[trial].varying;
    std::string text = combination_text(varying);
    if (combinations.empty() || combinations.back().first != text)
      combinations.emplace_back(std::move(text), std::vector<std::string>{});
    combinations.back().second.push_back(varying.back().second);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(combinations.size(), kMostLines); ++i) {
    const auto& [combination, seeds] = combinations[i];
    text += fmt::format("  {}{}{}\n", combination, combination.empty() ? "" : ", ", seeds_text(seeds));
  }
  if (combinations.size() > kMostLines) text += fmt::format("  ... and {} more\n", combinations.size() - kMostLines);
  return text;
}

std::string section(const char* name, const Sweep& sweep, const std::vector<std::size_t>& trials) {
  if (trials.empty()) return "";
  if (trials.size() == sweep.trials.size()) return fmt::format("{}: all {} trials\n", name, trials.size());
  std::vector<const VaryingKeys*> all;
  for (const Trial& trial : sweep.trials) all.push_back(&trial.varying);
  if (const auto values = common_values(all, trials)) {
    return fmt::format("{}: the {} with {}\n", name, trials.size(), to_text(*values));
  }
  if (const auto values = separating_values(all, trials)) {
    std::vector<std::string> parts;
    for (const AxisValues& axis : *values) parts.push_back("those with " + to_text({axis}));
    return fmt::format("{}: {}\n", name, joined(parts, ", and "));
  }
  return fmt::format("{}:\n{}", name, listing(sweep, trials));
}

}  // namespace

std::string against_text(const Sweep& sweep, const Sweep& old, const std::string& old_name) {
  const std::vector<std::size_t> added = trials_in(sweep, old, false), reused = trials_in(sweep, old, true),
                                 dropped = trials_in(old, sweep, false);
  std::string text = fmt::format("against {}: {} added, {} reused, {} dropped\n", old_name, added.size(), reused.size(),
                                 dropped.size());
  if (!reused.empty() && sweep.experiment != old.experiment) {
    text += fmt::format(
        "the old runs are in the folder of '{}' and this spec's go into '{}': they are found again under one name "
        "only\n",
        old.experiment, sweep.experiment);
  }
  return text + section("added", sweep, added) + section("reused", sweep, reused) + section("dropped", old, dropped);
}

}  // namespace jari
