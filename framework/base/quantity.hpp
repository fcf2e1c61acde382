#pragma once
// Amounts for people.

#include <string>

namespace jari {

std::string duration_text(double seconds);  // "59s", "3m 12s", "2h 05m"
std::string bytes_text(double bytes);       // "512 B", "1.2 kB", "34 MB": decimal units, two digits at least

}  // namespace jari
