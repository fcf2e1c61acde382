// Words as they are.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

class NoStemmer final : public Stemmer {
 public:
  std::string_view stem(std::string_view word, std::string&) const override { return word; }
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) { registry.add<jari::Stemmer, jari::NoStemmer>("none", "words as they are"); }
