// Byte-pair encoding: learned from the corpus (Sennrich et al. 2016), or with GPT-2's two files (Radford et al. 2019).

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "framework/plugin_api.hpp"

namespace jari {

inline const EnumNames<PairMark>& enum_names(PairMark) {
  static const EnumNames<PairMark> names{{PairMark::word_start, "word_start"}, {PairMark::bytes, "bytes"}};
  return names;
}

namespace {

struct PairTrainParameters {
  std::int64_t vocabulary = 0;
  PairMark mark = PairMark::word_start;
  std::optional<double> coverage;
  std::optional<bool> byte_fallback;
  std::vector<std::string> special;

  template <class F>
  void fields(F& f) {
    f("vocabulary", vocabulary, "how many pieces there are in all", required, at_least(2), unit("pieces"));
    f("mark", mark,
      "word_start: pieces of characters, with U+2581 where a word starts; bytes: pieces of bytes, cut as GPT-2's");
    f("coverage", coverage,
      "word_start: which part of the text its most frequent characters make up, those that are pieces (0.9995)",
      Range{0, 1, true, false});
    f("byte_fallback", byte_fallback,
      "word_start: other characters become pieces of their bytes (true); without it, the piece <unk>");
    f("special", special, "tokens that have ids although no text holds them, e.g. <pad>");
  }
  void check(FieldChecks& checks) const;

  PairSettings settings() const {
    PairSettings result;
    result.vocabulary = vocabulary;
    result.mark = mark;
    result.coverage = coverage.value_or(result.coverage);
    result.byte_fallback = byte_fallback.value_or(result.byte_fallback);
    result.special = special;
    return result;
  }
};

void PairTrainParameters::check(FieldChecks& checks) const {
  const bool bytes = mark == PairMark::bytes;
  if (bytes && coverage) checks.error("coverage", "has no effect: all bytes are pieces", "take it out");
  if (bytes && byte_fallback) checks.error("byte_fallback", "has no effect: all bytes are pieces", "take it out");
  const bool all_bytes = bytes || byte_fallback.value_or(true);
  const std::int64_t single = static_cast<std::int64_t>(special.size()) + (all_bytes ? 256 : 1) + (bytes ? 0 : 1);
  if (vocabulary < single) {
    checks.error("vocabulary", fmt::format("the single {} leave no room for others", all_bytes ? "bytes" : "tokens"),
                 fmt::format("give at least {}", single));
  }
  for (std::size_t i = 0; i < special.size(); ++i) {
    if (special[i].empty()) checks.error("special", "a token without a name", "write for example <pad>");
    const bool twice =
        std::find(special.begin() + static_cast<std::ptrdiff_t>(i) + 1, special.end(), special[i]) != special.end();
    if (twice)
      checks.error("special", fmt::format("the token '{}' is there twice", special[i]), "take one of them out");
    const bool taken =
        !bytes && (byte_fallback.value_or(true) ? byte_of_piece(special[i]).has_value() : special[i] == kUnknownPiece);
    if (taken) checks.error("special", fmt::format("'{}' is a piece already", special[i]), "take it out");
  }
}

struct BytePairParameters {
  std::optional<SpecPath> vocabulary, merges;
  std::optional<PairTrainParameters> train;

  template <class F>
  void fields(F& f) {
    f("vocabulary", vocabulary, "GPT-2's encoder.json: pieces to ids", output_setting);
    f("merges", merges, "GPT-2's vocab.bpe: pairs of pieces, the first merged first", output_setting);
    f("train", train, "learns the pieces from the corpus, instead of the two files");
  }
  void check(FieldChecks& checks) const;
};

void BytePairParameters::check(FieldChecks& checks) const {
  if (vocabulary) check_file(checks, "vocabulary", *vocabulary);
  if (merges) check_file(checks, "merges", *merges);
  if (train) {
    if (vocabulary) checks.error("vocabulary", "has no effect beside `train`", "take one of them out");
    if (merges) checks.error("merges", "has no effect beside `train`", "take one of them out");
  } else if (!vocabulary && !merges) {
    checks.error("", "neither files nor `train`",
                 "add train: {vocabulary: 8000}, or both vocabulary and merges with GPT-2's files");
  } else if (!vocabulary || !merges) {
    const char* missing = vocabulary ? "merges" : "vocabulary";
    checks.error("", fmt::format("missing key '{}': GPT-2's two files belong together", missing));
  }
}

// GPT-2's two files, or what is still to be learned.
class BytePairTokenizer final : public Tokenizer {
 public:
  explicit BytePairTokenizer(const BytePairParameters& parameters) : train_(parameters.train) {
    if (train_) return;
    const std::filesystem::path &vocabulary = parameters.vocabulary->path, &merges = parameters.merges->path;
    byte_pair_.emplace(vocabulary, merges);
    hash_ = files_hash({vocabulary, merges});
  }

  void split(std::string_view text, PieceList& pieces) const override {
    if (byte_pair_) split_by_ids(*this, text, pieces);
  }
  bool keeps_line_ends() const override { return true; }
  const std::vector<std::string>* own_pieces() const override { return byte_pair_ ? &byte_pair_->pieces() : nullptr; }
  void encode(std::string_view text, TextPlace, std::vector<std::int32_t>& ids) const override {
    if (byte_pair_) byte_pair_->encode(text, ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override {
    return byte_pair_ ? byte_pair_->decode(ids) : "";
  }

  bool learns() const override { return train_.has_value(); }
  std::string train(CorpusReader& corpus) const override {
    PairSettings settings = train_->settings();
    settings.nfc = corpus.normalization() == Normalization::nfc;
    PairTraining training(settings);
    TextPlace place = TextPlace::beginning;
    while (const std::optional<Segment> segment = corpus.next()) {
      training.add(segment->text, place);
      place = segment->ends_file ? TextPlace::beginning : TextPlace::rest;
    }
    return training.finish(corpus.name());
  }
  std::shared_ptr<const Tokenizer> with_model(std::string_view model) const override {
    Subword subword = Subword::read(model, "the trained tokenizer");
    subword.ignore_added_tokens();
    return std::make_shared<SubwordTokenizer>(std::move(subword), std::string(model));
  }

  std::string to_json() const override { return byte_pair_ ? tokenizer_json(*byte_pair_) : ""; }
  std::string content_hash() const override { return hash_; }

 private:
  std::optional<PairTrainParameters> train_;
  std::optional<BytePair> byte_pair_;
  std::string hash_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::BytePairTokenizer, jari::BytePairParameters>(
      "byte_pair", "byte-pair encoding that is learned from the corpus, or GPT-2's from its two files",
      "train: {vocabulary: 8000}");
}
