#include "framework/spec/spec_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "framework/base/text.hpp"
#include "framework/spec/key_paths.hpp"
#include "framework/spec/scalar.hpp"

namespace jari {
namespace {

std::optional<std::size_t> index_of(std::string_view segment, std::size_t count) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (segment.empty() || !std::all_of(segment.begin(), segment.end(), digit)) return std::nullopt;
  const std::optional<std::int64_t> index = parse_integer(segment);
  if (!index || static_cast<std::size_t>(*index) >= count) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

std::string quoted_text(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    switch (c) {
      case '"':
        result += "\\\"";
        break;
      case '\\':
        result += "\\\\";
        break;
      case '\n':
        result += "\\n";
        break;
      case '\t':
        result += "\\t";
        break;
      case '\r':
        result += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
          result += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        } else {
          result += c;
        }
    }
  }
  result += '"';
  return result;
}

std::string scalar_text(const SpecNode& node) {
  if (is_plain_text(node.text)) return node.text;
  // What stood without quotes in block style may need them in flow style.
  return node.quoted || !is_more_than_text(node.text) ? quoted_text(node.text) : node.text;
}

std::string key_text(const std::string& key) { return is_plain_text(key) ? key : quoted_text(key); }

std::vector<const SpecEntry*> entries_of(const SpecNode& node, bool sorted) {
  std::vector<const SpecEntry*> entries;
  for (const SpecEntry& entry : node.entries) entries.push_back(&entry);
  if (sorted) {
    std::sort(entries.begin(), entries.end(), [](const SpecEntry* a, const SpecEntry* b) { return a->key < b->key; });
  }
  return entries;
}

bool on_one_line(const SpecNode& node) {
  if (node.grid) return true;
  if (node.is_mapping()) return node.entries.empty();
  if (!node.is_sequence()) return true;
  return std::all_of(node.items.begin(), node.items.end(),
                     [](const SpecNode& item) { return item.is_scalar() || item.is_null(); });
}

// `inline_first`: the first line continues one that "- " has begun.
void write_block(const SpecNode& node, int indent, bool sorted, bool inline_first, std::string& out) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  bool first = inline_first;
  const auto begin_line = [&] {
    if (!first) out += margin;
    first = false;
  };
  const auto write_child = [&](const SpecNode& child, int child_indent, bool after_dash) {
    if (on_one_line(child)) {
      if (!after_dash) out += ' ';
      out += to_flow_yaml(child);
      out += '\n';
    } else {
      if (!after_dash) out += "\n";
      write_block(child, child_indent, sorted, after_dash, out);
    }
  };
  if (node.is_mapping()) {
    for (const SpecEntry* entry : entries_of(node, sorted)) {
      begin_line();
      out += key_text(entry->key);
      out += ':';
      write_child(entry->value, indent + 2, false);
    }
  } else {
    for (const SpecNode& item : node.items) {
      begin_line();
      out += "- ";
      write_child(item, indent + 2, true);
    }
  }
}

void blank_per_trial(SpecNode& node) {
  if (node.per_trial) node = SpecNode::scalar("*", true);
  for (SpecNode& item : node.items) blank_per_trial(item);
  for (SpecEntry& entry : node.entries) blank_per_trial(entry.value);
}

}  // namespace

SpecNode SpecNode::scalar(std::string text, bool quoted, SourceSpan span) {
  SpecNode node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.quoted = quoted;
  node.span = std::move(span);
  return node;
}

SpecNode SpecNode::sequence() { return sequence({}); }

SpecNode SpecNode::sequence(std::vector<SpecNode> items, SourceSpan span) {
  SpecNode node;
  node.kind = Kind::sequence;
  node.items = std::move(items);
  node.span = std::move(span);
  return node;
}

SpecNode SpecNode::mapping(SourceSpan span) {
  SpecNode node;
  node.kind = Kind::mapping;
  node.span = std::move(span);
  return node;
}

const SpecNode* SpecNode::find(std::string_view key) const {
  for (const SpecEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

SpecNode* SpecNode::find(std::string_view key) {
  return const_cast<SpecNode*>(static_cast<const SpecNode*>(this)->find(key));
}

const SpecNode* SpecNode::find_path(std::string_view path) const {
  const SpecNode* node = this;
  while (node != nullptr && !path.empty()) {
    const std::string_view segment = path.substr(0, key_length(*node, path));
    if (node->is_sequence()) {
      const std::optional<std::size_t> index = index_of(segment, node->items.size());
      node = index ? &node->items[*index] : nullptr;
    } else {
      node = node->find(segment);
    }
    path.remove_prefix(std::min(segment.size() + 1, path.size()));
  }
  return node;
}

SpecNode* SpecNode::find_path(std::string_view path) {
  return const_cast<SpecNode*>(static_cast<const SpecNode*>(this)->find_path(path));
}

SpecNode& SpecNode::set(std::string key, SpecNode value, SourceSpan key_span) {
  for (SpecEntry& entry : entries) {
    if (entry.key != key) continue;
    entry.key_span = std::move(key_span);
    entry.value = std::move(value);
    return entry.value;
  }
  return entries.emplace_back(SpecEntry{std::move(key), std::move(key_span), std::move(value)}).value;
}

void SpecNode::erase(std::string_view key) {
  entries.erase(std::remove_if(entries.begin(), entries.end(), [&](const SpecEntry& e) { return e.key == key; }),
                entries.end());
}

SpecNode identity_form(const SpecNode& resolved) {
  SpecNode result = resolved;
  result.entries.clear();
  for (const SpecEntry& entry : resolved.entries) {
    if (!entry.value.output_setting) result.entries.push_back({entry.key, entry.key_span, identity_form(entry.value)});
  }
  for (SpecNode& item : result.items) item = identity_form(item);
  return result;
}

SpecNode group_form(const SpecNode& resolved) {
  SpecNode result = identity_form(resolved);
  blank_per_trial(result);
  return result;
}

std::string to_yaml(const SpecNode& node, bool sorted) {
  if (on_one_line(node)) return to_flow_yaml(node) + "\n";
  std::string text;
  write_block(node, 0, sorted, false, text);
  return text;
}

namespace {

// In flow style a question mark may begin a key, even inside a word.
std::string flow_part(const SpecNode& node) {
  const bool needs_quotes = node.is_scalar() && node.text.find('?') != std::string::npos;
  return needs_quotes ? quoted_text(node.text) : to_flow_yaml(node);
}

std::string flow_key(const std::string& key) {
  return key.find('?') != std::string::npos ? quoted_text(key) : key_text(key);
}

}  // namespace

std::string to_flow_yaml(const SpecNode& node) {
  if (node.is_null()) return "~";
  if (node.is_scalar()) return scalar_text(node);
  std::vector<std::string> parts;
  for (const SpecNode& item : node.items) parts.push_back(flow_part(item));
  for (const SpecEntry& entry : node.entries) {
    parts.push_back(fmt::format("{}: {}", flow_key(entry.key), flow_part(entry.value)));
  }
  if (node.is_sequence()) return fmt::format("{}[{}]", node.grid ? "!grid " : "", joined(parts));
  return fmt::format("{{{}}}", joined(parts));
}

std::string describe_value(const SpecNode& node) {
  switch (node.kind) {
    case SpecNode::Kind::null:
      return "nothing";
    case SpecNode::Kind::sequence:
      return "a list";
    case SpecNode::Kind::mapping:
      return "a mapping";
    case SpecNode::Kind::scalar:
      break;
  }
  if (!node.quoted && (parse_number(node.text) || parse_boolean(node.text))) return node.text;
  constexpr std::size_t kLongest = 60;
  return node.text.size() <= kLongest ? fmt::format("'{}'", node.text) : "a longer text";
}

bool same_value(const SpecNode& left, const SpecNode& right) {
  if (left.kind != right.kind || left.text != right.text || left.grid != right.grid) return false;
  if (left.is_scalar() && left.quoted != right.quoted && is_more_than_text(left.text)) return false;
  return std::equal(left.items.begin(), left.items.end(), right.items.begin(), right.items.end(), same_value) &&
         std::equal(
             left.entries.begin(), left.entries.end(), right.entries.begin(), right.entries.end(),
             [](const SpecEntry& a, const SpecEntry& b) { return a.key == b.key && same_value(a.value, b.value); });
}

std::size_t depth_of(const SpecNode& node) {
  std::size_t deepest = 0;
  for (const SpecNode& item : node.items) deepest = std::max(deepest, depth_of(item) + 1);
  for (const SpecEntry& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value) + 1);
  return deepest;
}

}  // namespace jari
