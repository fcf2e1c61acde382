#include "framework/spec/interpolate.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <set>

#include "framework/base/edit_distance.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/binder.hpp"
#include "framework/spec/scalar.hpp"

namespace jari {
namespace {

constexpr std::size_t kMostCopied = 100'000;  // values; references to references grow without end
constexpr std::size_t kLongestChain = 32;
constexpr std::size_t kLongestText = 1u << 16;

std::size_t count_nodes(const SpecNode& node) {
  std::size_t count = 1;
  for (const SpecNode& item : node.items) count += count_nodes(item);
  for (const SpecEntry& entry : node.entries) count += count_nodes(entry.value);
  return count;
}

void add_paths(const SpecNode& node, const std::string& path, std::vector<std::string>& paths) {
  for (const SpecEntry& entry : node.entries) {
    const std::string child = child_path(path, entry.key);
    paths.push_back(child);
    add_paths(entry.value, child, paths);
  }
}

class Interpolator {
 public:
  Interpolator(SpecNode& root, Diagnostics& diagnostics) : root_(root), diagnostics_(diagnostics) {}

  void visit(SpecNode& node, const std::string& path) {
    if (node.is_scalar() && node.text.find("${") != std::string::npos) return replace(node, path);
    for (std::size_t i = 0; i < node.items.size(); ++i) visit(node.items[i], child_path(path, std::to_string(i)));
    for (SpecEntry& entry : node.entries) visit(entry.value, child_path(path, entry.key));
  }

 private:
  // A scalar with references in it. After an error it is left as it is, and refused.
  void replace(SpecNode& node, const std::string& path) {
    if (done_.count(path) != 0) return;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      if (active_[i] != path) continue;
      const std::vector<std::string> cycle(active_.begin() + static_cast<std::ptrdiff_t>(i), active_.end());
      return fail(node, path, fmt::format("refers to itself: {} -> {}", joined(cycle, " -> "), path));
    }
    if (active_.size() == kLongestChain) {
      return fail(node, path, fmt::format("more than {} references on end", kLongestChain));
    }
    active_.push_back(path);
    const std::size_t close = node.text.find('}');
    if (node.text.compare(0, 2, "${") == 0 && close + 1 == node.text.size()) {
      replace_whole(node, path);
    } else {
      replace_within(node, path);
    }
    active_.pop_back();
    done_.insert(path);
  }

  void replace_whole(SpecNode& node, const std::string& path) {
    const std::string name = node.text.substr(2, node.text.size() - 3);
    SpecNode value;
    if (!look_up(node, path, name, value)) return;
    copied_ += count_nodes(value);
    if (copied_ > kMostCopied) {
      return fail(node, path, fmt::format("more than {} values with references replaced", kMostCopied));
    }
    SourceSpan span = node.span;
    span.origin = value.span ? fmt::format("from ${{{}}} in {}", name, value.span.location())
                             : fmt::format("from ${{{}}} = '{}'", name, value.text);
    node = std::move(value);
    node.span = std::move(span);
  }

  void replace_within(SpecNode& node, const std::string& path) {
    std::string text;
    std::size_t at = 0;
    for (std::size_t open; (open = node.text.find("${", at)) != std::string::npos;) {
      const std::size_t close = node.text.find('}', open);
      if (close == std::string::npos) return fail(node, path, "'${' without '}'");
      const std::string name = node.text.substr(open + 2, close - open - 2);
      SpecNode value;
      if (!look_up(node, path, name, value)) return;
      if (!value.is_scalar()) {
        return fail(node, path,
                    fmt::format("'{}' is {}, and a part of a text must be one value", name, describe_value(value)));
      }
      text += node.text.substr(at, open - at);
      text += value.text;
      at = close + 1;
      if (text.size() > kLongestText) return fail(node, path, fmt::format("longer than {} bytes", kLongestText));
    }
    node.text = text + node.text.substr(at);
    node.quoted = true;
  }

  bool look_up(SpecNode& node, const std::string& path, const std::string& name, SpecNode& value) {
    constexpr std::string_view kEnvironment = "env:";
    if (name.compare(0, kEnvironment.size(), kEnvironment) == 0) {
      const std::string variable = name.substr(kEnvironment.size());
      const char* text = std::getenv(variable.c_str());
      if (text == nullptr) {
        fail(node, path, fmt::format("the environment variable '{}' is not set", variable));
        return false;
      }
      value = SpecNode::scalar(text);
      value.quoted = !parse_number(value.text) && !parse_boolean(value.text);
      return true;
    }
    SpecNode* target = name.empty() ? nullptr : root_.find_path(name);
    if (target == nullptr) {
      std::vector<std::string> paths;
      add_paths(root_, "", paths);
      const auto near = closest(name, paths);
      fail(node, path, fmt::format("'${{{}}}' is not in this spec", name),
           near ? fmt::format("did you mean '${{{}}}'?", *near) : "only keys that the spec itself gives can be named");
      return false;
    }
    const std::size_t errors_before = diagnostics_.size();
    visit(*target, name);
    if (diagnostics_.size() != errors_before || target->refused) {
      node.refused = true;
      return false;
    }
    value = *target;
    return true;
  }

  void fail(SpecNode& node, const std::string& path, const std::string& message, const std::string& hint = "") {
    node.refused = true;
    diagnostics_.error(node.span, path, message, hint);
  }

  SpecNode& root_;
  Diagnostics& diagnostics_;
  std::vector<std::string> active_;  // from the outermost
  std::set<std::string> done_;
  std::size_t copied_ = 0;
};

}  // namespace

void interpolate(SpecNode& root, Diagnostics& diagnostics) { Interpolator(root, diagnostics).visit(root, ""); }

}  // namespace jari
