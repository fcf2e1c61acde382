#include "framework/base/source_span.hpp"

#include <fmt/format.h>

namespace jari {

std::string SourceSpan::location() const {
  if (!file) return "(default)";
  return fmt::format("{}:{}:{}", file->name, line, column);
}

}  // namespace jari
