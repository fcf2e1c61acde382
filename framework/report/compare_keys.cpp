#include "framework/report/compare_keys.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace jari {
namespace {

constexpr std::string_view kNoKeys[] = {"experiment", "description", "notes",   "extends", "seed",
                                        "seeds",      "device",      "threads", "sweep"};

std::string below(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

// On one line, as YAML's flow style.
std::string flow(const SpecNode& node) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  switch (node.kind) {
    case SpecNode::Kind::null:
      return "null";
    case SpecNode::Kind::scalar:
      return node.text;
    case SpecNode::Kind::sequence:
      for (const SpecNode& item : node.items) add(flow(item));
      return "[" + text + "]";
    case SpecNode::Kind::mapping:
      for (const SpecEntry& entry : node.entries) add(entry.key + ": " + flow(entry.value));
      return "{" + text + "}";
  }
  return text;
}

bool all_equal(const SpecTrees& trees) {
  return std::ranges::all_of(trees, [&](const SpecNode* tree) {
    if (tree == nullptr || trees.front() == nullptr) return tree == trees.front();
    return same_value(*tree, *trees.front());
  });
}

bool all_mappings(const SpecTrees& trees) {
  return std::ranges::all_of(trees, [](const SpecNode* tree) { return tree != nullptr && tree->is_mapping(); });
}

std::string type_of(const SpecNode& block) {
  const SpecNode* type = block.find("type");
  return type != nullptr && type->is_scalar() ? type->text : "";
}

bool types_differ(const SpecTrees& trees) {
  return std::ranges::any_of(trees, [&](const SpecNode* tree) { return type_of(*tree) != type_of(*trees.front()); });
}

std::vector<std::string> keys_of(const SpecTrees& trees) {
  std::vector<std::string> keys;
  for (const SpecNode* tree : trees)
    for (const SpecEntry& entry : tree->entries)
      if (std::ranges::find(keys, entry.key) == keys.end()) keys.push_back(entry.key);
  return keys;
}

SpecTrees children(const SpecTrees& trees, const std::string& key) {
  SpecTrees found;
  for (const SpecNode* tree : trees) found.push_back(tree->find(key));
  return found;
}

KeyColumn column(const std::string& path, const SpecTrees& trees);

void add_varying(const std::string& path, const SpecTrees& trees, std::vector<KeyColumn>& columns) {
  if (all_equal(trees)) return;
  if (!all_mappings(trees) || types_differ(trees)) {
    columns.push_back(column(path, trees));
    return;
  }
  for (const std::string& key : keys_of(trees)) {
    if (path.empty() && std::ranges::find(kNoKeys, key) != std::end(kNoKeys)) continue;
    add_varying(below(path, key), children(trees, key), columns);
  }
}

// "rel (unseen=clamp)" for each of the blocks, which have one type.
std::vector<std::string> block_texts(const std::string& type, const SpecTrees& blocks) {
  std::vector<KeyColumn> distinctions;
  for (const std::string& key : keys_of(blocks)) add_varying(key, children(blocks, key), distinctions);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    std::string inner;
    for (const KeyColumn& distinction : distinctions)
      if (!distinction.values[i].empty())
        inner += (inner.empty() ? "" : ", ") + distinction.path + "=" + distinction.values[i];
    if (type.empty())
      texts.push_back(inner.empty() ? "set" : inner);
    else
      texts.push_back(inner.empty() ? type : type + " (" + inner + ")");
  }
  return texts;
}

KeyColumn column(const std::string& path, const SpecTrees& trees) {
  KeyColumn result{path, std::vector<std::string>(trees.size())};
  std::map<std::string, std::vector<std::size_t>> by_type;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    if (trees[i] == nullptr) continue;
    if (trees[i]->is_mapping())
      by_type[type_of(*trees[i])].push_back(i);
    else
      result.values[i] = flow(*trees[i]);
  }
  for (const auto& [type, places] : by_type) {
    SpecTrees blocks;
    for (const std::size_t i : places) blocks.push_back(trees[i]);
    const std::vector<std::string> texts = block_texts(type, blocks);
    for (std::size_t k = 0; k < places.size(); ++k) result.values[places[k]] = texts[k];
  }
  return result;
}

}  // namespace

std::vector<KeyColumn> varying_columns(const SpecTrees& trees) {
  std::vector<KeyColumn> columns, kept;
  add_varying("", trees, columns);
  for (KeyColumn& candidate : columns)
    if (std::ranges::find(kept, candidate.values, &KeyColumn::values) == kept.end())
      kept.push_back(std::move(candidate));
  return kept;
}

KeyColumn column_of(const SpecTrees& trees, const std::string& path) {
  SpecTrees found;
  for (const SpecNode* tree : trees) found.push_back(tree->find_path(path));
  return column(path, found);
}

}  // namespace jari
