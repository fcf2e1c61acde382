#include "framework/text/subword.hpp"

#include <algorithm>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/text/unicode.hpp"

namespace jari {

Subword::Subword(TextSteps steps, std::vector<AddedToken> added, SubwordModel model, std::vector<Joiner> joiners)
    : steps_(std::move(steps)), added_(std::move(added)), model_(std::move(model)), joiners_(std::move(joiners)) {
  std::stable_sort(added_.begin(), added_.end(),
                   [](const AddedToken& a, const AddedToken& b) { return a.text.size() > b.text.size(); });
  for (const AddedToken& token : added_) begins_added_[static_cast<unsigned char>(token.text.front())] = true;
}

const std::vector<std::string>& Subword::pieces() const {
  return std::visit([](const auto& model) -> const std::vector<std::string>& { return model.pieces(); }, model_);
}

const AddedToken* Subword::added_at(std::string_view text, bool normalized) const {
  if (!begins_added_[static_cast<unsigned char>(text.front())]) return nullptr;
  for (const AddedToken& token : added_) {
    if (token.normalized == normalized && text.starts_with(token.text)) return &token;
  }
  return nullptr;
}

// Calls `between(part, is_first)` for the text between added tokens, whose ids it appends.
template <class Between>
void Subword::cut_out_added(std::string_view text, bool normalized, std::vector<std::int32_t>& ids,
                            const Between& between) const {
  const bool any = std::any_of(added_.begin(), added_.end(),
                               [&](const AddedToken& token) { return token.normalized == normalized; });
  bool first = true;
  std::size_t begin = 0;
  for (std::size_t at = 0; any && at < text.size();) {
    const AddedToken* token = added_at(text.substr(at), normalized);
    if (token == nullptr) {
      ++at;
      continue;
    }
    std::string_view before = text.substr(begin, at - begin);
    if (token->strip_left) before = without_trailing_white_space(before);
    if (!before.empty()) between(before, first);
    ids.push_back(token->id);
    at += token->text.size();
    if (token->strip_right) at += leading_white_space(text.substr(at));
    begin = at;
    first = false;
  }
  if (begin < text.size()) between(text.substr(begin), first);
}

void Subword::encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const {
  const auto encode_word = [&](std::string_view word) {
    std::visit([&](const auto& model) { model.encode_word(word, ids); }, model_);
  };
  cut_out_added(text, false, ids, [&](std::string_view part, bool first) {
    const TextPlace part_place = first ? place : TextPlace::part;
    const std::string normal = steps_.normalize(part, part_place);
    cut_out_added(normal, true, ids, [&](std::string_view rest, bool first_of_part) {
      steps_.cut(rest, first_of_part ? part_place : TextPlace::part, encode_word);
    });
  });
}

std::string Subword::decode(std::span<const std::int32_t> ids) const {
  std::vector<std::string> parts;
  for (const std::int32_t id : ids) {
    JARI_ASSERT(id >= 0 && static_cast<std::size_t>(id) < pieces().size(), "an id outside of the vocabulary");
    parts.push_back(pieces()[static_cast<std::size_t>(id)]);
  }
  return join_pieces(std::move(parts), joiners_);
}

}  // namespace jari
