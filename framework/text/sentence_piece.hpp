#pragma once
// Tokenizers of SentencePiece (Kudo and Richardson 2018), from their .model files: byte pairs, unigram, words,
// characters.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/text/text_steps.hpp"

namespace jari {

// Whether this build has SentencePiece. Debian: libsentencepiece-dev.
bool has_sentence_piece();

class SentencePiece {
 public:
  // StoreError if the file is no model, or this build has no SentencePiece.
  explicit SentencePiece(const std::filesystem::path& model);
  ~SentencePiece();
  SentencePiece(const SentencePiece&) = delete;
  SentencePiece& operator=(const SentencePiece&) = delete;

  const std::vector<std::string>& pieces() const { return pieces_; }  // by id

  // Appends the ids that spm_encode gives for a text of one line. May be called by several threads.
  void encode(std::string_view text, TextPlace place, std::vector<std::int32_t>& ids) const;
  std::string decode(std::span<const std::int32_t> ids) const;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
  std::vector<std::string> pieces_;
};

}  // namespace jari
