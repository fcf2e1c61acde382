#pragma once
// Pieces of text, appended one by one and kept in one string, so that a tokenizer allocates nothing for each.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

class PieceList {
 public:
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  void add(std::string_view piece) {
    bytes_ += piece;
    ends_.push_back(bytes_.size());
  }

  std::size_t size() const { return ends_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

}  // namespace jari
