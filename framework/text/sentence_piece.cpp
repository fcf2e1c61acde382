#include "framework/text/sentence_piece.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/text/mapped_file.hpp"

#ifdef JARI_HAVE_SENTENCEPIECE
#include <sentencepiece_processor.h>

namespace jari {

bool has_sentence_piece() { return true; }

struct SentencePiece::Model {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePiece::SentencePiece(const std::filesystem::path& path) : model_(std::make_unique<Model>()) {
  const MappedFile file(path);
  // Parsing bytes that are no model would print on stderr, so that they are looked at first: a model is a message of
  // pieces, which are messages that begin with their text (field 1, of bytes).
  const std::string_view bytes = file.bytes();
  const bool looks_right = bytes.size() > 4 && bytes[0] == '\x0A' && bytes[2] == '\x0A';
  if (!looks_right || !model_->processor.LoadFromSerializedProto(bytes).ok())
    throw StoreError(
        fmt::format("{}: no model of SentencePiece; expected a file that spm_train has made", shown_path(path)));
  for (int id = 0; id < model_->processor.GetPieceSize(); ++id) pieces_.push_back(model_->processor.IdToPiece(id));
}

SentencePiece::~SentencePiece() = default;

void SentencePiece::encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const {
  // The space that the rest of a text begins with is the one that a model puts before a text.
  if (place == TextPlace::rest && text.starts_with(' ')) text.remove_prefix(1);
  std::vector<int> found;
  const auto status = model_->processor.Encode(text, &found);
  if (!status.ok()) throw StoreError(fmt::format("SentencePiece can not encode a text: {}", status.ToString()));
  ids.insert(ids.end(), found.begin(), found.end());
}

std::string SentencePiece::decode(std::span<const std::int32_t> ids) const {
  for (const std::int32_t id : ids)
    JARI_ASSERT(id >= 0 && static_cast<std::size_t>(id) < pieces_.size(), "an id outside of the vocabulary");
  std::string text;
  const auto status = model_->processor.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
  if (!status.ok()) throw StoreError(fmt::format("SentencePiece can not decode ids: {}", status.ToString()));
  return text;
}

}  // namespace jari

#else

namespace jari {

bool has_sentence_piece() { return false; }

struct SentencePiece::Model {};

SentencePiece::SentencePiece(const std::filesystem::path&) {
  throw StoreError("this build has no SentencePiece: install libsentencepiece-dev, then configure and build again");
}
SentencePiece::~SentencePiece() = default;
void SentencePiece::encode(std::string_view, TextPlace, std::vector<std::int32_t>&) const {}
std::string SentencePiece::decode(std::span<const std::int32_t>) const { return ""; }

}  // namespace jari

#endif
