#include "framework/spec/spec_path.hpp"

#include "framework/base/shown_path.hpp"

namespace jari {
namespace {

void check_kind(FieldChecks& checks, const std::string& field, const SpecPath& path, bool folder) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path.path, error);
  const std::string name = shown_path(path.path);
  if (!std::filesystem::exists(status)) {
    checks.error(field, name + ": there is no such " + (folder ? "folder" : "file"));
  } else if (std::filesystem::is_directory(status) != folder) {
    checks.error(field, name + (folder ? ": is a file, not a folder" : ": is a folder, not a file"));
  }
}

}  // namespace

SpecPath::SpecPath(std::string written, const SourceSpan& span) : text(std::move(written)) {
  const std::filesystem::path file = span.file ? span.file->name : "";
  path = std::filesystem::absolute(file.parent_path() / text).lexically_normal();
}

void check_file(FieldChecks& checks, const std::string& field, const SpecPath& path) {
  check_kind(checks, field, path, /*folder=*/false);
}

void check_folder(FieldChecks& checks, const std::string& field, const SpecPath& path) {
  check_kind(checks, field, path, /*folder=*/true);
}

}  // namespace jari
