#pragma once
// Nearest valid names, for "did you mean".

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jari {

// Insertions, deletions, substitutions and swaps of neighbors that turn one text into the other (optimal string
// alignment), over bytes.
int edit_distance(std::string_view left, std::string_view right);

// The candidate that a person most likely meant; nothing if all are far (more than a third of the name's length).
// '-' and '_' and the case of letters count nothing.
std::optional<std::string> closest(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace jari
