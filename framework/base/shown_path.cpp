#include "framework/base/shown_path.hpp"

#include <system_error>

namespace jari {

std::string shown_path(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (error || !path.is_absolute()) return path.string();
  const std::filesystem::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

}  // namespace jari
