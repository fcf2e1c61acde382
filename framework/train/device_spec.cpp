#include "framework/train/device_spec.hpp"

#include <fmt/format.h>

#include <charconv>

namespace jari {

std::string DeviceSpec::to_string() const {
  return card ? fmt::format("cuda:{}", *card) : FieldType<DeviceChoice>::initial(choice).text;
}

std::optional<int> card_number(const std::string& text) {
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) return std::nullopt;
  int number = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + kPrefix.size(), end, number);
  if (error != std::errc() || stop != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace jari
