// Hugging Face's safetensors: the length of a JSON header (u64), the header, the tensors' bytes.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

using Json = nlohmann::json;

struct Tensor {
  std::string name, type;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0, end = 0;  // after the header
};

std::optional<ElementType> element_type(const std::string& name) {
  using Kind = ElementType::Kind;
  if (name == "F16") return ElementType{Kind::f16};
  if (name == "BF16") return ElementType{Kind::bf16};
  if (name == "F32") return ElementType{Kind::f32};
  if (name == "F64") return ElementType{Kind::f64};
  return std::nullopt;
}

Json read_header(InputFile& source) {
  unsigned char length_bytes[8];
  source.read(reinterpret_cast<char*>(length_bytes), sizeof length_bytes, "the header's length");
  std::uint64_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | length_bytes[i];
  constexpr std::uint64_t kLongest = 100'000'000;  // the format's own bound
  if (length > kLongest || length > source.most_left())
    source.fail(
        fmt::format("its header claims to be {} bytes long, and {} bytes are left", length, source.most_left()));
  std::string text(static_cast<std::size_t>(length), '\0');
  source.read(text.data(), text.size(), "the header");
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) source.fail("its header is no JSON object; this is no safetensors file");
  return header;
}

// Of the header; all but the metadata.
std::vector<Tensor> tensors_of(const InputFile& source, const Json& header, std::uint64_t bytes) {
  std::vector<Tensor> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    Tensor tensor{name, {}, {}, 0, 0};
    try {
      tensor.type = value.at("dtype").get<std::string>();
      tensor.shape = value.at("shape").get<std::vector<std::int64_t>>();
      tensor.begin = value.at("data_offsets").at(0).get<std::uint64_t>();
      tensor.end = value.at("data_offsets").at(1).get<std::uint64_t>();
    } catch (const Json::exception&) {
      source.fail(fmt::format("its header does not say type, shape and place of the tensor '{}'", escaped_utf8(name)));
    }
    if (tensor.begin > tensor.end || tensor.end > bytes) {
      source.fail(fmt::format("cut short: its tensor '{}' should take bytes {} to {}, and there are {}",
                              escaped_utf8(name), tensor.begin, tensor.end, bytes));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::string list_text(const std::vector<Tensor>& tensors) {
  constexpr std::size_t kMost = 12;
  std::vector<std::string> texts;
  for (const Tensor& tensor : tensors)
    texts.push_back(fmt::format("{} {} ({})", escaped_utf8(tensor.name), tensor.type, fmt::join(tensor.shape, ", ")));
  if (texts.size() > kMost) {
    const std::size_t more = texts.size() - kMost;
    texts.resize(kMost);
    texts.push_back(fmt::format("{} more", more));
  }
  return joined(texts);
}

const Tensor& choose(const InputFile& source, const std::vector<Tensor>& tensors, const std::string& name) {
  std::vector<const Tensor*> tables;
  for (const Tensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
    if (tensor.shape.size() == 2 && element_type(tensor.type)) tables.push_back(&tensor);
  }
  if (name.empty() && tables.size() == 1) return *tables.front();
  source.fail(fmt::format(
      "{}; it holds {}",
      name.empty() ? "name the tensor that is the table with --tensor" : fmt::format("there is no tensor '{}'", name),
      list_text(tensors)));
}

}  // namespace

LoadedTable read_safetensors(InputFile& source, const TableOptions& options) {
  const Json header = read_header(source);
  const std::uint64_t bytes = source.most_left();
  const std::vector<Tensor> tensors = tensors_of(source, header, bytes);
  const Tensor& tensor = choose(source, tensors, options.tensor);
  const std::optional<ElementType> type = element_type(tensor.type);
  const auto refuse = [&](const std::string& wanted) {
    source.fail(fmt::format("its tensor '{}' is {} ({}); {}", escaped_utf8(tensor.name), tensor.type,
                            fmt::join(tensor.shape, ", "), wanted));
  };
  if (!type || tensor.shape.size() != 2 || tensor.shape[0] < 0 || tensor.shape[1] < 1)
    refuse("a table needs F16, BF16, F32 or F64 with two axes, rows and columns");
  std::int64_t needed = 0;
  const bool is_absurd = __builtin_mul_overflow(tensor.shape[0], tensor.shape[1], &needed) ||
                         __builtin_mul_overflow(needed, static_cast<std::int64_t>(type->size()), &needed);
  if (is_absurd || static_cast<std::uint64_t>(needed) != tensor.end - tensor.begin)
    refuse(fmt::format("that is not what its {} bytes can hold", tensor.end - tensor.begin));
  source.pass(tensor.begin);
  RowMatrix rows = read_matrix(source, *type, tensor.shape[0], tensor.shape[1], /*by_columns=*/false);
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
