#include "framework/text/tokenizer_file.hpp"

#include "framework/base/error.hpp"

namespace jari {

TokenizerFile::TokenizerFile(std::string_view text, std::string name) : name_(std::move(name)) {
  constexpr int kDeepest = 64;  // what nests without end would exhaust the stack where it is printed
  bool too_deep = false;
  const auto keep = [&](int depth, Json::parse_event_t, const Json&) {
    return !(too_deep = too_deep || depth > kDeepest);
  };
  json_ = Json::parse(text, keep, /*allow_exceptions=*/false);
  if (too_deep) fail(fmt::format("lists and objects are more than {} deep", kDeepest));
  if (!json_.is_object() || !json_.contains("model")) fail("no JSON object with a model");
}

void TokenizerFile::fail(const std::string& message) const {
  throw StoreError(fmt::format("{}: {}; expected Hugging Face's tokenizer.json with a model BPE, Unigram or WordPiece",
                               name_, message));
}

void TokenizerFile::unsupported(const std::string& what) const {
  throw StoreError(fmt::format("{}: {} is not supported", name_, what));
}

std::string TokenizerFile::type_of(const Json& step) const {
  if (!step.is_object()) fail("a step is no object");
  return get<std::string>(step, "type");
}

std::pair<std::string, bool> TokenizerFile::pattern_of(const Json& step) const {
  const Json pattern = get<Json>(step, "pattern");
  if (!pattern.is_object()) fail("a pattern is no object");
  const bool expression = pattern.contains("Regex");
  return {get<std::string>(pattern, expression ? "Regex" : "String"), expression};
}

void TokenizerFile::each(const char* key, const char* list, const Visit& visit) const {
  if (json_.contains(key)) each_of(json_[key], key, list, visit, 0);
}

void TokenizerFile::each_of(const Json& step, const char* key, const char* list, const Visit& visit, int depth) const {
  if (step.is_null()) return;
  if (type_of(step) != "Sequence") return visit(step);
  const auto found = step.find(list);
  if (found == step.end() || !found->is_array() || depth > 8)
    fail(fmt::format("{}: a sequence without '{}'", key, list));
  for (const Json& inner : *found) each_of(inner, key, list, visit, depth + 1);
}

}  // namespace jari
