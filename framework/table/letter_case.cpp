#include "framework/table/letter_case.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "framework/base/text.hpp"

namespace jari {
namespace {

std::string mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t offset = 0; offset < text.size();) {
    const std::size_t begin = offset;
    const char32_t code_point = next_code_point(text, offset);
    if (offset - begin == 1 && code_point > 0x7F) {  // no UTF-8: kept as it is
      result += text[begin];
      continue;
    }
    utf8proc_uint8_t bytes[4];
    const auto count = utf8proc_encode_char(map(static_cast<utf8proc_int32_t>(code_point)), bytes);
    result.append(bytes, bytes + count);
  }
  return result;
}

}  // namespace

std::string lower_case(std::string_view text) { return mapped(text, utf8proc_tolower); }
std::string upper_case(std::string_view text) { return mapped(text, utf8proc_toupper); }

}  // namespace jari
