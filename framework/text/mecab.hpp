#pragma once
// Morphological analysis by MeCab (Kudo et al. 2004) with a dictionary of the user's, such as mecab-ko-dic.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace jari {

// Whether this build has MeCab. Debian: libmecab-dev.
bool has_mecab();

class Mecab {
 public:
  // `dictionary`: a folder that mecab-dict-index has made. StoreError if it can not be opened, or this build has no
  // MeCab.
  explicit Mecab(const std::filesystem::path& dictionary);
  ~Mecab();
  Mecab(const Mecab&) = delete;
  Mecab& operator=(const Mecab&) = delete;

  // Calls `visit(surface, feature)` for each morpheme of a text on the best path. May be called by several threads.
  void analyze(std::string_view text,
               const std::function<void(std::string_view surface, std::string_view feature)>& visit) const;

 private:
  struct Model;
  std::unique_ptr<Model> model_;
};

}  // namespace jari
