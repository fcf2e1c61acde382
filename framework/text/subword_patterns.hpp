#pragma once
// The regular expressions of tokenizer.json that are known: those that GPT-2's and our own files hold.

#include <string_view>

namespace jari {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kBeforeSpaces = "[\u2581\\s]";
inline constexpr std::string_view kStartOfLine = "\\n(?=[^\\n])";

}  // namespace jari
