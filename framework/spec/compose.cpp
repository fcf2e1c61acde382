#include "framework/spec/compose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "framework/base/text.hpp"
#include "framework/spec/interpolate.hpp"
#include "framework/spec/key_paths.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace jari {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestChain = 16;
constexpr int kMostFiles = 100;

// Reads a file and what it extends, depth first.
class Extender {
 public:
  explicit Extender(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  SpecNode read(const std::string& path, const SourceSpan& from) {
    if (!may_enter(path, from)) return {};
    SpecNode node = read_yaml(path, diagnostics_, from);
    if (!node.is_mapping()) return {};
    const SpecNode* found = node.find("extends");
    if (found == nullptr) return node;
    const SpecNode extends = *found;
    node.erase("extends");
    chain_.push_back(path);
    SpecNode result = SpecNode::mapping(node.span);
    for (const SpecNode& parent : parents_of(extends)) {
      const fs::path parent_path = fs::path(path).parent_path() / parent.text;
      SpecNode base = read(parent_path.lexically_normal().string(), parent.span);
      if (base.is_mapping()) merge_into(result, std::move(base));
    }
    chain_.pop_back();
    merge_into(result, std::move(node));
    return result;
  }

 private:
  bool may_enter(const std::string& path, const SourceSpan& from) {
    std::error_code error;
    const auto same = [&](const std::string& other) { return fs::equivalent(path, other, error); };
    const auto first = std::find_if(chain_.begin(), chain_.end(), same);
    if (first != chain_.end()) {
      const std::vector<std::string> cycle(first, chain_.end());
      diagnostics_.error(from, "extends", fmt::format("a spec extends itself: {} -> {}", joined(cycle, " -> "), path));
      return false;
    }
    if (chain_.size() >= kLongestChain || ++files_ > kMostFiles) {
      diagnostics_.error(from, "extends",
                         fmt::format("more than {} files on end, or {} in all", kLongestChain, kMostFiles));
      return false;
    }
    return true;
  }

  std::vector<SpecNode> parents_of(const SpecNode& extends) {
    std::vector<SpecNode> parents = extends.is_sequence() ? extends.items : std::vector<SpecNode>{extends};
    const auto is_bad = [&](const SpecNode& parent) {
      if (parent.is_scalar() && !parent.text.empty()) return false;
      diagnostics_.error(parent.span, "extends",
                         fmt::format("expected a path or a list of paths, found {}", describe_value(parent)));
      return true;
    };
    parents.erase(std::remove_if(parents.begin(), parents.end(), is_bad), parents.end());
    return parents;
  }

  Diagnostics& diagnostics_;
  std::vector<std::string> chain_;
  int files_ = 0;
};

// A value on the way of a path, made a mapping.
void make_mapping(SpecNode& node, const SourceSpan& span) {
  SpecNode mapping = SpecNode::mapping(node.is_null() ? span : node.span);
  if (node.is_scalar()) mapping.set("type", node, node.span);
  node = std::move(mapping);
}

// Whether keys at this place ("sweep.grid.", "sweep.exclude.0.") are paths, so that all that follows is one key.
bool holds_paths(std::string_view place) {
  if (!place.starts_with("sweep.")) return false;
  place.remove_suffix(1);
  const std::size_t last_dot = place.rfind('.');
  if (place.find_first_not_of("0123456789", last_dot + 1) == std::string_view::npos) place = place.substr(0, last_dot);
  constexpr std::string_view kBlocks[] = {".grid", ".zip", ".list", ".space", ".if", ".exclude", ".baseline"};
  return std::ranges::any_of(kBlocks, [place](std::string_view block) { return place.ends_with(block); });
}

// Of the part of `path` from `start` on, how much is a key of `node` that is there or shall be.
std::size_t segment_length(const SpecNode& node, std::string_view path, std::size_t start) {
  const std::string_view rest = path.substr(start);
  const std::size_t length = key_length(node, rest);
  const bool is_new = !node.is_sequence() && node.find(rest.substr(0, length)) == nullptr;
  return is_new && holds_paths(path.substr(0, start)) ? rest.size() : length;
}

void set_override(SpecNode& root, const std::string& text, std::size_t number, Diagnostics& diagnostics) {
  const auto file = std::make_shared<const SourceFile>(SourceFile{fmt::format("override #{}", number), {text}});
  SourceSpan key_span{file, 1, 1, std::max(1, count_code_points(text)), ""};
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  if (equals == std::string::npos || key.empty()) {
    diagnostics.error(key_span, "", "expected KEY=VALUE", "for example train.steps=500");
    return;
  }
  key_span.length = count_code_points(key);
  const std::size_t errors_before = diagnostics.size();
  SpecNode value = read_yaml_value(file, equals + 1, diagnostics);
  if (diagnostics.size() != errors_before && value.is_null()) return;
  if (value.is_null()) value.span = key_span;
  set_path(root, key, std::move(value), key_span, diagnostics);
}

}  // namespace

void merge_into(SpecNode& base, SpecNode over) {
  if (!base.is_mapping() || !over.is_mapping() || over.replace) {
    base = std::move(over);
    return;
  }
  base.span = over.span;
  for (SpecEntry& entry : over.entries) {
    const auto same_key = [&](const SpecEntry& other) { return other.key == entry.key; };
    const auto found = std::find_if(base.entries.begin(), base.entries.end(), same_key);
    if (found == base.entries.end()) {
      base.entries.push_back(std::move(entry));
    } else {
      found->key_span = std::move(entry.key_span);
      merge_into(found->value, std::move(entry.value));
    }
  }
}

void set_path(SpecNode& root, const std::string& path, SpecNode value, const SourceSpan& key_span,
              Diagnostics& diagnostics) {
  if (path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos) {
    return diagnostics.error(key_span, "", fmt::format("an empty name in the path '{}'", path));
  }
  const auto segments = static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) + 1;
  if (segments + depth_of(value) > kDeepestSpec)
    return diagnostics.error(key_span, "", fmt::format("nested more than {} deep", kDeepestSpec));
  SpecNode* node = &root;
  for (std::size_t start = 0; start <= path.size();) {
    const std::string segment = path.substr(start, segment_length(*node, path, start));
    const std::size_t end = start + segment.size();
    SourceSpan span = key_span;
    span.column += count_code_points(std::string_view(path).substr(0, start));
    span.length = count_code_points(segment);
    start = end + 1;
    if (node->is_sequence()) {
      SpecNode* item = node->find_path(segment);
      if (item == nullptr) {
        return diagnostics.error(span, path.substr(0, end),
                                 fmt::format("expected an index below {}, found '{}'", node->items.size(), segment));
      }
      node = item;
    } else {
      if (!node->is_mapping()) make_mapping(*node, span);
      SpecNode* child = node->find(segment);
      const bool last = end == path.size();
      node = child && !last ? child : &node->set(segment, last ? SpecNode{} : SpecNode::mapping(span), span);
    }
  }
  *node = std::move(value);
}

void set_overrides(SpecNode& root, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < overrides.size(); ++i) set_override(root, overrides[i], i + 1, diagnostics);
}

SpecNode compose_spec(const std::string& path, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  SpecNode root = Extender(diagnostics).read(path, {});
  if (root.is_mapping()) set_overrides(root, overrides, diagnostics);
  return root;
}

SpecNode load_spec(const std::string& path, const std::vector<std::string>& overrides, Diagnostics& diagnostics) {
  SpecNode root = compose_spec(path, overrides, diagnostics);
  if (root.is_mapping()) interpolate(root, diagnostics);
  return root;
}

}  // namespace jari
