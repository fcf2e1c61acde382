// Tables in Hugging Face's safetensors files.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

using Json = nlohmann::json;

std::string list_text(const std::vector<TensorEntry>& tensors) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> texts;
  for (const TensorEntry& tensor : tensors) texts.push_back(tensor.to_string());
  if (texts.size() > kMost) {
    const std::size_t more = texts.size() - kMost;
    texts.resize(kMost);
    texts.push_back(fmt::format("{} more", more));
  }
  return joined(texts);
}

const TensorEntry& choose(const InputFile& source, const std::vector<TensorEntry>& tensors, const std::string& name) {
  std::vector<const TensorEntry*> tables;
  for (const TensorEntry& tensor : tensors) {
    if (tensor.name == name) return tensor;
    if (tensor.shape.size() == 2 && has_numbers(tensor)) tables.push_back(&tensor);
  }
  if (name.empty() && tables.size() == 1) return *tables.front();
  source.fail(fmt::format(
      "{}; it holds {}",
      name.empty() ? "name the tensor that is the table with --tensor" : fmt::format("there is no tensor '{}'", name),
      list_text(tensors)));
}

}  // namespace

LoadedTable read_safetensors(InputFile& source, const TableOptions& options) {
  const std::vector<TensorEntry> tensors = read_tensor_entries(source);
  const TensorEntry& tensor = choose(source, tensors, options.tensor);
  const std::string wanted = "a table needs F16, BF16, F32 or F64 with two axes, rows and columns";
  if (tensor.shape.size() != 2 || tensor.shape[0] < 0 || tensor.shape[1] < 1)
    source.fail(fmt::format("its tensor '{}' is {} ({}); {}", escaped_utf8(tensor.name), tensor.type,
                            fmt::join(tensor.shape, ", "), wanted));
  const ElementType type = require_numbers(source, tensor, wanted);
  source.pass(tensor.begin);
  RowMatrix rows = read_matrix(source, type, tensor.shape[0], tensor.shape[1], /*by_columns=*/false);
  return with_words(source, TableFormat::safetensors, std::move(rows), options);
}

void write_safetensors(OutputFile& file, const WordTable& table, const std::string& tensor) {
  const std::span<const float> values = table.rows().values();
  Json header;
  header["__metadata__"] = {{"format", "pt"}};
  header[tensor] = {
      {"dtype", "F32"}, {"shape", {table.size(), table.width()}}, {"data_offsets", {0, values.size_bytes()}}};
  std::string text = header.dump();
  while (text.size() % 8 != 0) text += ' ';
  std::string length;
  for (int shift = 0; shift < 64; shift += 8) length += static_cast<char>(text.size() >> shift & 0xFF);
  file.write(length + text);
  file.write({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

}  // namespace jari
