#include "framework/sweep/launcher.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "framework/base/error.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/store/run_file.hpp"
#include "framework/sweep/keep_policy.hpp"
#include "framework/sweep/run_index.hpp"
#include "framework/sweep/sweep_folder.hpp"
#include "framework/train/device_choice.hpp"
#include "framework/train/dump.hpp"
#include "framework/train/interrupt.hpp"

namespace jari {
namespace {

// Trials that train side by side: one part of a group, so that the first ones end (and are safe) early.
struct Batch {
  TrialPrograms* programs;
  std::vector<const Trial*> trials;
  Profile* profile;
};

class Launcher {
 public:
  Launcher(Sweep& sweep, const Provenance& provenance, int cores, const LaunchOptions& options, Progress& progress,
           LaunchResult& result)
      : sweep_(sweep),
        provenance_(provenance),
        cores_(cores),
        options_(options),
        progress_(progress),
        result_(result),
        keep_(sweep, result.folder) {}

  void run(const std::vector<bool>& done) {
    for (std::size_t i = 0; i < done.size(); ++i) {
      if (done[i]) keep_.ended(sweep_.trials[i]);
    }
    if (!options_.devices.empty()) return run_on_cards(batches(done));
    std::vector<Batch> wide, narrow;  // those that fill all cores by themselves, and the others
    for (Batch& batch : batches(done)) {
      (static_cast<int>(batch.trials.size()) >= cores_ ? wide : narrow).push_back(std::move(batch));
    }
    ThreadPool pool(cores_);
    for (const Batch& batch : wide) train(batch, pool);
    if (static_cast<int>(narrow.size()) < cores_) {
      for (const Batch& batch : narrow) train(batch, pool);
      return;
    }
    pool.for_each(static_cast<std::int64_t>(narrow.size()), [&](std::int64_t i, int) {
      ThreadPool serial(1);
      train(narrow[static_cast<std::size_t>(i)], serial);
    });
  }

 private:
  // As many as the trials of the sweep that take the most.
  std::size_t cards_a_team() const {
    std::size_t most = 1;
    for (const TrialGroup& group : sweep_.groups) most = std::max(most, cards_a_trial(*group.programs));
    return most;
  }

  std::size_t teams() const { return std::max<std::size_t>(1, options_.devices.size() / cards_a_team()); }

  std::vector<std::shared_ptr<Device>> team(std::size_t number) const {
    const auto begin = options_.devices.begin() + static_cast<std::ptrdiff_t>(number * cards_a_team());
    return {begin, begin + static_cast<std::ptrdiff_t>(std::min(cards_a_team(), options_.devices.size()))};
  }

  // A team of cards that is free takes the next batch. Programs belong to a team: the first one has those of the sweep.
  void run_on_cards(const std::vector<Batch>& waiting) {
    const std::size_t count = teams();
    std::vector<std::map<const TrialPrograms*, std::unique_ptr<TrialPrograms>>> copies(count);
    ThreadPool drivers(static_cast<int>(count));
    drivers.for_each(static_cast<std::int64_t>(waiting.size()), [&](std::int64_t i, int worker) {
      const auto number = static_cast<std::size_t>(worker);
      Batch batch = waiting[static_cast<std::size_t>(i)];
      if (number > 0) {
        std::unique_ptr<TrialPrograms>& copy = copies[number][batch.programs];
        if (!copy) {
          copy = std::make_unique<TrialPrograms>(batch.programs->experiment(), batch.programs->rewrites());
          copy->plan(team(number));
        }
        batch.programs = copy.get();
      }
      ThreadPool pool(std::max(1, cores_ / static_cast<int>(count)));
      train(batch, pool);
      batch.programs->leave_device();  // the next batch may be of another group
    });
  }

  std::size_t trials_at_once(const TrialPrograms& programs, std::size_t missing) const {
    if (options_.devices.empty()) return trials_a_batch(cores_);
    const std::size_t count = teams();
    return trials_on_card(programs, options_.devices.front()->info().free, (missing + count - 1) / count);
  }

  std::vector<Batch> batches(const std::vector<bool>& done) {
    std::vector<Batch> result;
    std::vector<const Program*> planned;
    for (TrialGroup& group : sweep_.groups) {
      std::vector<const Trial*> missing;
      for (std::size_t trial : group.trials) {
        if (!done[trial]) missing.push_back(&sweep_.trials[trial]);
      }
      if (missing.empty()) continue;
      group.programs->plan(options_.devices.empty() ? options_.devices : team(0));
      if (group.programs->train() != nullptr) planned.push_back(group.programs->train());
      Profile* profile = options_.profile ? profile_of(group) : nullptr;
      const std::size_t at_once = trials_at_once(*group.programs, missing.size());
      for (std::size_t begin = 0; begin < missing.size(); begin += at_once) {
        const std::size_t end = std::min(missing.size(), begin + at_once);
        result.push_back(
            {group.programs.get(),
             {missing.begin() + static_cast<std::ptrdiff_t>(begin), missing.begin() + static_cast<std::ptrdiff_t>(end)},
             profile});
      }
    }
    if (!result.empty()) check_dump_requests(options_.train.dumps, planned);
    return result;
  }

  Profile* profile_of(const TrialGroup& group) {
    result_.profiles.push_back({&group, std::make_unique<Profile>()});
    return result_.profiles.back().profile.get();
  }

  void train(const Batch& batch, ThreadPool& pool) {
    TrainOptions options = options_.train;
    options.profile = batch.profile;
    options.stop = &stop_;
    std::vector<const Trial*> waiting = batch.trials;
    for (std::int64_t attempt = 0; !waiting.empty() && !interrupted() && !stop_; ++attempt) {
      const std::vector<TrialOutcome> outcomes =
          train_group(*batch.programs, waiting, result_.folder, provenance_, pool, progress_, options);
      waiting.clear();
      for (const TrialOutcome& outcome : outcomes) {
        if (outcome.status == "failed" && attempt < sweep_.retries) {
          waiting.push_back(outcome.trial);
        } else {
          end(outcome);
        }
      }
    }
  }

  void end(TrialOutcome outcome) {
    const bool has_run_file = outcome.status != "failed" && outcome.status != "interrupted";
    if (has_run_file) {
      try {
        keep_.ended(*outcome.trial);
      } catch (const StoreError& error) {
        progress_.note(*outcome.trial, error.what());
      }
    }
    const bool went_wrong = outcome.status == "failed" || outcome.status == "diverged";
    if (went_wrong && sweep_.on_failure == OnFailure::stop) stop_ = true;
    const std::lock_guard lock(mutex_);
    result_.stopped = stop_;
    result_.outcomes.push_back(std::move(outcome));
  }

  Sweep& sweep_;
  const Provenance& provenance_;
  int cores_;
  const LaunchOptions& options_;
  Progress& progress_;
  LaunchResult& result_;
  KeepPolicy keep_;
  std::mutex mutex_;
  std::atomic<bool> stop_{false};
};

void remove_trial(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (error) throw StoreError(folder.string() + ": can not remove the old run: " + error.message());
}

}  // namespace

std::size_t cards_a_trial(const TrialPrograms& programs) {
  const std::optional<TrainSpec>& train = programs.experiment().train;
  return train ? static_cast<std::size_t>(train->data_parallel) : 1;
}

std::size_t trials_on_card(const TrialPrograms& programs, std::size_t free_bytes, std::size_t wanted) {
  if (cards_a_trial(programs) > 1) return 1;
  constexpr double kShareOfFree = 0.8;  // the rest is for the libraries, and for others on the card
  const auto fits = [&](std::size_t trials) {
    return static_cast<double>(programs.device_bytes(static_cast<int>(trials))) <=
           kShareOfFree * static_cast<double>(free_bytes);
  };
  std::size_t fit = 1, too_many = std::min<std::size_t>(wanted, 65535) + 1;  // a grid of blocks is no higher
  if (fits(too_many - 1)) return too_many - 1;
  while (too_many - fit > 1) {
    const std::size_t middle = (fit + too_many) / 2;
    (fits(middle) ? fit : too_many) = middle;
  }
  return fit;
}

std::vector<std::shared_ptr<Device>> devices_of(const Sweep& sweep) {
  std::vector<std::shared_ptr<Device>> devices;
  for (const TrialGroup& group : sweep.groups) devices = devices_of(group.programs->experiment());
  return devices;
}

std::size_t trials_a_batch(int cores) { return static_cast<std::size_t>(std::max(8, 4 * cores)); }

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

LaunchResult launch(Sweep& sweep, const SpecNode& spec, const Provenance& provenance, const LaunchOptions& options,
                    Progress& progress) {
  LaunchResult result;
  result.folder = options.runs / sweep.experiment;
  refuse_other_sweep(result.folder, sweep, spec);
  const RunLock lock(result.folder, options.wait ? RunLock::IfHeld::wait : RunLock::IfHeld::fail);
  write_sweep_file(result.folder, sweep, spec, provenance);

  if (options.force)
    for (const Trial& trial : sweep.trials) remove_trial(result.folder / trial.folder);
  const std::vector<bool> done = finished_trials(result.folder, sweep.trials);
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i]) progress.already_done(sweep.trials[i]);
  }
  result.already_done = static_cast<std::size_t>(std::count(done.begin(), done.end(), true));
  const int cores = options.threads > 0 ? options.threads : usable_cores();
  Launcher(sweep, provenance, cores, options, progress, result).run(done);
  std::sort(result.outcomes.begin(), result.outcomes.end(),
            [](const TrialOutcome& left, const TrialOutcome& right) { return left.trial->index < right.trial->index; });
  return result;
}

}  // namespace jari
