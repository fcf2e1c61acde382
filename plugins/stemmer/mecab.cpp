// Morphological analysis by MeCab: the morphemes of a word without those of some classes, put together again. With
// mecab-ko-dic, whose tags are those of the Sejong corpus, particles are J*, endings E*, and signs S*.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct MecabParameters {
  SpecPath dictionary;
  std::vector<std::string> drop = {"J", "E", "S", "XSN", "XSV", "XSA", "VCP"};

  template <class F>
  void fields(F& f) {
    f("dictionary", dictionary, "folder of a compiled dictionary of MeCab's, such as mecab-ko-dic", required,
      output_setting);
    f("drop", drop, "morphemes that are left out: how their tag (the first field of the feature) begins");
  }
  void check(FieldChecks& checks) const { check_folder(checks, "dictionary", dictionary); }
};

class MecabStemmer final : public Stemmer {
 public:
  explicit MecabStemmer(const MecabParameters& parameters)
      : mecab_(parameters.dictionary.path),
        drop_(parameters.drop),
        hash_(files_hash({parameters.dictionary.path / "sys.dic", parameters.dictionary.path / "matrix.bin",
                          parameters.dictionary.path / "unk.dic", parameters.dictionary.path / "char.bin"})) {}

  // A word of which nothing is left stays whole.
  std::string_view stem(std::string_view word, std::string& scratch) const override {
    scratch.clear();
    mecab_.analyze(word, [&](std::string_view surface, std::string_view feature) {
      if (!is_dropped(feature.substr(0, feature.find(',')))) scratch += surface;
    });
    return scratch.empty() ? word : std::string_view(scratch);
  }

  std::string content_hash() const override { return hash_; }

 private:
  // Compound morphemes have several tags: "NP+JX". The first decides.
  bool is_dropped(std::string_view tag) const {
    for (const std::string& beginning : drop_) {
      if (tag.starts_with(beginning)) return true;
    }
    return false;
  }

  Mecab mecab_;
  std::vector<std::string> drop_;
  std::string hash_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Stemmer, jari::MecabStemmer, jari::MecabParameters>(
      "mecab", "morphological analysis with a dictionary of yours; needs a build with libmecab");
}
