// A tokenizer of Hugging Face's library, from its tokenizer.json.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct HuggingFaceParameters {
  SpecPath file;

  template <class F>
  void fields(F& f) {
    f("file", file, "a tokenizer.json with a model BPE, Unigram or WordPiece", required, output_setting);
  }
  void check(FieldChecks& checks) const { check_file(checks, "file", file); }

  std::string text() const { return std::string(MappedFile(file.path).bytes()); }
};

class HuggingFace final : public Tokenizer {
 public:
  explicit HuggingFace(const HuggingFaceParameters& parameters)
      : tokenizer_(Subword::read(parameters.text(), shown_path(parameters.file.path)), parameters.text(),
                   files_hash({parameters.file.path})) {}

  void split(std::string_view text, PieceList& pieces) const override { tokenizer_.split(text, pieces); }
  bool keeps_line_ends() const override { return tokenizer_.keeps_line_ends(); }
  const std::vector<std::string>* own_pieces() const override { return tokenizer_.own_pieces(); }
  void encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const override {
    tokenizer_.encode(text, place, ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override { return tokenizer_.decode(ids); }
  std::string to_json() const override { return tokenizer_.to_json(); }
  std::string content_hash() const override { return tokenizer_.content_hash(); }

 private:
  SubwordTokenizer tokenizer_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::HuggingFace, jari::HuggingFaceParameters>(
      "hugging_face", "a tokenizer of Hugging Face's library, from its tokenizer.json");
}
