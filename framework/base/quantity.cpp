#include "framework/base/quantity.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace jari {

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}h {:02}m", whole / 3600, whole / 60 % 60);
}

std::string bytes_text(double bytes) {
  if (bytes < 999.5) return fmt::format("{:.0f} B", bytes);
  constexpr const char* kUnits[] = {"kB", "MB", "GB", "TB", "PB"};
  double value = bytes / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < std::size(kUnits)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

}  // namespace jari
