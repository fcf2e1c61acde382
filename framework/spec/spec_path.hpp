#pragma once
// Files that a spec names. A relative path begins at the folder of the spec file that holds it (on the command line: at
// the working directory), and the resolved spec has the whole path, so that it can be read from anywhere.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/spec/binder.hpp"

namespace jari {

struct SpecPath {
  std::string text;            // as written
  std::filesystem::path path;  // whole, without . and ..

  SpecPath() = default;
  // `span`: where it is written.
  SpecPath(std::string written, const SourceSpan& span);
};

// Reports a file or a folder that is not there.
void check_file(FieldChecks& checks, const std::string& field, const SpecPath& path);
void check_folder(FieldChecks& checks, const std::string& field, const SpecPath& path);

// One path, or a list of them.
struct SpecPaths {
  std::vector<SpecPath> paths;
};

template <>
struct FieldType<SpecPath> : PlainFieldType<SpecPath> {
  static void describe(FieldDescription& field) { field.kind = FieldKind::text; }
  static SpecNode initial(const SpecPath& value) {
    return value.text.empty() ? SpecNode{} : SpecNode::scalar(value.path.string(), true);
  }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits&, SpecPath& out,
                   SpecNode& resolved) {
    std::string text;
    if (!binder.read_text(node, path, text)) return;
    if (text.empty()) return binder.refuse(node, path, "a path", "");
    out = SpecPath(std::move(text), node.span);
    resolved = located(out, node);
  }
};

template <>
struct FieldType<SpecPaths> : PlainFieldType<SpecPaths> {
  static void describe(FieldDescription& field) {
    field.kind = FieldKind::list;
    field.single_allowed = true;
    FieldType<SpecPath>::describe(field.element.emplace_back());
  }
  static SpecNode initial(const SpecPaths& value) { return FieldType<std::vector<SpecPath>>::initial(value.paths); }
  static void bind(Binder& binder, const SpecNode& node, const std::string& path, const FieldTraits& traits,
                   SpecPaths& out, SpecNode& resolved) {
    if (node.is_scalar()) {
      resolved = SpecNode::sequence({SpecNode{}}, node.span);
      out.paths.resize(1);
      return FieldType<SpecPath>::bind(binder, node, path, traits, out.paths[0], resolved.items[0]);
    }
    FieldDescription field;
    describe(field);
    if (!binder.require_list(node, path, field)) return;
    if (node.items.empty()) return binder.refuse(node, path, "at least one path", "");
    FieldType<std::vector<SpecPath>>::bind(binder, node, path, traits, out.paths, resolved);
  }
};

}  // namespace jari
