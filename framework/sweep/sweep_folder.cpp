#include "framework/sweep/sweep_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "framework/base/error.hpp"
#include "framework/base/hash.hpp"
#include "framework/base/version.hpp"
#include "framework/spec/yaml_reader.hpp"
#include "framework/store/atomic_file.hpp"

namespace jari {
namespace {

SpecNode text(const std::string& value) { return SpecNode::scalar(value, /*quoted=*/true); }

SpecNode trial_list(const Sweep& sweep) {
  SpecNode list = SpecNode::sequence();
  for (const Trial& trial : sweep.trials) {
    SpecNode node = SpecNode::mapping();
    node.set("folder", text(trial.folder));
    node.set("hash", text(trial.hash));
    list.items.push_back(std::move(node));
  }
  return list;
}

// Empty, but for what a process leaves that was killed in its first moments.
bool is_unused(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder)) return false;
  const std::filesystem::directory_iterator entries(folder);
  return std::all_of(begin(entries), end(entries), [](const auto& entry) {
    const std::string name = entry.path().filename().string();
    return name == ".lock" || (name.starts_with(kSweepFile) && name.ends_with(".tmp"));
  });
}

// Leaves of a tree by path, as one-line YAML.
void flatten(const SpecNode& node, const std::string& path, std::map<std::string, std::string>& out) {
  if (!node.is_mapping()) {
    out[path] = to_flow_yaml(node);
    return;
  }
  for (const SpecEntry& entry : node.entries)
    flatten(entry.value, path.empty() ? entry.key : path + "." + entry.key, out);
}

std::string difference(const SpecNode& old_spec, const SpecNode& new_spec) {
  std::map<std::string, std::string> before, after;
  flatten(old_spec, "", before);
  flatten(new_spec, "", after);
  std::set<std::string> paths;
  for (const auto& [path, value] : before) paths.insert(path);
  for (const auto& [path, value] : after) paths.insert(path);
  std::string result;
  int shown = 0;
  for (const std::string& path : paths) {
    const std::string old_value = before.count(path) ? before[path] : "(absent)";
    const std::string new_value = after.count(path) ? after[path] : "(absent)";
    if (old_value == new_value) continue;
    if (++shown > 10) {
      result += "  ...\n";
      break;
    }
    result += fmt::format("  {}: {} -> {}\n", path, old_value, new_value);
  }
  return result;
}

}  // namespace

void refuse_other_sweep(const std::filesystem::path& folder, const Sweep& sweep, const SpecNode& spec) {
  const std::filesystem::path path = folder / kSweepFile;
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return;
  if (!std::filesystem::exists(path, error)) {
    if (is_unused(folder)) return;
    throw StoreError(
        fmt::format("{}: exists, but holds no {}, so it is not a folder of jari's; move it away, choose "
                    "another `experiment` name, or another place with --runs",
                    folder.string(), kSweepFile));
  }
  Diagnostics diagnostics;
  const SpecNode old = read_yaml(path.string(), diagnostics);
  if (!diagnostics.empty()) {
    throw StoreError(fmt::format("{}: can not be read; move the folder away or repair the file:\n{}", path.string(),
                                 diagnostics.render()));
  }
  std::set<std::string> hashes;
  const SpecNode* trials = old.find("trials");
  if (trials != nullptr) {
    for (const SpecNode& trial : trials->items) {
      if (const SpecNode* hash = trial.find("hash")) hashes.insert(hash->text);
    }
  }
  const auto is_known = [&](const Trial& trial) { return hashes.count(trial.hash) > 0; };
  if (hashes.empty() || std::any_of(sweep.trials.begin(), sweep.trials.end(), is_known)) return;
  const SpecNode* old_spec = old.find("spec");
  throw StoreError(
      fmt::format("{}: holds the runs of another spec: none of its {} trials is among the {} of this one\n{}"
                  "give this spec another `experiment` name, choose another place with --runs, or remove the "
                  "folder",
                  folder.string(), hashes.size(), sweep.trials.size(), old_spec ? difference(*old_spec, spec) : ""));
}

void write_sweep_file(const std::filesystem::path& folder, const Sweep& sweep, const SpecNode& spec,
                      const Provenance& provenance) {
  SpecNode file = SpecNode::mapping();
  file.set("jari", text(version()));
  file.set("hash", text(hash128_hex(to_yaml(spec, /*sorted=*/true))));
  file.set("source", text(provenance.spec_source));
  file.set("overrides", text(provenance.spec_overrides));
  file.set("spec", spec);
  file.set("trials", trial_list(sweep));
  write_file_atomically(folder / kSweepFile, to_yaml(file));
}

std::optional<SpecNode> read_sweep_spec(const std::filesystem::path& folder) {
  std::ifstream file(folder / kSweepFile);
  std::string head, line;
  while (std::getline(file, line) && !line.starts_with("trials:")) head += line + '\n';
  if (head.empty()) return std::nullopt;
  Diagnostics diagnostics;
  const SpecNode sweep = read_yaml_text(head, (folder / kSweepFile).string(), diagnostics);
  const SpecNode* spec = sweep.find("spec");
  if (!diagnostics.empty() || spec == nullptr) return std::nullopt;
  return *spec;
}

}  // namespace jari
