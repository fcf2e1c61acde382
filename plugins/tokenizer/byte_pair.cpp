// Byte-pair encoding with GPT-2's two files (Radford et al. 2019).

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct BytePairParameters {
  SpecPath vocabulary, merges;

  template <class F>
  void fields(F& f) {
    f("vocabulary", vocabulary, "GPT-2's encoder.json: pieces to ids", required, output_setting);
    f("merges", merges, "GPT-2's vocab.bpe: pairs of pieces, the first merged first", required, output_setting);
  }
  void check(FieldChecks& checks) const {
    check_file(checks, "vocabulary", vocabulary);
    check_file(checks, "merges", merges);
  }
};

class BytePairTokenizer final : public Tokenizer {
 public:
  explicit BytePairTokenizer(const BytePairParameters& parameters)
      : byte_pair_(parameters.vocabulary.path, parameters.merges.path),
        hash_(files_hash({parameters.vocabulary.path, parameters.merges.path})) {}

  void split(std::string_view text, PieceList& pieces) const override {
    std::vector<std::int32_t> ids;
    encode(text, ids);
    for (const std::int32_t id : ids) pieces.add(byte_pair_.pieces()[static_cast<std::size_t>(id)]);
  }
  bool keeps_line_ends() const override { return true; }
  const std::vector<std::string>* own_pieces() const override { return &byte_pair_.pieces(); }
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const override { byte_pair_.encode(text, ids); }
  std::string content_hash() const override { return hash_; }

 private:
  BytePair byte_pair_;
  std::string hash_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::BytePairTokenizer, jari::BytePairParameters>(
      "byte_pair", "GPT-2's byte-level byte-pair encoding, from its two files");
}
