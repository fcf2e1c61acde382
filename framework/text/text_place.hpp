#pragma once

namespace jari {

// Where a text stands that is looked at: at the beginning; behind a cut; or it is the rest of one that was given out in
// segments, which begins with white space.
enum class TextPlace { beginning, part, rest };

}  // namespace jari
