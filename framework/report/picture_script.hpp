#pragma once
// A picture as a script of gnuplot, with its data inside. The same picture gives the same text.

#include <string>
#include <string_view>

#include "framework/report/picture.hpp"

namespace jari {

enum class PictureFormat { svg, png };

// `output` is the file that the script draws. Sizes are pixels in SVG; a PNG has two for each, to print well.
std::string gnuplot_script(const Picture& picture, PictureFormat format, const std::string& output);

// A text as gnuplot reads it, whatever it holds: in single quotes nothing is run, and lines are joined by "\n". Bytes
// that are not UTF-8 and control characters become U+FFFD and spaces.
std::string gnuplot_quoted(std::string_view text);

}  // namespace jari
