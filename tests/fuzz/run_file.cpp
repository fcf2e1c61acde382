// The run file's readers. The first byte chooses: 0 any bytes as a file, with the checksum that they should have behind
// them cut off or wrong; else a good HDF5 file that holds something else than it should.

#include "framework/store/run_file.hpp"

#include "framework/base/error.hpp"
#include "tests/fuzz/expect.hpp"
#include "tests/fuzz/mutated_file.hpp"
#include "tests/fuzz/sealed_file.hpp"

namespace jari::fuzz {
namespace {

void write_attributes(MutatedFile& file) {
  file.attribute("", "format", std::string("jari-run"));
  file.attribute("", "version", std::int64_t{1});
  for (const char* name : {"experiment", "trial", "label", "status", "jari_version", "git", "created", "device"})
    file.attribute("", name, std::string("text"));
  file.attribute("", "index", std::int64_t{3});
  file.attribute("", "seed", std::uint64_t{42});
  file.attribute("", "threads", std::int64_t{2});
  for (const char* name : {"resolved", "source", "overrides"})
    file.array(std::string("spec/") + name, {}, std::vector<std::string>{"experiment: probe\n"});
}

void write_metrics(MutatedFile& file) {
  file.array("metrics/train/loss/step", {2}, std::vector<std::int64_t>{1, 2});
  file.array("metrics/train/loss/value", {2}, std::vector<double>{0.5, 0.25});
}

void write_arrays(MutatedFile& file) {
  file.array("evaluate/same/accuracy_by_position", {2}, std::vector<double>{1, 0.5});
  file.attribute("evaluate/same/accuracy_by_position", "axes", std::vector<std::string>{"position"});
  file.array("weights/embedding", {1, 2}, std::vector<float>{1, 2});
  file.attribute("weights/embedding", "axes", std::vector<std::string>{"token", "width"});
}

void write_vocabulary(MutatedFile& file) {
  file.array("vocabulary/token", {1}, std::vector<std::string>{"the"});
  file.array("vocabulary/count", {1}, std::vector<std::int64_t>{7});
}

void write_analyses(MutatedFile& file) {
  file.array("analyses/property/gap_1/mean", {}, std::vector<double>{0.5});
  file.array("analyses/property/curve", {2}, std::vector<double>{1, 2});
  file.group("analyses/other");
  file.attribute("analyses/other", "skipped", std::string("no position"));
}

void write_environment(MutatedFile& file) {
  file.group("environment");
  file.attribute("environment", "hdf5", std::string("1.10.8"));
  file.attribute("environment", "seconds_train", 1.5);
}

// All parts, or one beside the attributes: a small file takes a fifth of the time.
void write_mutated(const std::filesystem::path& path, Choices& choices) {
  constexpr void (*kParts[])(MutatedFile&) = {write_metrics, write_arrays, write_vocabulary, write_analyses,
                                              write_environment};
  const int only = choices.below(6);
  MutatedFile file(path, choices);
  write_attributes(file);
  for (int part = 1; part <= 5; ++part) {
    if (only == 0 || only == part) kParts[part - 1](file);
  }
  file.finish();
}

// Calls one reader; whether it took the file. Every refusal is a StoreError.
template <class Reader>
bool is_read(const Reader& reader, const std::filesystem::path& path) {
  try {
    reader(path);
    return true;
  } catch (const StoreError&) {
    return false;
  }
}

// Whatever is read, a file of it can be written, and read again.
void check_round_trip(const std::filesystem::path& path) {
  const RunRecord record = read_run_file(path);
  const std::filesystem::path again = scratch_folder() / "again.h5";
  try {
    write_run_file(again, record);
  } catch (const StoreError&) {
    return;  // a name twice, a number that shares an array's name
  }
  const RunRecord second = read_run_file(again);
  expect(second.attributes == record.attributes && second.spec_resolved == record.spec_resolved,
         "a record reads as it was written");
  expect(second.weights.size() == record.weights.size(), "a record has the weights that were written");
}

void check(const std::filesystem::path& path, bool and_again) {
  const bool whole = is_read(read_run_file, path);
  const bool in_short = is_read(read_run_summary, path);
  expect(!whole || in_short, "what can be read whole can be read in short");
  if (whole && and_again) check_round_trip(path);
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jari::fuzz;
  Choices choices(data, size);
  if (choices.byte() == 0 && size > 0) {
    // Readers take files of other programs, which have no checksum; HDF5 itself crashes on some damaged ones, so only
    // bytes that no HDF5 file begins with, or that end in a checksum (a wrong one), are ours to answer for.
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    check(write_scratch("run.h5", std::string(bytes) + "\njari-xxh3-64:0123456789abcdef\n"), false);
    if (bytes.find("\x89HDF\r\n\x1a\n") == std::string_view::npos) check(write_scratch("run.h5", bytes), false);
  } else {
    const std::filesystem::path path = scratch_folder() / "run.h5";
    write_mutated(path, choices);
    check(path, size % 4 == 0);  // which takes twice the time
  }
  return 0;
}
