// Korean particles (josa) and common endings taken off a word: the longest ending of the list that leaves a stem of at
// least two characters. It knows no grammar: 고양이 (cat) loses its 이, while 사과 (apple) keeps its 과, as one
// character would be too short a stem.

#include <algorithm>
#include <array>

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

struct JosaParameters {
  std::vector<std::string> endings = {
      "에서는", "으로는", "에게는", "하였다", "되었다", "입니다", "에서", "에게", "으로", "이며", "이다",
      "였다",   "한다",   "하고",   "에는",   "에도",   "까지",   "부터", "보다", "처럼", "은",   "는",
      "이",     "가",     "을",     "를",     "의",     "에",     "로",   "과",   "와",   "도",   "만"};
  std::int64_t stem = 2;

  template <class F>
  void fields(F& f) {
    f("endings", endings, "what is taken off; the longest that fits, whatever the order");
    f("stem", stem, "characters that must remain", at_least(1), unit("characters"));
  }
  void check(FieldChecks& checks) const {
    for (std::size_t i = 0; i < endings.size(); ++i) {
      const std::string place = "endings." + std::to_string(i);
      if (endings[i].empty()) checks.error(place, "an empty ending takes nothing off", "take it out");
      if (std::count(endings.begin(), endings.begin() + static_cast<std::ptrdiff_t>(i), endings[i]) > 0) {
        checks.error(place, "'" + endings[i] + "' is in the list twice", "take one of them out");
      }
    }
  }
};

class Josa final : public Stemmer {
 public:
  explicit Josa(const JosaParameters& parameters) : least_(static_cast<std::size_t>(parameters.stem)) {
    std::vector<std::string> endings = parameters.endings;
    std::stable_sort(endings.begin(), endings.end(),
                     [](const auto& a, const auto& b) { return code_points(a) > code_points(b); });
    for (std::string& ending : endings) {
      const auto last = static_cast<unsigned char>(ending.back());
      by_last_byte_[last].push_back(std::move(ending));
    }
  }

  std::string_view stem(std::string_view word, std::string&) const override {
    for (const std::string& ending : by_last_byte_[static_cast<unsigned char>(word.back())]) {
      if (!word.ends_with(ending)) continue;
      const std::string_view rest = word.substr(0, word.size() - ending.size());
      if (code_points(rest) >= least_) return rest;
    }
    return word;
  }

 private:
  std::array<std::vector<std::string>, 256> by_last_byte_;  // longest first
  std::size_t least_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Stemmer, jari::Josa, jari::JosaParameters>(
      "josa", "takes Korean particles and common endings off, longest first");
}
