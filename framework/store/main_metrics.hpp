#pragma once
// What an evaluation is told by where not all of its metrics are shown.

#include <string_view>

namespace jari {

// How a metric's path goes on behind the evaluation, of these the first that there is: a language model's accuracy says
// little.
inline constexpr std::string_view kMainMetrics[] = {"/bits_per_character", "/perplexity", "/accuracy"};

}  // namespace jari
