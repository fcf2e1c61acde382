#pragma once
// The block `data` of a spec: a corpus, and how it becomes ids.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/component/tokenizer.hpp"
#include "framework/registry/slot.hpp"
#include "framework/spec/fields.hpp"
#include "framework/spec/spec_path.hpp"
#include "framework/text/corpus_reader.hpp"
#include "framework/text/vocabulary.hpp"

namespace jari {

inline const EnumNames<Normalization>& enum_names(Normalization) {
  static const EnumNames<Normalization> names{{Normalization::nfc, "nfc"}, {Normalization::none, "none"}};
  return names;
}

struct VocabularySpec {
  std::optional<std::int64_t> size;
  std::int64_t min_count = 1;
  std::optional<std::string> unknown;
  std::vector<std::string> special;

  template <class F>
  void fields(F& f) {
    f("size", size, "ids at most, special tokens among them: the most frequent pieces", at_least(1), unit("pieces"));
    f("min_count", min_count, "how often a piece must occur to have an id", at_least(1));
    f("unknown", unknown, "token that stands for pieces without an id, e.g. <unk>; without it they are left out");
    f("special", special, "tokens that have ids although no text holds them, e.g. <mask>");
  }
  void check(FieldChecks& checks) const;

  VocabularySettings settings() const { return {size, min_count, unknown, special}; }
};

struct DataSpec {
  SpecPaths corpus;
  Slot<Tokenizer> tokenizer;
  std::optional<VocabularySpec> vocabulary;
  Normalization normalize = Normalization::nfc;

  template <class F>
  void fields(F& f) {
    f("corpus", corpus,
      "text files, plain, .gz or .zst: a path, one with * ? [...], or a list; its bytes count, not its name", required,
      output_setting);
    f("tokenizer", tokenizer, "what cuts the text into pieces", required);
    f("vocabulary", vocabulary,
      "which pieces have ids; without it all that occur, or a tokenizer's own vocabulary with its own ids");
    f("normalize", normalize, "Unicode normalization of the text");
  }
  // The corpus' files are looked for.
  void check(FieldChecks& checks) const;

  std::vector<std::filesystem::path> files() const;

  // The tokenizer; of one that learns, the one that has learned `model`.
  std::shared_ptr<const Tokenizer> learned_tokenizer(std::string_view model) const;

  // Of the corpus' files and those that the tokenizer was made from: part of a trial's identity. StoreError if one can
  // not be read.
  std::string content_hash() const;
};

}  // namespace jari
