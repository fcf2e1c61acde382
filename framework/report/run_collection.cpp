#include "framework/report/run_collection.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "framework/base/diagnostic.hpp"
#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/key_paths.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/run_index.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperiment = "experiment";
constexpr const char* kSeed = "seed";

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
    std::set<std::pair<dev_t, ino_t>> seen;
    std::erase_if(all, [&seen](const fs::path& path) {
      struct stat status {};
      return ::stat(path.c_str(), &status) == 0 && !seen.emplace(status.st_dev, status.st_ino).second;
    });
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

// Parses resolved specs, once for all that are equal but for the line of their seed.
class SpecParser {
 public:
  std::shared_ptr<const SpecNode> parse(const RunSummary& summary) {
    std::shared_ptr<const SpecNode>& spec = specs_[without_seed(summary.spec_resolved)];
    if (spec) return spec;
    Diagnostics diagnostics;
    SpecNode parsed = read_yaml_text(summary.spec_resolved, summary.path.string() + ":/spec/resolved", diagnostics);
    diagnostics.throw_if_any();
    spec = std::make_shared<const SpecNode>(std::move(parsed));
    return spec;
  }

 private:
  static std::string without_seed(const std::string& text) {
    constexpr std::string_view key = "seed: ";
    std::size_t begin = text.starts_with(key) ? 0 : text.find("\nseed: ");
    if (begin == std::string::npos) return text;
    begin += text[begin] == '\n' ? 1 : 0;
    return text.substr(0, begin) + text.substr(std::min(text.find('\n', begin), text.size()));
  }

  std::unordered_map<std::string, std::shared_ptr<const SpecNode>> specs_;
};

// The finished trials in the order of the sweep; what is left out goes into the notes.
std::vector<CollectedRun> load(const FoundFiles& found, std::vector<std::string>& notes) {
  std::vector<CollectedRun> runs;
  std::vector<std::string> unfinished, copies;
  for (const fs::path& folder : found.unfinished) unfinished.push_back(folder.filename().string() + " (no run file)");
  std::set<std::pair<std::string, std::string>> identities;
  std::vector<IndexedRun> indexed = index_runs(found.runs);
  SpecParser parser;
  for (std::size_t i = 0; i < indexed.size(); ++i) {
    if (!indexed[i].summary) {
      notes.push_back(fmt::format("left out: {}", indexed[i].error));
      continue;
    }
    RunSummary& summary = *indexed[i].summary;
    const RunAttributes& attributes = summary.attributes;
    if (!is_finished(attributes.status)) {
      unfinished.push_back(fmt::format("{} ({})", found.runs[i].parent_path().filename().string(), attributes.status));
    } else if (!identities.emplace(attributes.experiment, attributes.trial).second) {
      copies.push_back(found.runs[i].string());  // would count one seed twice
    } else {
      try {
        auto spec = parser.parse(summary);
        runs.push_back({std::move(summary), std::move(spec)});
      } catch (const Error& error) {
        notes.push_back(fmt::format("left out: {}", error.what()));
      }
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

KeyColumn seed_column(const std::vector<CollectedRun>& runs) {
  KeyColumn column{kSeed, {}};
  for (const CollectedRun& run : runs) column.values.push_back(std::to_string(run.summary.attributes.seed));
  return column;
}

// The runs' specs, each once. Columns are made from these and spread over the runs: of ten thousand runs, few differ in
// more than their seed.
struct DistinctSpecs {
  SpecTrees trees;
  std::vector<std::size_t> of_run;  // places in `trees`

  explicit DistinctSpecs(const std::vector<CollectedRun>& runs) {
    std::unordered_map<const SpecNode*, std::size_t> places;
    for (const CollectedRun& run : runs) {
      const auto [place, is_new] = places.emplace(run.spec.get(), trees.size());
      if (is_new) trees.push_back(run.spec.get());
      of_run.push_back(place->second);
    }
  }

  KeyColumn spread(const KeyColumn& of_specs) const {
    KeyColumn column{of_specs.path, {}};
    column.values.reserve(of_run.size());
    for (const std::size_t place : of_run) column.values.push_back(of_specs.values[place]);
    return column;
  }
};

std::vector<std::string> paths_of(const std::vector<KeyColumn>& columns) {
  std::vector<std::string> paths;
  for (const KeyColumn& column : columns) paths.push_back(column.path);
  return paths;
}

[[noreturn]] void fail_unknown_key(const std::string& option, const std::string& path,
                                   const std::vector<KeyColumn>& varying, const DistinctSpecs& specs) {
  const std::vector<std::string> names = paths_of(varying);
  std::set<std::string> candidates(names.begin(), names.end());
  for (const SpecNode* tree : specs.trees)
    std::ranges::move(all_key_paths(*tree), std::inserter(candidates, candidates.end()));
  fail_unknown_name(option + ": no run has the key", path, {candidates.begin(), candidates.end()},
                    "keys that vary: " + joined(names));
}

}  // namespace

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

std::vector<KeyColumn> key_columns(const std::vector<CollectedRun>& runs, const std::vector<std::string>& by,
                                   const std::string& option) {
  const DistinctSpecs specs(runs);
  const KeyColumn experiments = experiment_column(runs), seeds = seed_column(runs);
  std::vector<KeyColumn> varying;
  if (std::ranges::adjacent_find(experiments.values, std::ranges::not_equal_to{}) != experiments.values.end())
    varying.push_back(experiments);
  for (const KeyColumn& of_specs : varying_columns(specs.trees)) {
    KeyColumn column = specs.spread(of_specs);
    if (column.values != seeds.values) varying.push_back(std::move(column));  // else it is `${seed}`
  }
  if (by.empty()) return varying;

  std::vector<KeyColumn> selected;
  for (const std::string& path : by) {
    if (path == kExperiment)
      selected.push_back(experiments);
    else if (path == kSeed)
      selected.push_back(seeds);
    else if (std::ranges::any_of(specs.trees, [&](const SpecNode* tree) { return tree->find_path(path); }))
      selected.push_back(specs.spread(column_of(specs.trees, path)));
    else
      fail_unknown_key(option, path, varying, specs);
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
