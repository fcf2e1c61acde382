#pragma once
// Files in the form of GPT-2's, with all 256 bytes and a few merges.

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace jari::test {

struct BytePairFiles {
  std::filesystem::path vocabulary, merges;
};

// In GPT-2's alphabet "Ġ" is a space.
inline const std::vector<std::pair<std::string, std::string>> kSmallMerges = {
    {"l", "l"}, {"h", "e"},   {"he", "ll"}, {"hell", "o"}, {"Ġ", "w"},
    {"o", "r"}, {"Ġw", "or"}, {"a", "a"},   {"aa", "a"},   {"aa", "aa"}};

inline BytePairFiles write_byte_pair(const std::filesystem::path& folder) {
  nlohmann::json ids;
  int next = 0;
  const auto utf8 = [](int c) {
    return c < 0x80 ? std::string(1, static_cast<char>(c))
                    : std::string{static_cast<char>(0xC0 | (c >> 6)), static_cast<char>(0x80 | (c & 0x3F))};
  };
  int hidden = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    ids[utf8(printable ? byte : hidden++)] = next++;
  }
  std::string lines = "#version: 0.2\n";
  for (const auto& [left, right] : kSmallMerges) {
    ids[left + right] = next++;
    lines += left + " " + right + "\n";
  }
  const BytePairFiles files = {folder / "encoder.json", folder / "vocab.bpe"};
  std::ofstream(files.vocabulary) << ids.dump();
  std::ofstream(files.merges) << lines;
  return files;
}

}  // namespace jari::test
