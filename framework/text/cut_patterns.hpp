#pragma once
// The regular expressions of tokenizer.json that are known: those that files of GPT-2, Llama 3, Qwen, of SentencePiece
// and our own hold; and those of them that cut a text into pieces, written out.

#include <cstddef>
#include <string_view>

namespace jari {

inline constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
// GPT-4's too, but for how it is written.
inline constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
inline constexpr std::string_view kQwenPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// Where the pattern ends the piece that begins at `offset`.
std::size_t gpt2_piece_end(std::string_view text, std::size_t offset);
// Llama 3's has at most 3 digits in a piece, Qwen's 1.
std::size_t llama3_piece_end(std::string_view text, std::size_t offset, int most_digits);

inline constexpr std::string_view kBeforeSpaces = "[\u2581\\s]";
inline constexpr std::string_view kStartOfLine = "\\n(?=[^\\n])";
inline constexpr std::string_view kSeveralSpaces = " {2,}";

}  // namespace jari
