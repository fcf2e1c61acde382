#include "tools/recipes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "framework/base/edit_distance.hpp"
#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/spec/compose.hpp"
#include "framework/spec/yaml_reader.hpp"

namespace jari {
namespace {

constexpr std::string_view kExtension = ".yaml";

// A top-level key of a spec with the lines that say it.
struct Block {
  std::string key, text;
  SpecNode value;
};

struct BlockFile {
  std::string head;  // comments before the first key
  std::vector<Block> blocks;
};

const RecipeFile& file_at(const std::string& path) {
  const auto found = std::ranges::find(recipe_files(), path, &RecipeFile::path);
  JARI_ASSERT(found != recipe_files().end(), "a recipe extends a file that is not under configs: " + path);
  return *found;
}

std::string lines(const SourceFile& file, int first, int end) {
  std::string text;
  for (int i = first; i < end; ++i) text += file.lines[static_cast<std::size_t>(i - 1)] + "\n";
  return text;
}

BlockFile split(const RecipeFile& recipe) {
  Diagnostics diagnostics;
  const SpecNode spec = read_yaml_text(std::string(recipe.text), std::string(recipe.path), diagnostics);
  diagnostics.throw_if_any();
  BlockFile result;
  const std::vector<SpecEntry>& entries = spec.entries;
  const SourceFile& file = *entries.front().key_span.file;
  result.head = lines(file, 1, entries.front().key_span.line);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const int end = i + 1 < entries.size() ? entries[i + 1].key_span.line : static_cast<int>(file.lines.size()) + 1;
    result.blocks.push_back({entries[i].key, lines(file, entries[i].key_span.line, end), entries[i].value});
  }
  return result;
}

Block* find(std::vector<Block>& blocks, const std::string& key) {
  const auto found = std::ranges::find(blocks, key, &Block::key);
  return found == blocks.end() ? nullptr : &*found;
}

// `over` wins; where both say a part of a mapping, the merged mapping is written anew.
void merge_block(std::vector<Block>& blocks, Block over) {
  Block* base = find(blocks, over.key);
  if (base == nullptr) {
    blocks.push_back(std::move(over));
    return;
  }
  const bool is_part = base->value.is_mapping() && over.value.is_mapping() && !over.value.replace;
  merge_into(base->value, std::move(over.value));
  if (is_part) {
    SpecNode block = SpecNode::mapping();
    block.set(base->key, base->value);
    base->text = to_yaml(block);
  } else {
    base->text = std::move(over.text);
  }
}

// A file with its parents' blocks in the place of `extends`.
BlockFile flatten(const std::string& path) {
  BlockFile file = split(file_at(path));
  const Block* extends = find(file.blocks, "extends");
  if (extends == nullptr) return file;
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  std::vector<Block> inherited;
  const std::vector<SpecNode> parents =
      extends->value.is_sequence() ? extends->value.items : std::vector<SpecNode>{extends->value};
  for (const SpecNode& parent : parents) {
    for (Block& block : flatten(folder + parent.text).blocks) merge_block(inherited, std::move(block));
  }
  BlockFile result{file.head, {}};
  for (Block& block : file.blocks) {
    const Block* base = find(inherited, block.key);
    if (block.key == "extends") {
      for (Block& each : inherited) merge_block(result.blocks, std::move(each));
      inherited.clear();
    } else if (base == nullptr) {
      merge_block(result.blocks, std::move(block));
    } else if (base->value.is_mapping() && block.value.is_mapping()) {
      merge_block(inherited, std::move(block));  // said before `extends`
    } else {
      std::erase_if(inherited, [&](const Block& each) { return each.key == block.key; });
      result.blocks.push_back(std::move(block));
    }
  }
  return result;
}

bool is_recipe(const RecipeFile& file) { return file.path.find('/') == std::string_view::npos; }

bool is_sample(const RecipeFile& file) { return file.path.starts_with("samples/"); }

std::string stem(const RecipeFile& file) {
  return std::string(file.path.substr(0, file.path.size() - kExtension.size()));
}

}  // namespace

std::vector<Recipe> recipes() {
  std::vector<Recipe> result;
  for (const RecipeFile& file : recipe_files()) {
    if (!is_recipe(file)) continue;
    const BlockFile blocks = split(file);
    const auto description = std::ranges::find(blocks.blocks, "description", &Block::key);
    result.push_back({stem(file), description == blocks.blocks.end() ? "" : description->value.text});
  }
  return result;
}

std::string recipe_text(const std::string& recipe, const std::string& name) {
  std::vector<std::string> known;
  for (const Recipe& each : recipes()) known.push_back(each.name);
  if (std::ranges::find(known, recipe) == known.end()) {
    const std::optional<std::string> nearest = closest(recipe, known);
    throw SpecError(fmt::format("error: no recipe '{}'{}; known: {}\n", recipe,
                                nearest ? fmt::format(" (did you mean '{}'?)", *nearest) : "", joined(known)));
  }
  const BlockFile file = flatten(recipe + std::string(kExtension));
  std::string text = file.head;
  for (const Block& block : file.blocks) {
    text += block.key == "experiment" ? fmt::format("experiment: {}\n", to_flow_yaml(SpecNode::scalar(name, true)))
                                      : block.text;
  }
  return text;
}

std::vector<RecipeFile> samples_of(std::string_view text) {
  std::vector<RecipeFile> samples;
  for (const RecipeFile& file : recipe_files()) {
    if (is_sample(file) && text.find(file.path) != std::string_view::npos) samples.push_back(file);
  }
  return samples;
}

}  // namespace jari
