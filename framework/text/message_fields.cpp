#include "framework/text/message_fields.hpp"

#include <cstdint>
#include <optional>

namespace jari {
namespace {

// Takes a number of 7 bits a byte from the beginning of the message.
std::optional<std::uint64_t> take_number(std::string_view& message) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !message.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(message.front());
    message.remove_prefix(1);
    number |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

// How many bytes a field of this kind has; a number's are taken.
std::optional<std::uint64_t> take_size(unsigned kind, std::string_view& message) {
  constexpr unsigned kNumber = 0, kEight = 1, kBytes = 2, kFour = 5;
  if (kind == kBytes) return take_number(message);
  if (kind == kEight) return 8;
  if (kind == kFour) return 4;
  return kind == kNumber && take_number(message) ? std::optional<std::uint64_t>(0) : std::nullopt;
}

}  // namespace

bool visit_fields(std::string_view message, const VisitField& visit) {
  while (!message.empty()) {
    const auto tag = take_number(message);
    if (!tag) return false;
    const auto kind = static_cast<unsigned>(*tag & 7);
    const auto size = take_size(kind, message);
    if (!size || *size > message.size()) return false;
    if (kind == 2 && !visit(*tag >> 3, message.substr(0, *size))) return false;
    message.remove_prefix(*size);
  }
  return true;
}

}  // namespace jari
