#pragma once
// Running gnuplot, the only place that does.

#include <filesystem>
#include <string>

namespace jari {

// The script that it is given writes this file, in the folder that it is started in.
inline constexpr const char* kDrawnFile = "picture";

// Runs a script and gives the bytes of `kDrawnFile`. No shell is started and no settings of the user are read. Error if
// gnuplot is not installed (with the packages to install), or complains (with what it said).
std::string draw_with_gnuplot(const std::string& script);

}  // namespace jari
