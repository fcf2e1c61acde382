#include "framework/store/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/error.hpp"
#include "framework/store/atomic_file.hpp"
#include "framework/store/hdf5_file.hpp"

namespace jari {
namespace {

constexpr const char* kFormat = "jari-checkpoint";
constexpr std::int64_t kVersion = 1;

std::filesystem::path generation_path(const std::filesystem::path& folder, int generation) {
  if (generation == 0) return folder / "checkpoint.h5";
  if (generation == 1) return folder / "checkpoint.previous.h5";
  return folder / fmt::format("checkpoint.previous_{}.h5", generation);
}

std::string tensor_path(std::size_t index) { return fmt::format("tensors/{}", index); }

Checkpoint read_contents(const Hdf5File& file) {
  Checkpoint checkpoint;
  checkpoint.step = file.integer_attribute("", "step");
  checkpoint.trial = file.text_attribute("", "trial");
  const auto count = static_cast<std::size_t>(file.integer_attribute("", "tensors"));
  for (std::size_t i = 0; i < count; ++i) {
    const std::string path = tensor_path(i);
    CheckpointTensor tensor;
    tensor.name = file.text_attribute(path, "name");
    tensor.dtype = file.text_attribute(path, "dtype");
    const auto shape = file.attribute(path, "shape");
    if (shape && std::holds_alternative<std::vector<std::int64_t>>(*shape))
      tensor.shape = std::get<std::vector<std::int64_t>>(*shape);
    tensor.bytes = file.read<std::uint8_t>(path).values;
    checkpoint.tensors.push_back(std::move(tensor));
  }
  for (const std::string& name : file.attribute_names("numbers"))
    checkpoint.numbers[name] = file.number_attribute("numbers", name);
  return checkpoint;
}

void require_same_trial(const std::filesystem::path& path, const std::string& found, const std::string& expected) {
  if (found == expected) return;
  throw StoreError(
      fmt::format("{}: belongs to trial {}, expected {}: the spec or a data file has changed; use another "
                  "folder, or start anew with --force",
                  path.string(), found, expected));
}

// The contents, whole; whose they are is not yet checked.
Checkpoint read_whole(const std::filesystem::path& path) {
  const Hdf5File file = Hdf5File::open(path, Hdf5File::Checksum::must_be_there);
  const auto format = file.attribute("", "format");
  if (!format || *format != Hdf5Attribute(std::string(kFormat)))
    throw StoreError(fmt::format("{}: is an HDF5 file, but no checkpoint of jari; correct the path", path.string()));
  if (const std::int64_t version = file.integer_attribute("", "version"); version > kVersion)
    throw StoreError(
        fmt::format("{}: checkpoint version {} is newer than this jari, which reads up to {}; use a newer "
                    "jari, or start anew with --force",
                    path.string(), version, kVersion));
  return read_contents(file);
}

}  // namespace

const CheckpointTensor* Checkpoint::find(const std::string& name) const {
  const auto found = std::ranges::find(tensors, name, &CheckpointTensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

void write_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint, int keep) {
  Hdf5File contents = Hdf5File::create(generation_path(folder, 0));
  contents.set_attribute("", "format", std::string(kFormat));
  contents.set_attribute("", "version", kVersion);
  contents.set_attribute("", "trial", checkpoint.trial);
  contents.set_attribute("", "step", checkpoint.step);
  contents.set_attribute("", "tensors", static_cast<std::int64_t>(checkpoint.tensors.size()));
  for (std::size_t i = 0; i < checkpoint.tensors.size(); ++i) {
    const CheckpointTensor& tensor = checkpoint.tensors[i];
    const std::string path = tensor_path(i);
    contents.write(path, {static_cast<std::int64_t>(tensor.bytes.size())}, tensor.bytes);
    contents.set_attribute(path, "name", tensor.name);
    contents.set_attribute(path, "dtype", tensor.dtype);
    if (!tensor.shape.empty()) contents.set_attribute(path, "shape", tensor.shape);
  }
  contents.make_group("numbers");
  for (const auto& [name, value] : checkpoint.numbers) contents.set_attribute("numbers", name, value);

  AtomicFile file(contents.path());
  contents.save_to(file);
  // Older ones make room only once the new one is on the disk: there is a whole checkpoint at every moment.
  file.sync();
  for (int generation = keep - 1; generation > 0; --generation) {
    const std::filesystem::path from = generation_path(folder, generation - 1);
    if (std::filesystem::exists(from)) rename_file(from, generation_path(folder, generation));
  }
  file.commit();
}

Checkpoint read_checkpoint(const std::filesystem::path& path, const std::string& trial) {
  Checkpoint checkpoint = read_whole(path);
  require_same_trial(path, checkpoint.trial, trial);
  return checkpoint;
}

namespace {

CheckpointSearch search_checkpoint(const std::filesystem::path& folder,
                                   const std::function<std::string(const Checkpoint&)>& refuse) {
  CheckpointSearch search;
  // A process killed between two renames leaves a gap in the generations, never two in a row.
  int missing = 0;
  for (int generation = 0; missing < 2 && !search.checkpoint; ++generation) {
    const std::filesystem::path path = generation_path(folder, generation);
    if (!std::filesystem::exists(path)) {
      ++missing;
      continue;
    }
    missing = 0;
    try {
      Checkpoint checkpoint = read_whole(path);
      if (const std::string reason = refuse ? refuse(checkpoint) : ""; !reason.empty()) {
        search.damage.push_back(fmt::format("{}: passed over: {}", path.string(), reason));
        search.refused.push_back(path);
        continue;
      }
      search.checkpoint = std::move(checkpoint);
      search.path = path;
    } catch (const StoreError& error) {
      search.damage.emplace_back(error.what());
    }
  }
  return search;
}

}  // namespace

CheckpointSearch find_checkpoint(const std::filesystem::path& folder) { return search_checkpoint(folder, {}); }

CheckpointSearch find_checkpoint(const std::filesystem::path& folder, const std::string& trial,
                                 const std::function<std::string(const Checkpoint&)>& refuse) {
  CheckpointSearch search = search_checkpoint(folder, refuse);
  if (search.checkpoint) require_same_trial(search.path, search.checkpoint->trial, trial);
  return search;
}

void remove_checkpoints(const std::filesystem::path& folder) {
  int missing = 0;
  for (int generation = 0; missing < 2; ++generation) {
    std::error_code ignored;  // a checkpoint that stays does no harm
    missing = std::filesystem::remove(generation_path(folder, generation), ignored) ? 0 : missing + 1;
  }
}

}  // namespace jari
