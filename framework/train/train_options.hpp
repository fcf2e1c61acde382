#pragma once
// What a person may ask of the training beside the spec. Nothing of it changes the bits.

#include <atomic>
#include <string>
#include <vector>

#include "framework/program/profile.hpp"

namespace jari {

// `--dump PATH@STEP`: what the matching nodes and parameters hold in one step of training.
struct DumpRequest {
  std::string pattern;    // of paths; * is any text, ? any one character
  std::int64_t step = 1;  // from 1, as metrics count
};

struct TrainOptions {
  bool check_nan = false;  // look at every node of every step
  std::vector<DumpRequest> dumps;
  Profile* profile = nullptr;               // adds up what the train program's calls cost
  const std::atomic<bool>* stop = nullptr;  // when set, trials end as after a signal: saved, to be gone on with
};

}  // namespace jari
