// Reading a tokenizer.json: its model and its tokens. Its steps are read in tokenizer_steps.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/text/byte_alphabet.hpp"
#include "framework/text/subword.hpp"
#include "framework/text/tokenizer_file.hpp"
#include "framework/text/unicode.hpp"

namespace jari {
namespace {

using Json = TokenizerFile::Json;

class Reader {
 public:
  Reader(std::string_view text, const std::string& name) : file_(text, name), model_(file_.json()["model"]) {}

  Subword read() {
    TextSteps steps(read_normalizers(file_), read_cutters(file_));
    std::vector<Joiner> joiners = read_joiners(file_);
    const std::string type = model_type();
    read_added();
    read_vocabulary(type);
    normalize_added(steps);
    const bool bytes = steps.byte_level();
    if (bytes && type != "BPE") file_.unsupported(fmt::format("ByteLevel with a model of type {}", type));
    if (bytes) decode_pieces();
    SubwordModel model = type == "Unigram" ? unigram() : type == "WordPiece" ? word_piece() : pairs(bytes);
    return {std::move(steps), std::move(added_), std::move(model), std::move(joiners)};
  }

 private:
  std::string model_type() const {
    if (!model_.is_object()) file_.fail("the model is no object");
    // Old files leave the type out.
    const auto type =
        file_.get<std::string>(model_, "type", std::string(model_.contains("merges") ? "BPE" : "unknown"));
    if (type != "BPE" && type != "Unigram" && type != "WordPiece")
      file_.unsupported(fmt::format("a model of type {}", type));
    return type;
  }

  void read_added() {
    const Json tokens = file_.get<Json>(file_.json(), "added_tokens", Json::array());
    if (!tokens.is_array()) file_.fail("added_tokens is no list");
    for (const Json& token : tokens) {
      if (!token.is_object()) file_.fail("added_tokens holds what is no token");
      const auto text = file_.get<std::string>(token, "content");
      if (text.empty()) file_.fail("added_tokens holds an empty one");
      if (file_.get<bool>(token, "single_word", false))
        file_.unsupported(fmt::format("single_word of the token '{}'", text));
      const auto id = file_.get<std::int64_t>(token, "id");
      if (id < 0 || id > INT32_MAX) file_.fail(fmt::format("'{}' has the id {}", escaped(text), id));
      added_.push_back({text, static_cast<std::int32_t>(id), file_.get<bool>(token, "normalized", false),
                        file_.get<bool>(token, "lstrip", false), file_.get<bool>(token, "rstrip", false)});
    }
  }

  // Ids of the vocabulary and of the added tokens, together 0, 1, 2 ...
  void read_vocabulary(const std::string& type) {
    const auto found = model_.find("vocab");
    const bool list = type == "Unigram";
    if (found == model_.end() || !(list ? found->is_array() : found->is_object()))
      file_.fail("the model has no vocabulary");
    most_ = found->size() + added_.size();
    if (list) {
      read_scores(*found);
    } else {
      for (const auto& [piece, id] : found->items()) {
        place(piece, id);
        ids_.emplace(piece, id.get<std::int32_t>());
      }
    }
    for (const AddedToken& token : added_) place(token.text, token.id);
    const auto hole = std::find(taken_.begin(), taken_.end(), false);
    if (hole != taken_.end()) file_.fail(fmt::format("no piece has the id {}", hole - taken_.begin()));
    if (pieces_.empty()) file_.fail("the vocabulary is empty");
  }

  // [[piece, score], ...]; of equal pieces the last counts.
  void read_scores(const Json& vocabulary) {
    for (const Json& entry : vocabulary) {
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        file_.fail(fmt::format("the entry {} of the vocabulary is no piece with a score", entry.dump().substr(0, 80)));
      const auto piece = entry[0].get<std::string>();
      place(piece, scores_.size());
      ids_[piece] = static_cast<std::int32_t>(scores_.size());
      scores_.push_back(entry[1].get<double>());
    }
  }

  void place(const std::string& piece, const Json& id) {
    if (!id.is_number_integer() || id.get<std::int64_t>() < 0 || id.get<std::uint64_t>() >= most_)
      file_.fail(fmt::format("'{}' has the id {}", escaped(piece), id.dump()));
    const auto at = id.get<std::size_t>();
    if (at >= pieces_.size()) {
      pieces_.resize(at + 1);
      taken_.resize(at + 1, false);
    }
    if (taken_[at] && pieces_[at] != piece)
      file_.fail(fmt::format("'{}' and '{}' have both the id {}", escaped(pieces_[at]), escaped(piece), at));
    taken_[at] = true;
    pieces_[at] = piece;
  }

  // Such a token is looked for, and written, as the steps would leave it.
  void normalize_added(const TextSteps& steps) {
    for (AddedToken& token : added_) {
      if (!token.normalized) continue;
      token.text = steps.normalize(token.text, TextPlace::beginning);
      pieces_[static_cast<std::size_t>(token.id)] = token.text;
    }
    std::erase_if(added_, [](const AddedToken& token) { return token.text.empty(); });
  }

  void decode_pieces() {
    for (std::string& piece : pieces_) {
      const auto is_piece = [&](const AddedToken& token) { return token.text == piece; };
      if (std::any_of(added_.begin(), added_.end(), is_piece)) continue;
      std::optional<std::string> bytes = byte_alphabet_decode(piece);
      if (!bytes) file_.fail(fmt::format("'{}' is not written in GPT-2's byte alphabet", escaped(piece)));
      piece = std::move(*bytes);
    }
  }

  std::int32_t id_of(const std::string& piece) const {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) file_.fail(fmt::format("'{}' is not in the vocabulary", escaped(piece)));
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
    if (left.empty() || right.empty()) file_.fail(fmt::format("the merge {} is no pair", merge.dump()));
    return {id_of(left), id_of(right), id_of(left + right)};
  }

  SubwordModel pairs(bool bytes) {
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!file_.get<std::string>(model_, key, std::string()).empty()) file_.unsupported(key);
    }
    if (file_.get<double>(model_, "dropout", 0.0) > 0) file_.unsupported("dropout");
    const Json list = file_.get<Json>(model_, "merges");
    if (!list.is_array()) file_.fail("the merges are no list");
    std::vector<PairMerge> merges;
    for (const Json& merge : list) merges.push_back(merge_of(merge));
    return bytes ? byte_pairs(std::move(merges)) : character_pairs(std::move(merges));
  }

  SubwordModel byte_pairs(std::vector<PairMerge> merges) {
    try {
      return BytePair(std::move(pieces_), std::move(merges), file_.get<bool>(model_, "ignore_merges", false));
    } catch (const StoreError& error) {
      file_.fail(error.what());
    }
  }

  SubwordModel character_pairs(std::vector<PairMerge> merges) {
    CharacterPairsOptions options;
    options.byte_fallback = file_.get<bool>(model_, "byte_fallback", false);
    const auto unknown = file_.get<std::string>(model_, "unk_token", std::string());
    if (!unknown.empty()) options.unknown = id_of(unknown);
    options.fuse_unknown = file_.get<bool>(model_, "fuse_unk", false);
    options.whole_words_first = file_.get<bool>(model_, "ignore_merges", false);
    return CharacterPairs(std::move(pieces_), std::move(merges), options);
  }

  SubwordModel unigram() {
    const auto unknown = file_.get<std::int64_t>(model_, "unk_id", -1);
    if (unknown == -1) file_.unsupported("Unigram without unk_id");
    if (unknown < 0 || unknown >= static_cast<std::int64_t>(scores_.size()))
      file_.fail(fmt::format("the unk_id {} is not in the vocabulary", unknown));
    return Unigram(std::move(pieces_), ids_, std::move(scores_), static_cast<std::int32_t>(unknown),
                   file_.get<bool>(model_, "byte_fallback", false));
  }

  SubwordModel word_piece() {
    WordPieceOptions options;
    options.unknown = id_of(file_.get<std::string>(model_, "unk_token", "[UNK]"));
    options.continuing = file_.get<std::string>(model_, "continuing_subword_prefix", options.continuing);
    options.longest_word = file_.get<std::size_t>(model_, "max_input_chars_per_word", options.longest_word);
    return WordPiece(std::move(pieces_), ids_, options);
  }

  TokenizerFile file_;
  const Json& model_;
  std::vector<AddedToken> added_;
  std::size_t most_ = 0;                               // ids are below
  std::vector<std::string> pieces_;                    // by id
  std::vector<bool> taken_;                            // by id
  std::vector<double> scores_;                         // by id, of a Unigram
  std::unordered_map<std::string, std::int32_t> ids_;  // of the model's pieces
};

}  // namespace

Subword Subword::read(std::string_view json, const std::string& name) { return Reader(json, name).read(); }

}  // namespace jari
