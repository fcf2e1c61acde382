// GPT-2's two files.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/base/text.hpp"
#include "framework/text/byte_alphabet.hpp"
#include "framework/text/byte_pair.hpp"
#include "framework/text/mapped_file.hpp"
#include "framework/text/unicode.hpp"

namespace jari {

BytePair::BytePair(const std::filesystem::path& vocabulary, const std::filesystem::path& merges) {
  read_vocabulary(vocabulary);
  read_merges(merges);
  find_whole_words();
}

void BytePair::read_vocabulary(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& message) {
    throw StoreError(fmt::format("{}: {}; expected GPT-2's encoder.json: one JSON object of pieces to ids",
                                 shown_path(path), message));
  };
  const MappedFile file(path);
  const nlohmann::json json = nlohmann::json::parse(file.bytes(), nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.empty()) fail("no JSON object");
  pieces_.resize(json.size());
  std::vector<bool> taken(json.size(), false);
  for (const auto& [characters, id] : json.items()) {
    const std::optional<std::string> bytes = byte_alphabet_decode(characters);
    if (!bytes || bytes->empty()) fail(fmt::format("'{}' is not written in GPT-2's byte alphabet", characters));
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= json.size() || taken[id.get<std::size_t>()]) {
      fail(fmt::format("'{}' has the id {}: ids are 0 to {}, each once", characters, id.dump(), json.size() - 1));
    }
    taken[id.get<std::size_t>()] = true;
    pieces_[id.get<std::size_t>()] = *bytes;
  }
  try {
    index_pieces();
  } catch (const StoreError& error) {
    fail(error.what());
  }
}

void BytePair::read_merges(const std::filesystem::path& path) {
  const MappedFile file(path);
  std::vector<std::string_view> lines;
  for (std::string_view rest = file.bytes(); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    lines.push_back(rest.substr(0, end));
    if (lines.back().ends_with('\r')) lines.back().remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::vector<PairMerge> merges;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool version = i == 0 && lines[i].starts_with("#version");
    if (!version && !lines[i].empty())
      merges.push_back(merge_of(lines[i], fmt::format("{}:{}", shown_path(path), i + 1)));
  }
  if (merges.empty())
    throw StoreError(fmt::format("{}: no merges; expected GPT-2's vocab.bpe: two pieces a line", shown_path(path)));
  merges_ = PairMerges(std::move(merges));
}

PairMerge BytePair::merge_of(std::string_view line, const std::string& place) const {
  const auto fail = [&](const std::string& message) {
    throw StoreError(
        fmt::format("{}: {}; expected GPT-2's vocab.bpe: two pieces a line, and the encoder.json that belongs to it",
                    place, message));
  };
  const std::size_t space = line.find(' ');
  const std::optional<std::string> left = byte_alphabet_decode(line.substr(0, std::min(space, line.size())));
  const std::optional<std::string> right = byte_alphabet_decode(line.substr(std::min(space, line.size() - 1) + 1));
  if (space == std::string_view::npos || !left || !right || left->empty() || right->empty())
    fail(fmt::format("'{}' is no pair", escaped(line)));
  std::int32_t ids[3];
  const std::string both = *left + *right;
  const std::string_view parts[3] = {*left, *right, both};
  for (int i = 0; i < 3; ++i) {
    const auto found = ids_.find(parts[i]);
    if (found == ids_.end()) fail(fmt::format("'{}' is not in the vocabulary", escaped(parts[i])));
    ids[i] = found->second;
  }
  return {ids[0], ids[1], ids[2]};
}

}  // namespace jari
