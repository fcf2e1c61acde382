#include "framework/spec/key_paths.hpp"

#include <algorithm>

namespace jari {
namespace {

void add_paths(const std::string& path, const SpecNode& node, std::vector<std::string>& paths) {
  if (!path.empty()) paths.push_back(path);
  for (const SpecEntry& entry : node.entries)
    add_paths(path.empty() ? entry.key : path + "." + entry.key, entry.value, paths);
}

}  // namespace

std::vector<std::string> all_key_paths(const SpecNode& tree) {
  std::vector<std::string> paths;
  add_paths("", tree, paths);
  return paths;
}

std::size_t key_length(const SpecNode& node, std::string_view path) {
  std::size_t longest = 0;
  for (const SpecEntry& entry : node.entries) {
    const std::size_t length = entry.key.size();
    if (length > longest && path.starts_with(entry.key) && (path.size() == length || path[length] == '.'))
      longest = length;
  }
  return longest > 0 ? longest : std::min(path.find('.'), path.size());
}

}  // namespace jari
