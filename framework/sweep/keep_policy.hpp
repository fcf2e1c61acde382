#pragma once
// What stays on the disk of trials that have ended (`keep` in the spec).

#include <filesystem>
#include <map>
#include <mutex>
#include <string>

#include "framework/sweep/sweep.hpp"

namespace jari {

// Takes weights and checkpoints away from trials that turn out not to be the best. What is there in the end depends on
// the trials alone, not on the order in which they end: of equally good ones the first in the sweep's order stays.
class KeepPolicy {
 public:
  KeepPolicy(const Sweep& sweep, std::filesystem::path folder) : sweep_(sweep), folder_(std::move(folder)) {}

  // The trial has a run file. Thread-safe. Throws StoreError.
  void ended(const Trial& trial);

 private:
  struct Best {
    const Trial* trial;
    double value;
  };
  void strip(const Trial& trial) const;  // of one that is not the best

  const Sweep& sweep_;
  std::filesystem::path folder_;
  std::mutex mutex_;
  std::map<std::string, Best> best_;  // by combination, or of the whole sweep under ""
};

// Bytes on the disk, as well as can be known before anything is trained.
struct DiskNeed {
  double at_end = 0;          // run files and journals
  double while_training = 0;  // the most: with the checkpoints of trials that train at one time
};

// `at_one_time`: trials that train side by side.
DiskNeed disk_need(const Sweep& sweep, std::size_t at_one_time);

}  // namespace jari
