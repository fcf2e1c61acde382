// jari config SPEC: the resolved spec, and where each value came from.

#include <fmt/format.h>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "tools/commands.hpp"
#include "tools/session.hpp"

namespace jari {
namespace {

// Without the keys that the user did not give.
SpecNode given_only(const SpecNode& node) {
  SpecNode result = node;
  result.entries.clear();
  for (const SpecEntry& entry : node.entries) {
    if (entry.value.is_mapping()) {
      SpecNode child = given_only(entry.value);
      if (!child.entries.empty()) result.set(entry.key, std::move(child), entry.key_span);
    } else if (entry.value.span || entry.key == "type") {
      result.set(entry.key, entry.value, entry.key_span);
    }
  }
  // A block that holds nothing but a default component's name was not given either.
  const bool only_default_type =
      result.entries.size() == 1 && result.entries[0].key == "type" && !result.entries[0].value.span;
  if (only_default_type) result.entries.clear();
  return result;
}

void collect_paths(const SpecNode& node, const std::string& path, std::vector<std::string>& out) {
  if (!path.empty()) out.push_back(path);
  for (const SpecEntry& entry : node.entries)
    collect_paths(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
}

void tell_why(const SpecNode& resolved, const std::string& path) {
  const SpecNode* node = resolved.find_path(path);
  if (node == nullptr) {
    std::vector<std::string> paths;
    collect_paths(resolved, "", paths);
    const std::optional<std::string> nearest = closest(path, paths);
    throw SpecError(fmt::format("error: no key '{}' in the resolved spec{}\n", path,
                                nearest ? fmt::format("; did you mean '{}'?", *nearest) : ""));
  }
  fmt::print("{}: {}\n", path, to_flow_yaml(*node));
  if (!node->span) {
    fmt::print("  the default\n");
    return;
  }
  fmt::print("  {}\n", node->span.location());
  const auto line = static_cast<std::size_t>(node->span.line);
  if (line >= 1 && line <= node->span.file->lines.size()) fmt::print("    {}\n", node->span.file->lines[line - 1]);
  if (!node->span.origin.empty()) fmt::print("  {}\n", node->span.origin);
}

class ConfigCommand final : public Command {
 public:
  const char* name() const override { return "config"; }
  const char* summary() const override { return "show a trial's resolved spec, or where a value came from"; }
  void options(CommandOptions& options) override;
  int run() override;

 private:
  SpecArguments spec_;
  bool minimal_ = false;
  bool full_ = false;  // what is shown anyway
  std::string why_;
  std::int64_t trial_ = 0;
};

void ConfigCommand::options(CommandOptions& options) {
  spec_.options(options);
  options.flag("--minimal", minimal_, "only the keys that were given");
  options.flag("--full", full_, "all keys, with defaults: what is shown anyway");
  options.exclude("--full", "--minimal");
  options.option("--why", why_, "a key's path: its value and where that came from");
  options.option("--trial", trial_, "which trial of a sweep, from 0");
}

int ConfigCommand::run() {
  Session session = open_spec(spec_);
  const Sweep sweep = checked_sweep(session);
  const auto count = static_cast<std::int64_t>(sweep.trials.size());
  if (trial_ < 0 || trial_ >= count) {
    throw SpecError(fmt::format("error: --trial {}: the spec declares trials 0 to {}\n", trial_, count - 1));
  }
  const SpecNode& resolved = sweep.trials[static_cast<std::size_t>(trial_)].resolved;
  if (!why_.empty()) {
    tell_why(resolved, why_);
  } else {
    fmt::print("{}", to_yaml(minimal_ ? given_only(resolved) : resolved));
  }
  return 0;
}

}  // namespace

CommandPtr config_command() { return std::make_unique<ConfigCommand>(); }

}  // namespace jari
