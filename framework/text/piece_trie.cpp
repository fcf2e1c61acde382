#include "framework/text/piece_trie.hpp"

#include <algorithm>
#include <utility>

namespace jari {

PieceTrie::PieceTrie(const std::unordered_map<std::string, std::int32_t>& ids) {
  std::vector<std::pair<std::string_view, std::int32_t>> sorted(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  struct Range {
    std::size_t begin, end, depth;  // the pieces that begin with the `depth` bytes that lead to a node
  };
  std::vector<Range> ranges = {{0, sorted.size(), 0}};
  nodes_.emplace_back();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    if (begin < end && sorted[begin].first.size() == depth) nodes_[node].id = sorted[begin++].second;
    nodes_[node].first_child = static_cast<Place>(nodes_.size());
    while (begin < end) {
      const char byte = sorted[begin].first[depth];
      std::size_t next = begin + 1;
      while (next < end && sorted[next].first[depth] == byte) ++next;
      ranges.push_back({begin, next, depth + 1});
      nodes_.emplace_back().byte = static_cast<unsigned char>(byte);
      begin = next;
    }
    nodes_[node].end_children = static_cast<Place>(nodes_.size());
  }
}

PieceTrie::Place PieceTrie::child(Place place, unsigned char byte) const {
  const Node& node = nodes_[static_cast<std::size_t>(place)];
  const auto begin = nodes_.begin() + node.first_child, end = nodes_.begin() + node.end_children;
  const auto found =
      std::lower_bound(begin, end, byte, [](const Node& each, unsigned char b) { return each.byte < b; });
  return found == end || found->byte != byte ? kNowhere : static_cast<Place>(found - nodes_.begin());
}

}  // namespace jari
