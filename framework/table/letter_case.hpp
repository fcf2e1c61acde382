#pragma once
// Letters of one case, for comparing words: simple Unicode mappings of one code point to one.

#include <string>
#include <string_view>

namespace jari {

std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

}  // namespace jari
