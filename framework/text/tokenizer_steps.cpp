// The steps of a tokenizer.json.

#include "framework/base/base64.hpp"
#include "framework/base/error.hpp"
#include "framework/text/character_map.hpp"
#include "framework/text/cut_patterns.hpp"
#include "framework/text/tokenizer_file.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

using Json = TokenizerFile::Json;

Normalizer replacement(const TokenizerFile& file, const Json& step) {
  using Kind = Normalizer::Kind;
  const auto [pattern, expression] = file.pattern_of(step);
  const auto content = file.get<std::string>(step, "content");
  if (!expression) return {Kind::replace, pattern, content};
  if (pattern == kStartOfLine) return {Kind::start_lines, "", content};
  if (pattern == kSeveralSpaces) return {Kind::join_spaces, "", content};
  file.unsupported(fmt::format("the expression '{}' in Replace", escaped(pattern)));
}

Normalizer character_map(const TokenizerFile& file, const Json& step) {
  const auto bytes = base64_decode(file.get<std::string>(step, "precompiled_charsmap"));
  if (!bytes) file.fail("precompiled_charsmap is no base64");
  try {
    return {Normalizer::Kind::character_map, "", "", std::make_shared<CharacterMap>(*bytes)};
  } catch (const StoreError& error) {
    file.fail(error.what());
  }
}

void add_bert(const TokenizerFile& file, const Json& step, std::vector<Normalizer>& steps) {
  using Kind = Normalizer::Kind;
  const bool lower_case = file.get<bool>(step, "lowercase", true);
  if (file.get<bool>(step, "clean_text", true)) steps.push_back({Kind::clean});
  if (file.get<bool>(step, "handle_chinese_chars", true)) steps.push_back({Kind::space_out_ideographs});
  if (file.get<bool>(step, "strip_accents", lower_case)) steps.push_back({Kind::strip_accents});
  if (lower_case) steps.push_back({Kind::lower_case});
}

void add_normalizer(const TokenizerFile& file, const Json& step, std::vector<Normalizer>& steps) {
  using Kind = Normalizer::Kind;
  const std::string type = file.type_of(step);
  if (type == "NFC") return steps.push_back({Kind::nfc});
  if (type == "NFD") return steps.push_back({Kind::nfd});
  if (type == "NFKC") return steps.push_back({Kind::nfkc});
  if (type == "NFKD") return steps.push_back({Kind::nfkd});
  if (type == "Lowercase") return steps.push_back({Kind::lower_case});
  if (type == "StripAccents") return steps.push_back({Kind::strip_marks});
  if (type == "Prepend") return steps.push_back({Kind::prepend, "", file.get<std::string>(step, "prepend")});
  if (type == "Replace") return steps.push_back(replacement(file, step));
  if (type == "Precompiled") return steps.push_back(character_map(file, step));
  if (type == "BertNormalizer") return add_bert(file, step, steps);
  if (type != "Strip") file.unsupported(fmt::format("the normalizer {}", type));
  if (file.get<bool>(step, "strip_left")) steps.push_back({Kind::strip_left});
  if (file.get<bool>(step, "strip_right")) steps.push_back({Kind::strip_right});
}

Cutter split(const TokenizerFile& file, const Json& step) {
  const auto [pattern, expression] = file.pattern_of(step);
  const auto behavior = file.get<std::string>(step, "behavior");
  const bool known = expression && !file.get<bool>(step, "invert", false);
  if (known && behavior == "Isolated") {
    if (pattern == kGpt2Pattern) return {Cutter::Kind::gpt2};
    if (pattern == kLlama3Pattern) return {Cutter::Kind::llama3};
    if (pattern == kQwenPattern) return {Cutter::Kind::qwen};
  }
  if (known && pattern == kBeforeSpaces && behavior == "MergedWithNext") return {Cutter::Kind::before_spaces};
  file.unsupported(fmt::format("Split by '{}', {}", escaped(pattern), behavior));
}

// Older files say `add_prefix_space` where newer ones say `prepend_scheme`.
Cutter::Prefix prefix_of(const TokenizerFile& file, const Json& step) {
  const bool added = file.get<bool>(step, "add_prefix_space", true);
  const auto scheme = file.get<std::string>(step, "prepend_scheme", std::string(added ? "always" : "never"));
  if (scheme == "always") return Cutter::Prefix::always;
  if (scheme == "first") return Cutter::Prefix::first;
  if (scheme != "never") file.unsupported(fmt::format("the prepend_scheme '{}'", scheme));
  return Cutter::Prefix::never;
}

std::string mark_of(const TokenizerFile& file, const Json& step) {
  const auto mark = file.get<std::string>(step, "replacement", std::string(kWordStart));
  if (code_points(mark) != 1) file.fail(fmt::format("the replacement '{}' is not one character", escaped(mark)));
  return mark;
}

void add_cutter(const TokenizerFile& file, const Json& step, std::vector<Cutter>& steps) {
  using Kind = Cutter::Kind;
  const std::string type = file.type_of(step);
  if (type == "Metaspace") {
    steps.push_back({Kind::metaspace, mark_of(file, step), prefix_of(file, step), file.get<bool>(step, "split", true)});
  } else if (type == "ByteLevel") {
    const bool prefix = file.get<bool>(step, "add_prefix_space", true);
    steps.push_back({Kind::byte_level, "", prefix ? Cutter::Prefix::always : Cutter::Prefix::never,
                     file.get<bool>(step, "use_regex", true)});
  } else if (type == "WhitespaceSplit") {
    steps.push_back({Kind::white_space});
  } else if (type == "BertPreTokenizer") {
    steps.push_back({Kind::white_space});
    steps.push_back({Kind::punctuation});
  } else if (type == "Punctuation") {
    const auto behavior = file.get<std::string>(step, "behavior", "Isolated");
    if (behavior != "Isolated") file.unsupported(fmt::format("Punctuation, {}", behavior));
    steps.push_back({Kind::punctuation});
  } else if (type == "Split") {
    steps.push_back(split(file, step));
  } else {
    file.unsupported(fmt::format("the pre-tokenizer {}", type));
  }
}

Joiner joiner(const TokenizerFile& file, const Json& step) {
  using Kind = Joiner::Kind;
  const std::string type = file.type_of(step);
  if (type == "ByteFallback") return {Kind::byte_fallback};
  if (type == "Fuse") return {Kind::fuse};
  if (type == "ByteLevel") return {Kind::byte_level};
  if (type == "Strip") {
    return {Kind::strip, file.get<std::string>(step, "content"), "", file.get<std::size_t>(step, "start"),
            file.get<std::size_t>(step, "stop")};
  }
  if (type == "Metaspace") {
    const bool prefix = prefix_of(file, step) != Cutter::Prefix::never;
    return {Kind::metaspace, mark_of(file, step), "", prefix ? 1u : 0u};
  }
  if (type == "WordPiece") {
    const bool cleanup = file.get<bool>(step, "cleanup", true);
    return {Kind::word_piece, file.get<std::string>(step, "prefix", "##"), "", cleanup ? 1u : 0u};
  }
  if (type != "Replace") file.unsupported(fmt::format("the decoder {}", type));
  const auto [pattern, expression] = file.pattern_of(step);
  if (expression) file.unsupported(fmt::format("the expression '{}' in a decoder", escaped(pattern)));
  return {Kind::replace, pattern, file.get<std::string>(step, "content")};
}

}  // namespace

std::vector<Normalizer> read_normalizers(const TokenizerFile& file) {
  std::vector<Normalizer> steps;
  file.each("normalizer", "normalizers", [&](const Json& step) { add_normalizer(file, step, steps); });
  return steps;
}

std::vector<Cutter> read_cutters(const TokenizerFile& file) {
  std::vector<Cutter> steps;
  file.each("pre_tokenizer", "pretokenizers", [&](const Json& step) { add_cutter(file, step, steps); });
  return steps;
}

std::vector<Joiner> read_joiners(const TokenizerFile& file) {
  std::vector<Joiner> steps;
  file.each("decoder", "decoders", [&](const Json& step) { steps.push_back(joiner(file, step)); });
  return steps;
}

}  // namespace jari
