#include "framework/sweep/launcher.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/sweep_folder.hpp"
#include "framework/train/interrupt.hpp"

namespace jari {
namespace {

// Trials that train side by side: one part of a group, so that the first ones end (and are safe) early.
struct Batch {
  const TrialPrograms* programs;
  std::vector<const Trial*> trials;
};

std::size_t trials_a_batch(int cores) { return static_cast<std::size_t>(std::max(8, 4 * cores)); }

class Launcher {
 public:
  Launcher(Sweep& sweep, std::filesystem::path folder, const Provenance& provenance, int cores, Progress& progress)
      : sweep_(sweep), folder_(std::move(folder)), provenance_(provenance), cores_(cores), progress_(progress) {}

  std::vector<TrialOutcome> run(const std::vector<bool>& done) {
    std::vector<Batch> wide, narrow;  // those that fill all cores by themselves, and the others
    for (Batch& batch : batches(done)) {
      (static_cast<int>(batch.trials.size()) >= cores_ ? wide : narrow).push_back(std::move(batch));
    }
    ThreadPool pool(cores_);
    for (const Batch& batch : wide) train(batch, pool);
    if (static_cast<int>(narrow.size()) < cores_) {
      for (const Batch& batch : narrow) train(batch, pool);
      return std::move(outcomes_);
    }
    pool.for_each(static_cast<std::int64_t>(narrow.size()), [&](std::int64_t i, int) {
      ThreadPool serial(1);
      train(narrow[static_cast<std::size_t>(i)], serial);
    });
    return std::move(outcomes_);
  }

 private:
  std::vector<Batch> batches(const std::vector<bool>& done) {
    std::vector<Batch> result;
    for (TrialGroup& group : sweep_.groups) {
      std::vector<const Trial*> missing;
      for (std::size_t trial : group.trials) {
        if (!done[trial]) missing.push_back(&sweep_.trials[trial]);
      }
      if (missing.empty()) continue;
      group.programs->plan();
      for (std::size_t begin = 0; begin < missing.size(); begin += trials_a_batch(cores_)) {
        const std::size_t end = std::min(missing.size(), begin + trials_a_batch(cores_));
        result.push_back({group.programs.get(),
                          {missing.begin() + static_cast<std::ptrdiff_t>(begin),
                           missing.begin() + static_cast<std::ptrdiff_t>(end)}});
      }
    }
    return result;
  }

  void train(const Batch& batch, ThreadPool& pool) {
    if (interrupted()) return;
    const std::vector<TrialOutcome> ended =
        train_group(*batch.programs, batch.trials, folder_, provenance_, pool, progress_);
    const std::lock_guard lock(mutex_);
    outcomes_.insert(outcomes_.end(), ended.begin(), ended.end());
  }

  Sweep& sweep_;
  std::filesystem::path folder_;
  const Provenance& provenance_;
  int cores_;
  Progress& progress_;
  std::mutex mutex_;
  std::vector<TrialOutcome> outcomes_;
};

void remove_trial(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) throw StoreError(folder.string() + ": can not remove the old run: " + error.message());
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool is_finished(const std::filesystem::path& experiment_folder, const Trial& trial) {
  const std::filesystem::path path = experiment_folder / trial.folder / kRunFile;
  if (!std::filesystem::exists(path)) return false;
  try {
    return read_run_summary(path).attributes.trial == trial.hash;
  } catch (const StoreError&) {
    return false;  // damaged: trained again
  }
}

LaunchResult launch(Sweep& sweep, const SpecNode& spec, const Provenance& provenance, const LaunchOptions& options,
                    Progress& progress) {
  LaunchResult result;
  result.folder = options.runs / sweep.experiment;
  refuse_other_sweep(result.folder, sweep, spec);
  const RunLock lock(result.folder);
  write_sweep_file(result.folder, sweep, spec, provenance);

  std::vector<bool> done(sweep.trials.size());
  for (std::size_t i = 0; i < sweep.trials.size(); ++i) {
    if (options.force) {
      remove_trial(result.folder / sweep.trials[i].folder);
    } else {
      done[i] = is_finished(result.folder, sweep.trials[i]);
    }
  }
  result.already_done = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  const int cores = options.threads > 0 ? options.threads : usable_cores();
  result.outcomes = Launcher(sweep, result.folder, provenance, cores, progress).run(done);
  std::sort(result.outcomes.begin(), result.outcomes.end(),
            [](const TrialOutcome& left, const TrialOutcome& right) { return left.trial->index < right.trial->index; });
  return result;
}

}  // namespace jari
