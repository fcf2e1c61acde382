#pragma once
// Writes what nodes of the train program hold in one step: <trial>/dump-step-100.h5, an array <path>/<op> a node and
// <name>/value a parameter or input. An observer of one fused group.

#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "framework/program/program.hpp"
#include "framework/store/run_file.hpp"
#include "framework/train/train_options.hpp"

namespace jari {

// "model/attention/*@100". SpecError if it is not of this form.
DumpRequest parse_dump_request(const std::string& text);

// SpecError if a pattern matches nothing that any of the programs computes, with the nearest path.
void check_dump_requests(const std::vector<DumpRequest>& requests, const std::vector<const Program*>& programs);

class Dump final : public Observer {
 public:
  // `folders`: of the trials, by row.
  Dump(std::vector<DumpRequest> requests, std::vector<std::filesystem::path> folders)
      : requests_(std::move(requests)), folders_(std::move(folders)), taken_(folders_.size()) {}

  void before(int trial, std::int64_t step, const NodeView& node) override;
  void after(int trial, std::int64_t step, const NodeView& node) override;

  // Writes what was taken of the trial since the last call. Throws StoreError.
  void write(int trial);

 private:
  struct Taken {
    std::map<std::int64_t, std::vector<RecordArray>> arrays;  // by step
    std::map<std::int64_t, std::set<std::string>> names;
  };
  bool wanted(const std::string& path, std::int64_t step) const;
  void take(int trial, std::int64_t step, std::string name, const TensorView& view);

  std::vector<DumpRequest> requests_;
  std::vector<std::filesystem::path> folders_;
  std::vector<Taken> taken_;  // by trial: each used by one thread at a time
};

}  // namespace jari
