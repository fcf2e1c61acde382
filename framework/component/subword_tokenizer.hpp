#pragma once
// A tokenizer component around framework/text/subword.hpp: for those that read a tokenizer.json, or make one.

#include <memory>
#include <string>
#include <utility>

#include "framework/component/tokenizer.hpp"
#include "framework/text/subword.hpp"

namespace jari {

class SubwordTokenizer final : public Tokenizer {
 public:
  // `json`: the file's text; `hash`: of the file, "" if there is none.
  SubwordTokenizer(Subword subword, std::string json, std::string hash = "")
      : subword_(std::move(subword)), json_(std::move(json)), hash_(std::move(hash)) {}

  void split(std::string_view text, PieceList& pieces) const override { split_by_ids(*this, text, pieces); }
  // Where words may hold white space, line ends would depend on how a corpus comes in segments.
  bool keeps_line_ends() const override { return subword_.steps().cuts_at_white_space(); }
  const std::vector<std::string>* own_pieces() const override { return &subword_.pieces(); }
  void encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const override {
    subword_.encode(text, place, ids);
  }
  std::string decode(std::span<const std::int32_t> ids) const override { return subword_.decode(ids); }
  std::string to_json() const override { return json_; }
  std::string content_hash() const override { return hash_; }

 private:
  Subword subword_;
  std::string json_, hash_;
};

}  // namespace jari
