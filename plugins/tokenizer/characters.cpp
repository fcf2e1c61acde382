// Every code point is a piece.

#include "framework/plugin_api.hpp"

namespace jari {
namespace {

enum class WhiteSpace { keep, collapse, drop };
inline const EnumNames<WhiteSpace>& enum_names(WhiteSpace) {
  static const EnumNames<WhiteSpace> names{
      {WhiteSpace::keep, "keep"}, {WhiteSpace::collapse, "collapse"}, {WhiteSpace::drop, "drop"}};
  return names;
}

struct CharactersParameters {
  WhiteSpace white_space = WhiteSpace::keep;

  template <class F>
  void fields(F& f) {
    f("white_space", white_space,
      "keep: pieces like others, line ends too; collapse: one space for a run of it within a line; drop: no pieces");
  }
};

class Characters final : public Tokenizer {
 public:
  explicit Characters(const CharactersParameters& parameters) : white_space_(parameters.white_space) {}

  void split(std::string_view text, PieceList& pieces) const override {
    bool in_white_space = false;
    for (std::size_t offset = 0; offset < text.size();) {
      const std::size_t begin = offset;
      const bool is_space = is_white_space(next_code_point(text, offset));
      if (!is_space || white_space_ == WhiteSpace::keep) {
        pieces.add(text.substr(begin, offset - begin));
      } else if (white_space_ == WhiteSpace::collapse && !in_white_space) {
        pieces.add(" ");
      }
      in_white_space = is_space;
    }
  }

  bool keeps_line_ends() const override { return white_space_ == WhiteSpace::keep; }
  bool pieces_are_text() const override { return white_space_ == WhiteSpace::keep; }

 private:
  WhiteSpace white_space_;
};

}  // namespace
}  // namespace jari

JARI_PLUGIN(registry) {
  registry.add<jari::Tokenizer, jari::Characters, jari::CharactersParameters>("characters",
                                                                              "every code point is a piece");
}
