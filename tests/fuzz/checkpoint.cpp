// The checkpoint's reader. The first byte chooses: 0 any bytes as a file; else a good HDF5 file that holds something
// else than it should.

#include "framework/store/checkpoint.hpp"

#include "framework/base/error.hpp"
#include "tests/fuzz/expect.hpp"
#include "tests/fuzz/mutated_file.hpp"
#include "tests/fuzz/sealed_file.hpp"

namespace jari::fuzz {
namespace {

constexpr const char* kTrial = "3fa9c1d2";

void write_mutated(const std::filesystem::path& path, Choices& choices) {
  MutatedFile file(path, choices);
  file.attribute("", "format", std::string("jari-checkpoint"));
  file.attribute("", "version", std::int64_t{1});
  file.attribute("", "trial", std::string(kTrial));
  file.attribute("", "step", std::int64_t{60});
  file.attribute("", "tensors", std::int64_t{2});
  file.array("tensors/0", {4}, std::vector<std::uint8_t>{0, 0, 128, 63});
  file.attribute("tensors/0", "name", std::string("model/embedding"));
  file.attribute("tensors/0", "dtype", std::string("f32"));
  file.attribute("tensors/0", "shape", std::vector<std::int64_t>{1, 1});
  file.array("tensors/1", {8}, std::vector<std::uint8_t>(8, 1));
  file.attribute("tensors/1", "name", std::string("optimizer/first_moment"));
  file.attribute("tensors/1", "dtype", std::string("f64"));
  file.group("numbers");
  file.attribute("numbers", "seconds_train", 1.5);
  file.finish();
}

// Whatever is read, a file of it reads as the same again.
void check_round_trip(const Checkpoint& checkpoint) {
  const std::filesystem::path folder = scratch_folder() / "again";
  std::filesystem::create_directories(folder);
  try {
    write_checkpoint(folder, checkpoint, 1);
  } catch (const StoreError&) {
    return;  // a text that HDF5 can not hold, a name twice
  }
  const Checkpoint again = read_checkpoint(folder / "checkpoint.h5", checkpoint.trial);
  expect(again.step == checkpoint.step && again.tensors == checkpoint.tensors, "a checkpoint reads as it was written");
}

void check(const std::filesystem::path& path, bool is_ours, bool and_again) {
  const CheckpointSearch search = [&] {
    try {
      return find_checkpoint(path.parent_path(), kTrial);
    } catch (const StoreError&) {
      return CheckpointSearch{};
    }
  }();
  try {
    const Checkpoint checkpoint = read_checkpoint(path, kTrial);
    expect(is_ours, "bytes without the right checksum are refused");
    expect(search.checkpoint.has_value(), "what can be read is found");
    if (and_again) check_round_trip(checkpoint);
  } catch (const StoreError&) {
    expect(!search.checkpoint, "what can not be read is not found");
  }
}

}  // namespace
}  // namespace jari::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jari::fuzz;
  Choices choices(data, size);
  if (choices.byte() == 0 && size > 0) {
    check(write_scratch("checkpoint.h5", {reinterpret_cast<const char*>(data) + 1, size - 1}), false, false);
  } else {
    const std::filesystem::path path = scratch_folder() / "checkpoint.h5";
    write_mutated(path, choices);
    check(path, true, size % 4 == 0);  // which takes twice the time
  }
  return 0;
}
