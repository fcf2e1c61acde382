#include "framework/train/run_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/store/hdf5_file.hpp"
#include "framework/store/run_directory.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

// Rows are tokens: by the name of the axis, or because there are as many as words.
bool holds_tokens(const Hdf5File& file, const std::string& object, std::int64_t vocabulary) {
  const Hdf5Shape shape = file.shape(object);
  if (shape.size() != 2) return false;
  if (vocabulary > 0) return shape[0] == vocabulary;
  const auto axes = file.attribute(object, "axes");
  const auto* names = axes ? std::get_if<std::vector<std::string>>(&*axes) : nullptr;
  return names != nullptr && names->front() == "token";
}

std::string choose(const Hdf5File& file, const std::string& tensor, std::int64_t vocabulary) {
  const std::vector<std::string> names = file.arrays_below("weights");
  const auto fail = [&](const std::string& what) -> std::string {
    std::vector<std::string> list;
    for (const std::string& name : names)
      list.push_back(fmt::format("{} ({})", name, fmt::join(file.shape("weights/" + name), ", ")));
    throw StoreError(fmt::format("{}: {}; it holds {}", file.path().string(), what,
                                 list.empty() ? "no weights (keep.weights: none)" : joined(list)));
  };
  if (!tensor.empty()) {
    if (std::find(names.begin(), names.end(), tensor) == names.end())
      return fail(fmt::format("there is no weight '{}'", tensor));
    if (file.shape("weights/" + tensor).size() != 2)
      return fail(fmt::format("the weight '{}' is no table: it has not two axes", tensor));
    return tensor;
  }
  for (const std::string& name : names)
    if (holds_tokens(file, "weights/" + name, vocabulary)) return name;
  return fail("no weight has tokens as its rows; name the table with --tensor");
}

RowMatrix matrix_of(const Hdf5File& file, const std::string& object) {
  const Hdf5Array<float> array = file.read<float>(object);
  if (array.shape[1] < 1) throw StoreError(fmt::format("{}: {} is empty", file.path().string(), object));
  RowMatrix rows(array.shape[0], array.shape[1]);
  std::copy(array.values.begin(), array.values.end(), rows.values().begin());
  refuse_non_finite(fmt::format("{}:/{}", file.path().string(), object), rows);
  return rows;
}

}  // namespace

bool is_run(const fs::path& path) {
  if (fs::is_directory(path)) return true;
  std::ifstream file(path, std::ios::binary);
  char start[8] = {};
  file.read(start, sizeof start);
  return std::string_view(start, sizeof start) == "\x89HDF\r\n\x1a\n";
}

LoadedTable read_run_table(const fs::path& path, const TableOptions& options) {
  const fs::path file_path = fs::is_directory(path) ? path / kRunFile : path;
  if (!fs::exists(file_path)) {
    throw StoreError(fmt::format("{}: there is no {}; give a finished trial's folder, a run file or a table of vectors",
                                 path.string(), kRunFile));
  }
  const Hdf5File file = Hdf5File::open(file_path);
  const auto format = file.attribute("", "format");
  if (format != Hdf5Attribute(std::string("jari-run")))
    throw StoreError(fmt::format("{}: is no run file of jari", file_path.string()));
  std::vector<std::string> tokens;
  std::vector<std::int64_t> counts;
  if (file.is_group("vocabulary")) {
    tokens = file.read<std::string>("vocabulary/token").values;
    counts = file.read<std::int64_t>("vocabulary/count").values;
  }
  const auto vocabulary = static_cast<std::int64_t>(tokens.size());
  const std::string name = choose(file, options.tensor, vocabulary);
  RowMatrix rows = matrix_of(file, "weights/" + name);
  if (!options.words.empty()) return with_words(InputFile::open(file_path), TableFormat::npy, std::move(rows), options);
  if (tokens.empty() || vocabulary != rows.rows()) return {WordTable(std::move(rows)), {}};
  WordList words;
  words.reserve(vocabulary);
  for (const std::string& token : tokens) {
    if (!words.add(token))
      throw StoreError(fmt::format("{}: its vocabulary holds '{}' twice", file_path.string(), token));
  }
  if (counts.size() != tokens.size()) counts.clear();
  return {WordTable(std::move(words), std::move(rows), std::move(counts)), {}};
}

LoadedTable read_any_table(const fs::path& path, const TableOptions& options) {
  return is_run(path) ? read_run_table(path, options) : read_table(path, options);
}

}  // namespace jari
