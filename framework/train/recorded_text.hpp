#pragma once
// How a finished run cut its text, and which ids the pieces have. Its corpus may be gone.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/store/run_file.hpp"
#include "framework/train/data_spec.hpp"

namespace jari {

// The block `data` of a resolved spec, whose corpus is not looked for.
struct RecordedData {
  SpecNode corpus;
  Slot<Tokenizer> tokenizer;
  std::optional<VocabularySpec> vocabulary;
  Normalization normalize = Normalization::nfc;
  template <class F>
  void fields(F& f) {
    f("corpus", corpus, "not read");
    f("tokenizer", tokenizer, "what cuts the text into pieces", required);
    f("vocabulary", vocabulary, "which of the tokens are no text; the run has the others");
    f("normalize", normalize, "Unicode normalization of the text");
  }

  // Without a corpus.
  DataSpec data_spec() const;
};

// Of a run with that block.
Vocabulary recorded_vocabulary(const RecordedData& data, const RunRecord& run);

class RecordedText {
 public:
  RecordedText(const RecordedData& data, const RunRecord& run);

  const Vocabulary& vocabulary() const { return vocabulary_; }

  // The ids of a text. SpecError if it is not UTF-8, or has pieces without an id where no token stands for them.
  std::vector<std::int32_t> encode(std::string_view text) const;

  // The text of ids, as UTF-8: what is none becomes U+FFFD. Words that the tokenizer only counts are joined by spaces,
  // since what stood between them is gone.
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  void encode_part(std::string_view part, std::vector<std::int32_t>& ids, std::vector<std::string>& missing) const;
  std::string bytes_of(std::span<const std::int32_t> ids) const;
  std::string bytes_of_chosen(std::span<const std::int32_t> ids) const;
  const std::string& piece(std::int32_t id) const { return vocabulary_.pieces()[static_cast<std::size_t>(id)]; }

  DataSpec data_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Vocabulary vocabulary_;
  // By id, the tokenizer's own, of one that has pieces of its own of which the spec has chosen some; -1: no piece.
  std::vector<std::int32_t> own_ids_;
};

}  // namespace jari
