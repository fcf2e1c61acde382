// Tokenizers as Hugging Face's tokenizer.json: the steps around a byte-pair model, and its pieces and merges.

#include <nlohmann/json.hpp>
#include <utility>

#include "framework/text/byte_alphabet.hpp"
#include "framework/text/cut_patterns.hpp"
#include "framework/text/pair_training.hpp"

namespace jari {
namespace {

using Json = nlohmann::ordered_json;

// A text may hold the word start itself. It is written as kEscape "1" and kEscape as kEscape "0", so that decoding
// gives back every text. The character is of a private use area: no other is as rare.
constexpr std::string_view kEscape = "\uE581";

Json replacement(std::string_view kind, std::string_view from, std::string_view to) {
  return {{"type", "Replace"}, {"pattern", {{kind, from}}}, {"content", to}};
}

Json sequence(const char* list, Json steps) { return {{"type", "Sequence"}, {list, std::move(steps)}}; }

Json word_start_normalizer(bool nfc) {
  const std::string start(kWordStart), escape(kEscape);
  Json steps = Json::array();
  if (nfc) steps.push_back({{"type", "NFC"}});
  steps.push_back(replacement("String", escape, escape + "0"));
  steps.push_back(replacement("String", start, escape + "1"));
  steps.push_back({{"type", "Prepend"}, {"prepend", start}});
  steps.push_back(replacement("Regex", kStartOfLine, "\n" + start));
  steps.push_back(replacement("String", " ", start));
  return sequence("normalizers", std::move(steps));
}

Json word_start_decoder() {
  const std::string start(kWordStart), escape(kEscape);
  Json steps = Json::array();
  steps.push_back(replacement("String", start, " "));
  steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  steps.push_back(replacement("String", "\n ", "\n"));
  steps.push_back(replacement("String", escape + "1", start));
  steps.push_back(replacement("String", escape + "0", escape));
  return sequence("decoders", std::move(steps));
}

Json byte_level() {
  return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", true}};
}

// All of a tokenizer.json but added tokens, vocabulary and merges.
Json frame(const PairSettings& settings) {
  Json file = {{"version", "1.0"}, {"truncation", nullptr}, {"padding", nullptr}, {"added_tokens", Json::array()}};
  if (settings.mark == PairMark::word_start) {
    file["normalizer"] = word_start_normalizer(settings.nfc);
    file["pre_tokenizer"] = {
        {"type", "Split"}, {"pattern", {{"Regex", kBeforeSpaces}}}, {"behavior", "MergedWithNext"}, {"invert", false}};
  } else {
    file["normalizer"] = settings.nfc ? Json{{"type", "NFC"}} : Json(nullptr);
    file["pre_tokenizer"] = byte_level();
  }
  file["post_processor"] = nullptr;
  file["decoder"] = settings.mark == PairMark::word_start ? word_start_decoder() : byte_level();
  const bool characters = settings.mark == PairMark::word_start;
  file["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", nullptr},
                   {"fuse_unk", false},
                   {"byte_fallback", characters && settings.byte_fallback},
                   {"ignore_merges", false},
                   {"vocab", Json::object()},
                   {"merges", Json::array()}};
  return file;
}

void fill_model(Json& file, const std::vector<std::string>& pieces, const std::vector<PairMerge>& merges) {
  std::int32_t id = 0;
  // As a list: the object's own insertion looks through all keys, and these are different ones.
  Json::object_t& vocabulary = file["model"]["vocab"].get_ref<Json::object_t&>();
  for (const std::string& piece : pieces) vocabulary.std::vector<Json::object_t::value_type>::emplace_back(piece, id++);
  const auto text = [&](std::int32_t piece) { return pieces[static_cast<std::size_t>(piece)]; };
  for (const PairMerge& merge : merges) file["model"]["merges"].push_back({text(merge.left), text(merge.right)});
}

std::vector<std::string> byte_level_texts(const std::vector<std::string>& pieces, std::size_t first) {
  std::vector<std::string> texts = pieces;
  for (std::size_t i = first; i < texts.size(); ++i) texts[i] = byte_alphabet_encode(texts[i]);
  return texts;
}

}  // namespace

std::string tokenizer_json(const PairSettings& settings, const std::vector<std::string>& pieces,
                           const std::vector<PairMerge>& merges) {
  const bool bytes = settings.mark == PairMark::bytes;
  const bool unknown = !bytes && !settings.byte_fallback;
  const std::size_t special = settings.special.size() + (unknown ? 1 : 0);
  Json file = frame(settings);
  for (std::size_t id = 0; id < special && id < pieces.size(); ++id) {
    file["added_tokens"].push_back({{"id", id},
                                    {"content", pieces[id]},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  if (unknown) file["model"]["unk_token"] = kUnknownPiece;
  fill_model(file, bytes ? byte_level_texts(pieces, special) : pieces, merges);
  return file.dump(1) + "\n";
}

std::string tokenizer_json(const BytePair& pairs) {
  PairSettings settings;
  settings.mark = PairMark::bytes;
  settings.nfc = false;
  return tokenizer_json(settings, pairs.pieces(), pairs.merges().list());
}

}  // namespace jari
