#pragma once
// `jari verify`: runs parts of a finished trial again and compares what comes out with its run file.

#include <string>
#include <vector>

#include "framework/backend/device.hpp"
#include "framework/base/thread_pool.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/trial.hpp"

namespace jari {

// One thing that was compared: "train/loss at step 10".
struct Verification {
  std::string what;
  std::string recorded, found;
  double difference = 0;  // relative to the recorded value; 0 for digests
  bool equal = false;     // to the last bit
  bool passed = false;    // equal, or within the tolerance where that is what is asked
};

struct VerifyReport {
  bool same_machine = false;  // device, kind of CPU and build are those of the run: the bits must be equal
  std::string difference;     // "" or what differs: "cpu: AMD EPYC 9554, avx512 -> ..."
  double tolerance = 0;       // of numbers, relative; 0 on the same machine
  std::int64_t steps = 0;     // that were trained again
  std::vector<Verification> checks;

  bool passed() const;
};

// Relative difference of losses and metrics that counts as the same result on another machine.
double verify_tolerance(const Trial& trial);

// Trains the first `steps` steps again (all, if there are fewer), comparing the digests of the state and the logged
// losses, and evaluates the stored weights again. `here`: the environment that a run would record now. Throws
// StoreError if the run has nothing to compare.
VerifyReport verify_run(const RunRecord& run, const Trial& trial, std::int64_t steps,
                        const std::vector<std::shared_ptr<Device>>& devices,
                        const std::vector<std::pair<std::string, std::string>>& here, ThreadPool& pool);

}  // namespace jari
