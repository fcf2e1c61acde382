// Reading a tokenizer.json. Whatever of it is not known here is an error: ids would silently differ.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/text/byte_alphabet.hpp"
#include "framework/text/subword.hpp"
#include "framework/text/subword_patterns.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : name_(name) {
    file_ = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!file_.is_object() || !file_.contains("model")) fail("no JSON object with a model");
  }

  Subword read() {
    each("normalizer", "normalizers", [&](const Json& step) { add_normalizer(step); });
    each("pre_tokenizer", "pretokenizers", [&](const Json& step) { add_cutter(step); });
    each("decoder", "decoders", [&](const Json& step) { add_joiner(step); });
    TextSteps steps(std::move(normalizers_), std::move(cutters_));
    check_model();
    read_added();
    read_pieces();
    const bool bytes = steps.byte_level();
    if (bytes) decode_pieces();
    PairModel model = make_model(bytes);
    return {std::move(steps), std::move(added_), std::move(model), std::move(joiners_)};
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw StoreError(
        fmt::format("{}: {}; expected Hugging Face's tokenizer.json with a byte-pair model", name_, message));
  }
  [[noreturn]] void unsupported(const std::string& what) const {
    throw StoreError(fmt::format("{}: {} is not supported", name_, what));
  }

  // -- values that must be there, or have a default
  template <class T>
  T get(const Json& object, const char* key, std::optional<T> otherwise = std::nullopt) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) {
      if (otherwise) return *otherwise;
      fail(fmt::format("'{}' is missing in {}", key, object.dump().substr(0, 80)));
    }
    try {
      return found->get<T>();
    } catch (const Json::exception&) {
      fail(fmt::format("'{}' is {}", key, found->dump().substr(0, 80)));
    }
  }
  std::string type_of(const Json& step) const {
    if (!step.is_object()) fail("a step is no object");
    return get<std::string>(step, "type");
  }

  // The steps under a key: null, one, or a sequence, which may hold others.
  template <class Visit>
  void each(const char* key, const char* list, const Visit& visit) const {
    if (file_.contains(key)) each_of(file_[key], key, list, visit, 0);
  }
  template <class Visit>
  void each_of(const Json& step, const char* key, const char* list, const Visit& visit, int depth) const {
    if (step.is_null()) return;
    if (type_of(step) != "Sequence") return visit(step);
    const auto found = step.find(list);
    if (found == step.end() || !found->is_array() || depth > 8)
      fail(fmt::format("{}: a sequence without '{}'", key, list));
    for (const Json& inner : *found) each_of(inner, key, list, visit, depth + 1);
  }

  // {"String": text} or {"Regex": text}.
  std::pair<std::string, bool> pattern_of(const Json& step) const {
    const Json pattern = get<Json>(step, "pattern");
    if (!pattern.is_object()) fail("a pattern is no object");
    const bool expression = pattern.contains("Regex");
    return {get<std::string>(pattern, expression ? "Regex" : "String"), expression};
  }

  void add_normalizer(const Json& step) {
    using Kind = Normalizer::Kind;
    const std::string type = type_of(step);
    if (type == "NFC") return normalizers_.push_back({Kind::nfc});
    if (type == "NFKC") return normalizers_.push_back({Kind::nfkc});
    if (type == "Lowercase") return normalizers_.push_back({Kind::lower_case});
    if (type == "Prepend") return normalizers_.push_back({Kind::prepend, "", get<std::string>(step, "prepend")});
    if (type == "Replace") return add_replacement(step);
    if (type != "BertNormalizer") unsupported(fmt::format("the normalizer {}", type));
    for (const char* key : {"clean_text", "handle_chinese_chars", "strip_accents", "lowercase"}) {
      if (get<bool>(step, key, false)) unsupported(fmt::format("BertNormalizer with {}", key));
    }
  }
  void add_replacement(const Json& step) {
    const auto [pattern, expression] = pattern_of(step);
    const auto content = get<std::string>(step, "content");
    if (expression && pattern != kStartOfLine)
      unsupported(fmt::format("the expression '{}' in Replace", escaped(pattern)));
    normalizers_.push_back({expression ? Normalizer::Kind::start_lines : Normalizer::Kind::replace, pattern, content});
  }

  void add_cutter(const Json& step) {
    using Kind = Cutter::Kind;
    const std::string type = type_of(step);
    if (type == "Metaspace") {
      cutters_.push_back({Kind::metaspace, get<std::string>(step, "replacement", std::string(kWordStart)),
                          prefix_of(step), get<bool>(step, "split", true)});
    } else if (type == "ByteLevel") {
      const bool prefix = get<bool>(step, "add_prefix_space", true);
      cutters_.push_back({Kind::byte_level, "", prefix ? Cutter::Prefix::always : Cutter::Prefix::never,
                          get<bool>(step, "use_regex", true)});
    } else if (type == "WhitespaceSplit") {
      cutters_.push_back({Kind::white_space});
    } else if (type == "Split") {
      add_split(step);
    } else {
      unsupported(fmt::format("the pre-tokenizer {}", type));
    }
  }
  void add_split(const Json& step) {
    const auto [pattern, expression] = pattern_of(step);
    const auto behavior = get<std::string>(step, "behavior");
    const bool inverted = get<bool>(step, "invert", false);
    if (expression && pattern == kGpt2Pattern && behavior == "Isolated" && !inverted) {
      cutters_.push_back({Cutter::Kind::gpt2});
    } else if (expression && pattern == kBeforeSpaces && behavior == "MergedWithNext" && !inverted) {
      cutters_.push_back({Cutter::Kind::before_spaces});
    } else {
      unsupported(fmt::format("Split by '{}', {}", escaped(pattern), behavior));
    }
  }
  // Older files say `add_prefix_space` where newer ones say `prepend_scheme`.
  Cutter::Prefix prefix_of(const Json& step) const {
    const bool added = get<bool>(step, "add_prefix_space", true);
    const auto scheme = get<std::string>(step, "prepend_scheme", std::string(added ? "always" : "never"));
    if (scheme == "always") return Cutter::Prefix::always;
    if (scheme == "first") return Cutter::Prefix::first;
    if (scheme != "never") unsupported(fmt::format("the prepend_scheme '{}'", scheme));
    return Cutter::Prefix::never;
  }

  void add_joiner(const Json& step) {
    using Kind = Joiner::Kind;
    const std::string type = type_of(step);
    if (type == "ByteFallback") return joiners_.push_back({Kind::byte_fallback});
    if (type == "Fuse") return joiners_.push_back({Kind::fuse});
    if (type == "ByteLevel") return joiners_.push_back({Kind::byte_level});
    if (type == "Strip") {
      return joiners_.push_back({Kind::strip, get<std::string>(step, "content"), "", get<std::size_t>(step, "start"),
                                 get<std::size_t>(step, "stop")});
    }
    if (type == "Metaspace") {
      const bool prefix = prefix_of(step) != Cutter::Prefix::never;
      return joiners_.push_back(
          {Kind::metaspace, get<std::string>(step, "replacement", std::string(kWordStart)), "", prefix ? 1u : 0u});
    }
    if (type != "Replace") unsupported(fmt::format("the decoder {}", type));
    const auto [pattern, expression] = pattern_of(step);
    if (expression) unsupported(fmt::format("the expression '{}' in a decoder", escaped(pattern)));
    joiners_.push_back({Kind::replace, pattern, get<std::string>(step, "content")});
  }

  void check_model() const {
    const Json& model = file_["model"];
    if (!model.is_object()) fail("the model is no object");
    // Old files leave the type out.
    const auto type = get<std::string>(model, "type", std::string(model.contains("merges") ? "BPE" : "unknown"));
    if (type != "BPE") unsupported(fmt::format("a model of type {}", type));
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!get<std::string>(model, key, std::string()).empty()) unsupported(key);
    }
    if (get<double>(model, "dropout", 0.0) > 0) unsupported("dropout");
  }

  void read_added() {
    const Json tokens = get<Json>(file_, "added_tokens", Json::array());
    if (!tokens.is_array()) fail("added_tokens is no list");
    for (const Json& token : tokens) {
      if (!token.is_object()) fail("added_tokens holds what is no token");
      const auto text = get<std::string>(token, "content");
      if (text.empty()) fail("added_tokens holds an empty one");
      if (get<bool>(token, "single_word", false)) unsupported(fmt::format("single_word of the token '{}'", text));
      added_.push_back({text, get<std::int32_t>(token, "id"), get<bool>(token, "normalized", false),
                        get<bool>(token, "lstrip", false), get<bool>(token, "rstrip", false)});
    }
  }

  // Ids of the vocabulary and of the added tokens, together 0, 1, 2 ...
  void read_pieces() {
    const Json& vocabulary = file_["model"]["vocab"];
    if (!vocabulary.is_object()) fail("the model has no vocabulary");
    const std::size_t most = vocabulary.size() + added_.size();
    std::vector<bool> taken;
    const auto place = [&](const std::string& piece, const Json& id) {
      if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::uint64_t>() >= most)
        fail(fmt::format("'{}' has the id {}", escaped(piece), id.dump()));
      const auto at = id.get<std::size_t>();
      if (at >= pieces_.size()) {
        pieces_.resize(at + 1);
        taken.resize(at + 1, false);
      }
      if (taken[at] && pieces_[at] != piece)
        fail(fmt::format("'{}' and '{}' have both the id {}", escaped(pieces_[at]), escaped(piece), at));
      taken[at] = true;
      pieces_[at] = piece;
    };
    for (const auto& [piece, id] : vocabulary.items()) {
      place(piece, id);
      ids_.emplace(piece, id.get<std::int32_t>());
    }
    for (const AddedToken& token : added_) place(token.text, token.id);
    const auto hole = std::find(taken.begin(), taken.end(), false);
    if (hole != taken.end()) fail(fmt::format("no piece has the id {}", hole - taken.begin()));
    if (pieces_.empty()) fail("the vocabulary is empty");
  }

  void decode_pieces() {
    for (std::string& piece : pieces_) {
      const auto is_piece = [&](const AddedToken& token) { return token.text == piece; };
      if (std::any_of(added_.begin(), added_.end(), is_piece)) continue;
      std::optional<std::string> bytes = byte_alphabet_decode(piece);
      if (!bytes) fail(fmt::format("'{}' is not written in GPT-2's byte alphabet", escaped(piece)));
      piece = std::move(*bytes);
    }
  }

  std::int32_t id_of(const std::string& piece) const {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) fail(fmt::format("'{}' is not in the vocabulary", escaped(piece)));
    return found->second;
  }

  // Each is a list of two pieces, or in older files both with a space between them.
  PairMerge merge_of(const Json& merge) const {
    std::string left, right;
    if (merge.is_string()) {
      const auto text = merge.get<std::string>();
      const std::size_t space = text.find(' ');
      if (space != std::string::npos) {
        left = text.substr(0, space);
        right = text.substr(space + 1);
      }
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = merge[0].get<std::string>();
      right = merge[1].get<std::string>();
    }
    if (left.empty() || right.empty()) fail(fmt::format("the merge {} is no pair", merge.dump()));
    return {id_of(left), id_of(right), id_of(left + right)};
  }

  PairModel make_model(bool bytes) {
    const Json& model = file_["model"];
    std::vector<PairMerge> merges;
    const Json list = get<Json>(model, "merges");
    if (!list.is_array()) fail("the merges are no list");
    for (const Json& merge : list) merges.push_back(merge_of(merge));
    if (bytes) {
      if (get<bool>(model, "ignore_merges", false)) unsupported("ignore_merges of a byte-level model");
      try {
        return BytePair(std::move(pieces_), std::move(merges));
      } catch (const StoreError& error) {
        fail(error.what());
      }
    }
    CharacterPairsOptions options;
    options.byte_fallback = get<bool>(model, "byte_fallback", false);
    const auto unknown = get<std::string>(model, "unk_token", std::string());
    if (!unknown.empty()) options.unknown = id_of(unknown);
    options.fuse_unknown = get<bool>(model, "fuse_unk", false);
    options.whole_words_first = get<bool>(model, "ignore_merges", false);
    return CharacterPairs(std::move(pieces_), std::move(merges), options);
  }

  std::string name_;
  Json file_;
  std::vector<Normalizer> normalizers_;
  std::vector<Cutter> cutters_;
  std::vector<Joiner> joiners_;
  std::vector<AddedToken> added_;
  std::vector<std::string> pieces_;
  std::unordered_map<std::string, std::int32_t> ids_;
};

}  // namespace

Subword Subword::read(std::string_view json, const std::string& name) { return Reader(json, name).read(); }

}  // namespace jari
