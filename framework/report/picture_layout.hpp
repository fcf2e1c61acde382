#pragma once
// Where the parts of a picture lie: panels in a grid, the legend beside or below them, so that nothing lies upon
// anything.

#include <string>
#include <vector>

#include "framework/report/picture.hpp"

namespace jari {

struct Box {
  double left = 0, right = 0, top = 0, bottom = 0;  // pixels from the upper left corner
};

struct LegendEntry {
  std::string name;
  Tone tone;
  bool has_line = true;
  double x = 0, y = 0;  // of its sample's left end, at the middle of its height
};

struct PictureLayout {
  int width = 0, height = 0;
  std::size_t columns = 1;                  // of panels
  std::vector<Box> panels;                  // the area within the axes
  std::vector<bool> is_leftmost;            // by panel: takes the labels of the upright axis
  std::vector<bool> is_lowest;              // nothing stands below it
  std::vector<LegendEntry> legend;          // none for a single curve
  std::vector<Box> color_scales;            // of heat maps
  std::vector<std::string> title, caption;  // lines
  double title_y = 0, caption_y = 0;        // of their first lines
};

inline constexpr double kFontSize = 12, kTitleSize = 15, kCaptionSize = 10.5;
inline constexpr double kSampleWidth = 36;  // of a line in the legend

// Width and height 0 are chosen by what there is to show. SpecError if the picture is too small for its panels.
PictureLayout lay_out(const Picture& picture);

// Pixels that a text takes at a font size, on the safe side; Hangul is twice as wide as Latin.
double text_width(std::string_view text, double size);

}  // namespace jari
