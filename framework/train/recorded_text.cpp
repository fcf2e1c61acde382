#include "framework/train/recorded_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "framework/base/error.hpp"
#include "framework/text/normalize.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

constexpr std::size_t kListedPieces = 10;

// Own ids of the vocabulary's pieces.
std::vector<std::int32_t> own_ids(const std::vector<std::string>& own, const Vocabulary& vocabulary) {
  std::unordered_map<std::string_view, std::int32_t> id_of;
  for (const std::string& piece : own) id_of.emplace(piece, static_cast<std::int32_t>(id_of.size()));
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
    const auto found = id_of.find(vocabulary.pieces()[static_cast<std::size_t>(id)]);
    const bool is_piece = id >= vocabulary.special() && found != id_of.end();
    ids.push_back(is_piece ? found->second : -1);
  }
  return ids;
}

[[noreturn]] void refuse_pieces(const std::vector<std::string>& missing) {
  std::vector<std::string> quoted;
  for (std::size_t i = 0; i < std::min(missing.size(), kListedPieces); ++i)
    quoted.push_back(fmt::format("'{}'", escaped(missing[i])));
  const std::size_t more = missing.size() - quoted.size();
  throw SpecError(fmt::format(
      "the text has pieces that are not in the run's vocabulary: {}{}; write it without them, or train with "
      "a token that stands for such pieces (data.vocabulary.unknown)",
      joined(quoted), more > 0 ? fmt::format(", and {} more", more) : ""));
}

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  for (;;) {
    const Utf8Prefix prefix = utf8_prefix(bytes);
    text += bytes.substr(0, prefix.valid);
    if (prefix.valid == bytes.size()) return text;
    append_utf8(0xFFFD, text);
    bytes.remove_prefix(prefix.malformed ? prefix.valid + 1 : bytes.size());
  }
}

}  // namespace

DataSpec RecordedData::data_spec() const {
  DataSpec data;
  data.tokenizer = tokenizer;
  data.vocabulary = vocabulary;
  data.normalize = normalize;
  return data;
}

Vocabulary recorded_vocabulary(const RecordedData& data, const RunRecord& run) {
  std::optional<std::int32_t> unknown;
  std::size_t special = 0;
  if (data.vocabulary) {
    special = data.vocabulary->special.size();
    if (data.vocabulary->unknown) {
      unknown = 0;
      ++special;
    }
  }
  return Vocabulary(run.vocabulary_tokens, run.vocabulary_counts, unknown, static_cast<std::int32_t>(special));
}

RecordedText::RecordedText(const RecordedData& data, const RunRecord& run)
    : data_(data.data_spec()),
      tokenizer_(data_.learned_tokenizer(run.tokenizer_model)),
      vocabulary_(recorded_vocabulary(data, run)) {
  const std::vector<std::string>* own = tokenizer_->own_pieces();
  if (own != nullptr && data_.vocabulary) own_ids_ = own_ids(*own, vocabulary_);
}

std::vector<std::int32_t> RecordedText::encode(std::string_view text) const {
  if (const std::optional<std::size_t> offset = first_invalid_utf8(text))
    throw SpecError(fmt::format("the text is not UTF-8 at byte {}", *offset));
  std::string scratch;
  const std::string_view normal = data_.normalize == Normalization::nfc ? to_nfc(text, scratch) : text;
  std::vector<std::int32_t> ids;
  std::vector<std::string> missing;
  for (std::size_t begin = 0; begin <= normal.size();) {
    const std::size_t line_end = tokenizer_->keeps_line_ends() ? normal.size() : normal.find('\n', begin);
    const std::size_t end = std::min(line_end, normal.size());
    encode_part(normal.substr(begin, end - begin), ids, missing);
    begin = end + 1;
  }
  if (!missing.empty()) refuse_pieces(missing);
  return ids;
}

void RecordedText::encode_part(std::string_view part, std::vector<std::int32_t>& ids,
                               std::vector<std::string>& missing) const {
  if (tokenizer_->own_pieces() != nullptr && !data_.vocabulary)
    return tokenizer_->encode(part, TextPlace::beginning, ids);
  PieceList pieces;
  tokenizer_->split(part, pieces);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::optional<std::int32_t> id = vocabulary_.find(pieces[i]);
    if (!id) id = vocabulary_.unknown();
    if (id) {
      ids.push_back(*id);
    } else if (std::find(missing.begin(), missing.end(), pieces[i]) == missing.end()) {
      missing.emplace_back(pieces[i]);
    }
  }
}

std::string RecordedText::decode(std::span<const std::int32_t> ids) const { return valid_utf8(bytes_of(ids)); }

std::string RecordedText::bytes_of(std::span<const std::int32_t> ids) const {
  if (tokenizer_->own_pieces() != nullptr) return data_.vocabulary ? bytes_of_chosen(ids) : tokenizer_->decode(ids);
  const char* between = tokenizer_->pieces_are_text() ? "" : " ";
  std::string bytes;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) bytes += between;
    bytes += piece(ids[i]);
  }
  return bytes;
}

// What is no piece stands for itself, between stretches that the tokenizer makes a text of.
std::string RecordedText::bytes_of_chosen(std::span<const std::int32_t> ids) const {
  std::string bytes;
  std::vector<std::int32_t> stretch;
  const auto end_stretch = [&] {
    bytes += tokenizer_->decode(stretch);
    stretch.clear();
  };
  for (const std::int32_t id : ids) {
    const std::int32_t own = own_ids_[static_cast<std::size_t>(id)];
    if (own >= 0) {
      stretch.push_back(own);
      continue;
    }
    end_stretch();
    bytes += piece(id);
  }
  end_stretch();
  return bytes;
}

}  // namespace jari
