// GPT-2's two files. Both write bytes as printable characters: those that are printable in Latin-1 as themselves, the
// others as U+0100, U+0101 ...

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/base/text.hpp"
#include "framework/text/byte_pair.hpp"
#include "framework/text/mapped_file.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

// By code point: the byte that it stands for, or -1.
const std::array<int, 0x144>& byte_of_character() {
  static const std::array<int, 0x144> table = [] {
    std::array<int, 0x144> bytes;
    bytes.fill(-1);
    std::size_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      bytes[printable ? static_cast<std::size_t>(byte) : next++] = byte;
    }
    return bytes;
  }();
  return table;
}

std::optional<std::string> bytes_of(std::string_view characters) {
  std::string bytes;
  for (std::size_t offset = 0; offset < characters.size();) {
    const char32_t c = next_code_point(characters, offset);
    const int byte = c < byte_of_character().size() ? byte_of_character()[c] : -1;
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return bytes;
}

}  // namespace

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
    const std::optional<std::string> bytes = bytes_of(characters);
    if (!bytes || bytes->empty()) fail(fmt::format("'{}' is not written in GPT-2's byte alphabet", characters));
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= json.size() || taken[id.get<std::size_t>()]) {
      fail(fmt::format("'{}' has the id {}: ids are 0 to {}, each once", characters, id.dump(), json.size() - 1));
    }
    taken[id.get<std::size_t>()] = true;
    pieces_[id.get<std::size_t>()] = *bytes;
  }
  for (std::size_t i = 0; i < pieces_.size(); ++i) ids_.emplace(pieces_[i], static_cast<std::int32_t>(i));
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(static_cast<unsigned char>(byte));
    const auto found = ids_.find(std::string_view(&c, 1));
    if (found == ids_.end()) fail(fmt::format("there is no piece for the byte 0x{:02X}", byte));
    byte_ids_[byte] = found->second;
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
  std::size_t slots = 64;
  while (slots < lines.size() * 2) slots *= 2;
  slots_.assign(slots, {});
  std::int32_t rank = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool version = i == 0 && lines[i].starts_with("#version");
    if (!version && !lines[i].empty()) add_merge(lines[i], rank++, fmt::format("{}:{}", shown_path(path), i + 1));
  }
  if (rank == 0)
    throw StoreError(fmt::format("{}: no merges; expected GPT-2's vocab.bpe: two pieces a line", shown_path(path)));
}

void BytePair::add_merge(std::string_view line, std::int32_t rank, const std::string& place) {
  const auto fail = [&](const std::string& message) {
    throw StoreError(
        fmt::format("{}: {}; expected GPT-2's vocab.bpe: two pieces a line, and the encoder.json that belongs to it",
                    place, message));
  };
  const std::size_t space = line.find(' ');
  const std::optional<std::string> left = bytes_of(line.substr(0, std::min(space, line.size())));
  const std::optional<std::string> right = bytes_of(line.substr(std::min(space, line.size() - 1) + 1));
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
  if (find_merge(ids[0], ids[1]) == nullptr) insert_merge(ids[0], ids[1], {rank, ids[2]});
}

}  // namespace jari
