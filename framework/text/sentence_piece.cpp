#include "framework/text/sentence_piece.hpp"

#include <fmt/format.h>

#include "framework/base/error.hpp"
#include "framework/base/shown_path.hpp"
#include "framework/text/mapped_file.hpp"

#ifdef JARI_HAVE_SENTENCEPIECE
#include <sentencepiece_processor.h>

#include "framework/text/character_map.hpp"
#include "framework/text/message_fields.hpp"

namespace jari {

bool has_sentence_piece() { return true; }

namespace {

// What the library does not look at: it prints on stderr where bytes are no model, and reads outside of rules that lead
// there. A model is a message of pieces (field 1), of normalizers (3 and 5, whose rules are field 2), and of others.
bool is_sound(std::string_view model) {
  bool has_pieces = false;
  const auto is_sound_part = [&](std::uint64_t number, std::string_view part) {
    if (number > 5) return true;
    has_pieces = has_pieces || number == 1;
    return visit_fields(part, [&](std::uint64_t inner, std::string_view bytes) {
      const bool rules = (number == 3 || number == 5) && inner == 2 && !bytes.empty();
      if (rules) CharacterMap{bytes};
      return true;
    });
  };
  return visit_fields(model, is_sound_part) && has_pieces;
}

bool load(std::string_view model, sentencepiece::SentencePieceProcessor& processor) {
  try {
    return is_sound(model) && processor.LoadFromSerializedProto(model).ok();
  } catch (const std::exception&) {  // of the rules, or the library's, of pieces
    return false;
  }
}

}  // namespace

struct SentencePiece::Model {
  sentencepiece::SentencePieceProcessor processor;
};

SentencePiece::SentencePiece(const std::filesystem::path& path) : model_(std::make_unique<Model>()) {
  const MappedFile file(path);
  if (!load(file.bytes(), model_->processor))
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
