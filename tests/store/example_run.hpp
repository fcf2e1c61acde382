#pragma once
// A run record with something in every place.

#include <cmath>

#include "framework/store/run_file.hpp"

namespace jari::test {

inline RunRecord example_run() {
  RunRecord record;
  record.attributes = {"extrapolate", "3fa9c1d2", "position=rel,seed=42", 7,     42, "finished", "a message",
                       "0.1.0",       "abc123",   "2026-11-29T19:36:22Z", "cpu", 4};
  record.spec_resolved = "experiment: extrapolate\nseed: 42\n";
  record.spec_source = "# 자리\nexperiment: extrapolate\n";
  record.spec_overrides = "train.steps=500\n";
  record.metrics = {{"train/loss", {1, 2, 500}, {3.5, 2.5, 0.25}},
                    {"evaluate/extrapolated/accuracy", {500}, {0.875}},
                    {"evaluate/empty", {}, {}}};
  record.evaluate = {{"extrapolated/accuracy_by_position", {3}, std::vector<double>{1, 0.5, 0.25}, {"position"}}};
  record.weights = {{"embedding/token", {2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6.5F}, {"token", "width"}},
                    {"scale", {}, std::vector<double>{0.1}, {}}};
  record.digests = {{1, "0123456789abcdef"}, {10, "fedcba9876543210"}};
  record.vocabulary_tokens = {"물리학", "the", std::string(1, '\0'), "\xEB\xAC"};  // pieces of bytes as well
  record.vocabulary_counts = {12, 34, 0, 5};
  record.analyses = {{"property",
                      {{"curve", {2, 2}, std::vector<double>{1, 2, 3, 4}, {"gap", "offset"}}},
                      {{"gap_1/mean", 0.5}, {"gap_10/mean", 0.25}, {"gap_3/mean", 0.125}},
                      ""},
                     {"neighbors", {{"word", {2}, std::vector<std::string>{"물리학", "화학"}, {"rank"}}}, {}, ""},
                     {"other", {}, {}, "the model has no position"}};
  record.environment = {{"hdf5", "1.10.8"}, {"onednn", "2.7"}};
  record.environment_numbers = {{"peak_memory_bytes", 1e9}, {"seconds_train", 12.5}};
  return record;
}

}  // namespace jari::test
