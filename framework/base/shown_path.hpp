#pragma once
// Paths in messages.

#include <filesystem>
#include <string>

namespace jari {

// Relative to the working directory where it lies below it, as the user would type it; otherwise as it is.
std::string shown_path(const std::filesystem::path& path);

}  // namespace jari
