#include "framework/train/tokenize.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <span>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/store/system_calls.hpp"
#include "framework/text/piece_counter.hpp"

namespace jari {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 18;  // ids
constexpr std::int32_t kLineEnd = -1;                    // among the numbers of pieces

// Numbers that are written once and read once, in a file without a name: it goes with the process.
class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& folder) : path_(folder / ".tokens-XXXXXX") {
    std::string name = path_.string();
    descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) throw_system_error(folder, "write", errno);
    ::unlink(name.c_str());
  }
  ~ScratchFile() { ::close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  void add(std::int32_t number) {
    buffer_.push_back(number);
    if (buffer_.size() == kBuffered) flush();
  }

  // Calls `visit` with all numbers in order, a part at a time.
  template <class Visit>
  void read(const Visit& visit) {
    flush();
    if (::lseek(descriptor_, 0, SEEK_SET) < 0) throw_system_error(path_, "read", errno);
    std::vector<std::int32_t> part(kBuffered);
    for (;;) {
      const std::size_t count = fill({reinterpret_cast<char*>(part.data()), part.size() * sizeof(std::int32_t)});
      if (count == 0) return;
      visit(std::span<const std::int32_t>(part).first(count / sizeof(std::int32_t)));
    }
  }

 private:
  void flush() {
    const std::string_view bytes(reinterpret_cast<const char*>(buffer_.data()), buffer_.size() * sizeof(std::int32_t));
    if (const int error = write_all(descriptor_, bytes); error != 0) throw_system_error(path_, "write", error);
    buffer_.clear();
  }
  std::size_t fill(std::span<char> out) {
    std::size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t count = ::read(descriptor_, out.data() + filled, out.size() - filled);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) throw_system_error(path_, "read", errno);
      if (count == 0) break;
      filled += static_cast<std::size_t>(count);
    }
    return filled;
  }

  std::filesystem::path path_;
  std::vector<std::int32_t> buffer_;
  int descriptor_ = -1;
};

// Pieces as numbers: of a tokenizer's own vocabulary its ids, of the others in the order of first appearance.
class PieceNumbers {
 public:
  PieceNumbers(const Tokenizer& tokenizer, ScratchFile& numbers) : tokenizer_(tokenizer), numbers_(numbers) {
    const std::vector<std::string>* own = tokenizer.own_pieces();
    if (own == nullptr) return;
    counts_.assign(own->size(), 0);
    for (const std::string& piece : *own) ends_line_.push_back(piece.find('\n') != std::string::npos);
  }

  void add(const Segment& segment) {
    if (tokenizer_.keeps_line_ends()) {
      add_text(segment.text);
    } else {
      add_lines(segment.text);
    }
    if (!segment.ends_file) return;
    end_line();
    place_ = TextPlace::beginning;
  }

  std::int64_t total() const { return total_; }
  std::size_t lines() const { return lines_; }

  CountedPieces counted() const {
    if (const std::vector<std::string>* own = tokenizer_.own_pieces()) {
      return {static_cast<std::int32_t>(own->size()),
              [own](std::int32_t id) { return std::string_view((*own)[static_cast<std::size_t>(id)]); },
              [this](std::int32_t id) { return counts_[static_cast<std::size_t>(id)]; }};
    }
    return {counter_.size(), [this](std::int32_t number) { return counter_.piece(number); },
            [this](std::int32_t number) { return counter_.count(number); }};
  }

 private:
  void add_lines(std::string_view text) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = text.find('\n', begin);
      add_text(text.substr(begin, end - begin));
      if (end == std::string_view::npos) return;
      end_line();
      place_ = TextPlace::beginning;
      begin = end + 1;
    }
  }

  void add_text(std::string_view text) {
    if (tokenizer_.own_pieces() != nullptr) {
      ids_.clear();
      tokenizer_.encode(text, place_, ids_);
      place_ = TextPlace::rest;
      for (const std::int32_t id : ids_) {
        ++counts_[static_cast<std::size_t>(id)];
        add_number(id, ends_line_[static_cast<std::size_t>(id)]);
      }
      return;
    }
    pieces_.clear();
    tokenizer_.split(text, pieces_);
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::string_view piece = pieces_[i];
      add_number(counter_.add(piece), piece.find('\n') != std::string_view::npos);
    }
  }

  void add_number(std::int32_t number, bool ends_line) {
    numbers_.add(number);
    ++total_;
    if (ends_line) end_line();
  }

  // Lines without pieces are none.
  void end_line() {
    if (total_ == line_begin_) return;
    numbers_.add(kLineEnd);
    line_begin_ = total_;
    ++lines_;
  }

  const Tokenizer& tokenizer_;
  TextPlace place_ = TextPlace::beginning;  // of what comes next
  ScratchFile& numbers_;
  PieceCounter counter_;
  std::vector<std::int64_t> counts_;  // of a tokenizer's own pieces
  std::vector<bool> ends_line_;
  std::int64_t total_ = 0, line_begin_ = 0;
  std::size_t lines_ = 0;
  PieceList pieces_;
  std::vector<std::int32_t> ids_;
};

// All of a tokenizer's own pieces, with its own ids.
ChosenVocabulary own_vocabulary(const CountedPieces& counted) {
  std::vector<std::string> pieces;
  std::vector<std::int64_t> counts;
  std::vector<std::int32_t> id_of;
  for (std::int32_t id = 0; id < counted.size; ++id) {
    pieces.emplace_back(counted.piece(id));
    counts.push_back(counted.count(id));
    id_of.push_back(id);
  }
  return {Vocabulary(std::move(pieces), std::move(counts), std::nullopt, 0), std::move(id_of)};
}

// Numbers to ids; pieces without one, and lines that lose all of theirs, are left out. Returns where lines begin.
std::vector<std::int64_t> write_ids(ScratchFile& numbers, std::size_t lines, const std::vector<std::int32_t>& id_of,
                                    TokenFileWriter& writer) {
  std::vector<std::int64_t> starts;
  starts.reserve(lines + 1);
  starts.push_back(0);
  std::vector<std::int32_t> ids;
  std::int64_t written = 0;
  numbers.read([&](std::span<const std::int32_t> part) {
    ids.clear();
    for (const std::int32_t number : part) {
      if (number == kLineEnd) {
        const std::int64_t end = written + static_cast<std::int64_t>(ids.size());
        if (end > starts.back()) starts.push_back(end);
      } else if (const std::int32_t id = id_of[static_cast<std::size_t>(number)]; id >= 0) {
        ids.push_back(id);
      }
    }
    written += static_cast<std::int64_t>(ids.size());
    writer.ids(ids);
  });
  return starts;
}

}  // namespace

void tokenize(const DataSpec& data, const std::filesystem::path& folder, TokenFileWriter& writer, std::size_t block) {
  CorpusOptions options;
  options.normalization = data.normalize;
  options.block = block;
  const std::vector<std::filesystem::path> files = data.files();
  std::string model;
  if (data.tokenizer->learns()) {
    CorpusReader corpus(files, options);
    model = data.tokenizer->train(corpus);
  }
  const std::shared_ptr<const Tokenizer> tokenizer = data.learned_tokenizer(model);
  CorpusReader reader(files, options);
  ScratchFile numbers(folder);
  std::optional<PieceNumbers> pieces(std::in_place, *tokenizer, numbers);
  while (const std::optional<Segment> segment = reader.next()) pieces->add(*segment);
  const std::string name = files.empty() ? "corpus" : shown_path(files.front());
  if (pieces->total() == 0)
    throw StoreError(fmt::format("{}: the tokenizer '{}' finds no piece in the corpus", name, data.tokenizer.type()));

  const bool own = tokenizer->own_pieces() != nullptr && !data.vocabulary;
  const VocabularySettings settings = data.vocabulary ? data.vocabulary->settings() : VocabularySettings{};
  const ChosenVocabulary chosen =
      own ? own_vocabulary(pieces->counted()) : choose_vocabulary(pieces->counted(), settings);
  if (chosen.vocabulary.size() == chosen.vocabulary.special()) {
    throw StoreError(
        fmt::format("{}: no piece occurs {} times, so the vocabulary is empty: use a smaller min_count, or more text",
                    name, settings.min_count));
  }
  const std::size_t lines = pieces->lines();
  pieces.reset();  // the counted pieces are most of the memory, and are not needed any more
  writer.finish(write_ids(numbers, lines, chosen.id_of, writer), chosen.vocabulary, model);
}

}  // namespace jari
