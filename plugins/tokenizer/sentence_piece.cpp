// A tokenizer of SentencePiece (Kudo and Richardson 2018), from its .model file.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct SentencePieceParameters {
  SpecPath model;

  template <class F>
  void fields(F& f) {
    f("model", model, "a .model file that spm_train has made: byte pairs or unigram", required, output_setting);
  }
  void check(FieldChecks& checks) const { check_file(checks, "model", model); }
};

class SentencePieceTokenizer final : public Tokenizer {
 public:
  explicit SentencePieceTokenizer(const SentencePieceParameters& parameters)
      : model_(parameters.model.path), hash_(files_hash({parameters.model.path})) {}

  void split(std::string_view text, PieceList& pieces) const override { split_by_ids(*this, text, pieces); }
  const std::vector<std::string>* own_pieces() const override { return &model_.pieces(); }
  void encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const override {
    model_.encode(text, place, ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override { return model_.decode(ids); }
  std::string content_hash() const override { return hash_; }

 private:
  SentencePiece model_;
  std::string hash_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::SentencePieceTokenizer, jari::SentencePieceParameters>(
      "sentence_piece", "a tokenizer of SentencePiece, from its model file; needs a build with libsentencepiece");
}
