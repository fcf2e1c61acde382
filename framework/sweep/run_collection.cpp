#include "framework/sweep/run_collection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "framework/base/diagnostic.hpp"
#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/run_directory.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperiment = "experiment";

struct FoundFiles {
  std::vector<fs::path> runs;
  std::vector<fs::path> unfinished;  // folders with a journal and no run file
};

void add_folder(const fs::path& folder, FoundFiles& found) {
  const fs::path run = folder / kRunFile;
  if (fs::is_regular_file(run))
    found.runs.push_back(run);
  else if (fs::exists(folder / kJournalFile))
    found.unfinished.push_back(folder);
}

FoundFiles find_files(const std::vector<fs::path>& paths) {
  FoundFiles found;
  for (const fs::path& path : paths) {
    if (!fs::exists(path)) throw StoreError(fmt::format("{}: there is no such file or folder", path.string()));
    if (!fs::is_directory(path)) {
      found.runs.push_back(path);
      continue;
    }
    add_folder(path, found);
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_directory()) add_folder(entry.path(), found);
  }
  const auto keep_each_once = [](std::vector<fs::path>& all) {
    std::set<fs::path> seen;
    std::erase_if(all, [&seen](const fs::path& path) { return !seen.insert(fs::weakly_canonical(path)).second; });
  };
  keep_each_once(found.runs);
  keep_each_once(found.unfinished);
  return found;
}

bool is_finished(const std::string& status) {
  return status == "finished" || status == "stopped" || status == "repaired";
}

std::string first_few(const std::vector<std::string>& names) {
  constexpr std::size_t few = 5;
  if (names.size() <= few) return joined(names);
  return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + few, ", "), names.size() - few);
}

SpecNode parse_resolved(const RunSummary& summary) {
  Diagnostics diagnostics;
  SpecNode spec = read_yaml_text(summary.spec_resolved, summary.path.string() + ":/spec/resolved", diagnostics);
  diagnostics.throw_if_any();
  return spec;
}

// The finished trials in the order of the sweep; what is left out goes into the notes.
std::vector<CollectedRun> load(const FoundFiles& found, std::vector<std::string>& notes) {
  std::vector<CollectedRun> runs;
  std::vector<std::string> unfinished, copies;
  for (const fs::path& folder : found.unfinished) unfinished.push_back(folder.filename().string() + " (no run file)");
  std::set<std::pair<std::string, std::string>> identities;
  for (const fs::path& path : found.runs) {
    try {
      RunSummary summary = read_run_summary(path);
      const RunAttributes& attributes = summary.attributes;
      if (!is_finished(attributes.status)) {
        unfinished.push_back(fmt::format("{} ({})", path.parent_path().filename().string(), attributes.status));
      } else if (!identities.emplace(attributes.experiment, attributes.trial).second) {
        copies.push_back(path.string());  // would count one seed twice
      } else {
        SpecNode spec = parse_resolved(summary);
        runs.push_back({std::move(summary), std::move(spec)});
      }
    } catch (const Error& error) {
      notes.push_back(fmt::format("left out: {}", error.what()));
    }
  }
  const std::size_t total = found.runs.size() + found.unfinished.size();
  if (!unfinished.empty())
    notes.push_back(fmt::format("{} of {} trials {} not finished: {}", unfinished.size(), total,
                                unfinished.size() == 1 ? "is" : "are", first_few(unfinished)));
  if (!copies.empty()) notes.push_back(fmt::format("copies of other runs are left out: {}", first_few(copies)));
  std::ranges::sort(runs, {}, [](const CollectedRun& run) {
    const RunAttributes& attributes = run.summary.attributes;
    return std::tie(attributes.experiment, attributes.index, attributes.created, run.summary.path);
  });
  return runs;
}

KeyColumn experiment_column(const std::vector<CollectedRun>& runs) {
  KeyColumn column{kExperiment, {}};
  for (const CollectedRun& run : runs) column.values.push_back(run.summary.attributes.experiment);
  return column;
}

}  // namespace

const double* CollectedRun::find(const std::string& metric) const {
  const auto& values = summary.values;
  const auto found =
      std::ranges::find(values, metric, [](const auto& value) -> const std::string& { return value.first; });
  return found == values.end() ? nullptr : &found->second;
}

RunCollection collect_runs(const std::vector<fs::path>& paths) {
  const FoundFiles found = find_files(paths);
  RunCollection collection;
  collection.runs = load(found, collection.notes);
  if (!collection.runs.empty()) return collection;
  std::vector<std::string> names;
  for (const fs::path& path : paths) names.push_back(path.string());
  std::string message = fmt::format(
      "{}: there is no finished run in or below it; give the folder of an experiment "
      "(runs/<experiment>), or run its spec first",
      joined(names));
  for (const std::string& note : collection.notes) message += "\n  " + note;
  throw StoreError(message);
}

std::vector<KeyColumn> key_columns(const std::vector<CollectedRun>& runs, const std::vector<std::string>& by) {
  SpecTrees trees;
  for (const CollectedRun& run : runs) trees.push_back(&run.spec);
  std::vector<KeyColumn> varying = varying_columns(trees);
  KeyColumn experiments = experiment_column(runs);
  if (std::ranges::adjacent_find(experiments.values, std::ranges::not_equal_to{}) != experiments.values.end())
    varying.insert(varying.begin(), experiments);
  if (by.empty()) return varying;

  std::vector<KeyColumn> selected;
  for (const std::string& path : by) {
    const bool known = std::ranges::any_of(trees, [&](const SpecNode* tree) { return tree->find_path(path); });
    if (path == kExperiment) {
      selected.push_back(experiments);
    } else if (known) {
      selected.push_back(column_of(trees, path));
    } else {
      std::vector<std::string> names;
      for (const KeyColumn& column : varying) names.push_back(column.path);
      std::vector<std::string> candidates = names;
      for (const SpecNode* tree : trees) std::ranges::move(all_key_paths(*tree), std::back_inserter(candidates));
      fail_unknown_name("--by: no run has the key", path, candidates, "keys that vary: " + joined(names));
    }
  }
  return selected;
}

std::vector<RunCell> cells_of(const std::vector<CollectedRun>& runs, const std::vector<KeyColumn>& columns) {
  std::vector<RunCell> cells;
  std::map<std::vector<std::string>, std::size_t> places;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> keys;
    for (const KeyColumn& column : columns) keys.push_back(column.values[i]);
    const auto [place, is_new] = places.emplace(keys, cells.size());
    if (is_new) cells.push_back({std::move(keys), {}});
    cells[place->second].runs.push_back(&runs[i]);
  }
  return cells;
}

void fail_unknown_name(const std::string& what, const std::string& name, const std::vector<std::string>& candidates,
                       const std::string& list) {
  const auto nearest = closest(name, candidates);
  const std::string hint = nearest ? fmt::format("did you mean '{}'? ", *nearest) : "";
  throw SpecError(fmt::format("{} '{}'; {}{}", what, name, hint, list));
}

}  // namespace jari
