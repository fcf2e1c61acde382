#pragma once
// Pieces by their bytes, to find those that a text begins with.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace jari {

class PieceTrie {
 public:
  explicit PieceTrie(const std::unordered_map<std::string, std::int32_t>& ids);

  // A place in the trie: behind some bytes. kNowhere: no piece begins so.
  using Place = std::int32_t;
  static constexpr Place kBeginning = 0, kNowhere = -1;
  Place follow(std::string_view bytes, Place from = kBeginning) const {
    for (const char byte : bytes) from = from == kNowhere ? kNowhere : child(from, static_cast<unsigned char>(byte));
    return from;
  }

  // -1 if it is no piece.
  std::int32_t id_of(std::string_view piece) const {
    const Place place = follow(piece);
    return place == kNowhere ? -1 : nodes_[static_cast<std::size_t>(place)].id;
  }

  // Calls `visit(bytes, id)` for each beginning of `text`, the shortest first, that is a piece behind `from`.
  template <class Visit>
  void visit_beginnings(std::string_view text, const Visit& visit, Place from = kBeginning) const {
    for (std::size_t i = 0; i < text.size() && from != kNowhere; ++i) {
      from = child(from, static_cast<unsigned char>(text[i]));
      if (from != kNowhere && nodes_[static_cast<std::size_t>(from)].id >= 0)
        visit(i + 1, nodes_[static_cast<std::size_t>(from)].id);
    }
  }

 private:
  struct Node {
    unsigned char byte = 0;                   // the last one of what leads here
    std::int32_t id = -1;                     // -1: no piece ends here
    Place first_child = 0, end_children = 0;  // one after the other, by their bytes
  };

  Place child(Place place, unsigned char byte) const;

  std::vector<Node> nodes_;
};

}  // namespace jari
