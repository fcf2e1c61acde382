#include "framework/sweep/run_index.hpp"

#include <map>

#include "framework/base/error.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/sweep/launcher.hpp"
#include "framework/sweep/sweep_folder.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

// Where a run file's summary is kept: runs/<experiment>, and "<trial>/run.h5" in it.
struct Place {
  SummaryCache* cache = nullptr;  // null: nowhere
  std::string name;
};

class Caches {
 public:
  explicit Caches(std::chrono::nanoseconds settling) : settling_(settling) {}

  Place place_of(const fs::path& file) {
    if (file.filename() != kRunFile || !file.has_parent_path()) return {};
    const fs::path trial = file.parent_path();
    const fs::path folder = trial.has_parent_path() ? trial.parent_path() : fs::path(".");
    auto found = caches_.find(folder);
    if (found == caches_.end()) {
      std::error_code ignored;
      auto cache =
          fs::exists(folder / kSweepFile, ignored) ? std::make_unique<SummaryCache>(folder, settling_) : nullptr;
      found = caches_.emplace(folder, std::move(cache)).first;
    }
    return {found->second.get(), trial.filename() / file.filename()};
  }
  void save() const {
    for (const auto& [folder, cache] : caches_)
      if (cache) cache->save();
  }

 private:
  std::chrono::nanoseconds settling_;
  std::map<fs::path, std::unique_ptr<SummaryCache>> caches_;
};

struct Unread {
  std::size_t index;  // of the files
  Place place;
  std::optional<FileIdentity> identity;
};

IndexedRun read(const fs::path& file) {
  try {
    return {read_run_summary(file), ""};
  } catch (const Error& error) {
    return {std::nullopt, error.what()};
  }
}

}  // namespace

std::vector<IndexedRun> index_runs(const std::vector<fs::path>& files, std::chrono::nanoseconds settling) {
  std::vector<IndexedRun> runs(files.size());
  Caches caches(settling);
  std::vector<Unread> unread;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Place place = caches.place_of(files[i]);
    const std::optional<FileIdentity> identity = place.cache ? identify_file(files[i]) : std::nullopt;
    if (identity) runs[i].summary = place.cache->find(place.name, *identity);
    if (runs[i].summary)
      runs[i].summary->path = files[i];
    else
      unread.push_back({i, std::move(place), identity});
  }
  ThreadPool pool(usable_cores());
  pool.for_each(static_cast<std::int64_t>(unread.size()), [&](std::int64_t i, int) {
    const std::size_t index = unread[static_cast<std::size_t>(i)].index;
    runs[index] = read(files[index]);
  });
  for (const Unread& each : unread) {
    const std::optional<RunSummary>& summary = runs[each.index].summary;
    if (summary && each.identity) each.place.cache->put(each.place.name, *each.identity, *summary);
  }
  caches.save();
  return runs;
}

bool tells_of_end(const RunAttributes& attributes, const Trial& trial) {
  return attributes.trial == trial.hash && attributes.status != "interrupted" && attributes.status != "repaired";
}

std::vector<bool> finished_trials(const fs::path& experiment_folder, std::span<const Trial> trials) {
  std::vector<std::size_t> present;
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    fs::path file = experiment_folder / trials[i].folder / kRunFile;
    if (!fs::exists(file)) continue;
    present.push_back(i);
    files.push_back(std::move(file));
  }
  const std::vector<IndexedRun> runs = index_runs(files);
  std::vector<bool> finished(trials.size());
  for (std::size_t k = 0; k < present.size(); ++k) {
    if (!runs[k].summary) continue;
    finished[present[k]] = tells_of_end(runs[k].summary->attributes, trials[present[k]]);
  }
  return finished;
}

}  // namespace jari
