#include "framework/table/tensor_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "framework/base/text.hpp"
#include "framework/table/formats.hpp"

namespace jari {
namespace {

using Json = nlohmann::json;

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
std::vector<TensorEntry> tensors_of(const InputFile& source, const Json& header, std::uint64_t bytes) {
  std::vector<TensorEntry> tensors;
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    TensorEntry tensor{name, {}, {}, 0, 0};
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

}  // namespace

std::string TensorEntry::to_string() const {
  return fmt::format("{} {} ({})", escaped_utf8(name), type, fmt::join(shape, ", "));
}

std::vector<TensorEntry> read_tensor_entries(InputFile& source) {
  const Json header = read_header(source);
  return tensors_of(source, header, source.most_left());
}

bool has_numbers(const TensorEntry& tensor) { return element_type(tensor.type).has_value(); }

ElementType require_numbers(const InputFile& source, const TensorEntry& tensor, const std::string& wanted) {
  const std::optional<ElementType> type = element_type(tensor.type);
  const auto refuse = [&](const std::string& reason) {
    source.fail(fmt::format("its tensor '{}' is {} ({}); {}", escaped_utf8(tensor.name), tensor.type,
                            fmt::join(tensor.shape, ", "), reason));
  };
  if (!type) refuse(wanted);
  std::int64_t needed = static_cast<std::int64_t>(type->size());
  bool is_absurd = false;
  for (const std::int64_t size : tensor.shape) is_absurd |= size < 0 || __builtin_mul_overflow(needed, size, &needed);
  if (is_absurd || static_cast<std::uint64_t>(needed) != tensor.end - tensor.begin)
    refuse(fmt::format("that is not what its {} bytes can hold", tensor.end - tensor.begin));
  return *type;
}

TensorFile::TensorFile(std::filesystem::path path) : path_(std::move(path)) {
  InputFile source = InputFile::open(path_);
  tensors_ = read_tensor_entries(source);
}

const TensorEntry* TensorFile::find(const std::string& name) const {
  const auto found =
      std::find_if(tensors_.begin(), tensors_.end(), [&](const TensorEntry& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::vector<double> TensorFile::read(const TensorEntry& tensor) const {
  InputFile source = InputFile::open(path_);
  read_tensor_entries(source);
  const ElementType type = require_numbers(source, tensor, "weights are F16, BF16, F32 or F64");
  source.pass(tensor.begin);
  std::vector<double> values(static_cast<std::size_t>((tensor.end - tensor.begin) / type.size()));
  read_values(source, type, values);
  return values;
}

}  // namespace jari
