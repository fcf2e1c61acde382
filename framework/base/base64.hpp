#pragma once
// Bytes as text of 64 letters (RFC 4648).

#include <optional>
#include <string>
#include <string_view>

namespace jari {

// Nothing if the text is no base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace jari
