#include "framework/spec/key_paths.hpp"

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

}  // namespace jari
