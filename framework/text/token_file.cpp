#include "framework/text/token_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "framework/base/error.hpp"
#include "framework/text/mapped_file.hpp"

namespace jari {
namespace {

constexpr std::string_view kMagic = "JARITOK2";

struct Trailer {
  std::array<char, 32> key{};
  std::int64_t ids = 0, line_starts = 0, pieces = 0, piece_bytes = 0, model_bytes = 0;
  std::int32_t unknown = -1, special = 0;
  std::array<char, 32> hash{};
};
static_assert(std::is_trivially_copyable_v<Trailer> && sizeof(Trailer) == 112);

std::size_t padding(std::size_t bytes) { return (8 - bytes % 8) % 8; }

// The sections of a file, one after the other.
class Sections {
 public:
  Sections(std::string_view bytes, const std::filesystem::path& path) : rest_(bytes), path_(path) {}

  std::string_view take(std::int64_t count, std::size_t size) {
    if (count < 0 || static_cast<std::size_t>(count) > rest_.size() / size) damaged();
    const std::string_view section = rest_.substr(0, static_cast<std::size_t>(count) * size);
    rest_.remove_prefix(section.size());
    return section;
  }
  template <class T>
  std::span<const T> values(std::int64_t count) {
    const std::string_view section = take(count, sizeof(T));
    return {reinterpret_cast<const T*>(section.data()), static_cast<std::size_t>(count)};
  }
  [[noreturn]] void damaged() const { throw StoreError(fmt::format("{}: a damaged token file", path_.string())); }

 private:
  std::string_view rest_;
  const std::filesystem::path& path_;
};

Trailer read_trailer(const MappedFile& file, const std::string& key, const Sections& sections) {
  const std::string_view bytes = file.bytes();
  Trailer trailer;
  if (bytes.size() < kMagic.size() + sizeof(Trailer) || !bytes.starts_with(kMagic)) sections.damaged();
  const std::string_view body = bytes.substr(0, bytes.size() - sizeof(Trailer));
  std::memcpy(&trailer, bytes.data() + body.size(), sizeof(Trailer));
  StreamHash hash;
  // In parts, so that looking at all of a large file does not take its size in memory.
  constexpr std::size_t kPart = std::size_t{1} << 24;
  for (std::size_t begin = 0; begin < body.size(); begin += kPart) {
    hash.update(body.substr(begin, kPart));
    file.release(begin + kPart);
  }
  hash.update({bytes.data() + body.size(), offsetof(Trailer, hash)});
  if (hash.hex() != std::string_view(trailer.hash.data(), 32)) sections.damaged();
  if (key != std::string_view(trailer.key.data(), 32)) sections.damaged();
  return trailer;
}

}  // namespace

TokenFileWriter::TokenFileWriter(std::function<void(std::string_view)> write, std::string key)
    : write_(std::move(write)), key_(std::move(key)) {
  JARI_ASSERT(key_.size() == 32, "a key is a hash");
  put(kMagic);
}

void TokenFileWriter::put(std::string_view bytes) {
  hash_.update(bytes);
  write_(bytes);
}

void TokenFileWriter::ids(std::span<const std::int32_t> part) {
  ids_ += static_cast<std::int64_t>(part.size());
  put_values(part);
}

void TokenFileWriter::finish(std::span<const std::int64_t> line_starts, const Vocabulary& vocabulary,
                             std::string_view model) {
  put(std::string(padding(static_cast<std::size_t>(ids_) * sizeof(std::int32_t)), '\0'));
  put_values(line_starts);
  put_values(std::span(vocabulary.counts()));
  std::string bytes;
  std::vector<std::int64_t> ends;
  for (const std::string& piece : vocabulary.pieces()) {
    bytes += piece;
    ends.push_back(static_cast<std::int64_t>(bytes.size()));
  }
  put_values(std::span<const std::int64_t>(ends));
  put(bytes);
  put(model);
  Trailer trailer;
  std::copy(key_.begin(), key_.end(), trailer.key.begin());
  trailer.ids = ids_;
  trailer.line_starts = static_cast<std::int64_t>(line_starts.size());
  trailer.pieces = vocabulary.size();
  trailer.piece_bytes = static_cast<std::int64_t>(bytes.size());
  trailer.model_bytes = static_cast<std::int64_t>(model.size());
  trailer.unknown = vocabulary.unknown().value_or(-1);
  trailer.special = vocabulary.special();
  put({reinterpret_cast<const char*>(&trailer), offsetof(Trailer, hash)});
  const std::string hash = hash_.hex();
  write_(hash);
}

std::shared_ptr<const TokenizedCorpus> open_token_file(const std::filesystem::path& path, const std::string& key) {
  auto corpus = std::make_shared<TokenizedCorpus>();
  corpus->file = std::make_shared<MappedFile>(path);
  Sections sections(corpus->file->bytes(), path);
  const Trailer trailer = read_trailer(*corpus->file, key, sections);
  sections.take(1, kMagic.size());
  corpus->ids = sections.values<std::int32_t>(trailer.ids);
  sections.take(static_cast<std::int64_t>(padding(corpus->ids.size_bytes())), 1);
  corpus->line_starts = sections.values<std::int64_t>(trailer.line_starts);
  const auto counts = sections.values<std::int64_t>(trailer.pieces);
  const auto ends = sections.values<std::int64_t>(trailer.pieces);
  const std::string_view bytes = sections.take(trailer.piece_bytes, 1);
  corpus->model = sections.take(trailer.model_bytes, 1);
  std::vector<std::string> pieces;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) {
    pieces.emplace_back(bytes.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    begin = end;
  }
  const std::optional<std::int32_t> unknown =
      trailer.unknown < 0 ? std::nullopt : std::optional<std::int32_t>(trailer.unknown);
  corpus->vocabulary = Vocabulary(std::move(pieces), {counts.begin(), counts.end()}, unknown, trailer.special);
  return corpus;
}

}  // namespace jari
