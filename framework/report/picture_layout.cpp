#include "framework/report/picture_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace jari {
namespace {

constexpr double kEdge = 12;  // free at the edges of the picture
constexpr double kGap = 18;   // between panels
constexpr double kRowGap = 14;
constexpr double kTickHeight = 18;     // of the labels below an axis
constexpr double kAxisLabel = 24;      // of what an axis is called
constexpr double kColorScale = 66;     // right of a heat map
constexpr double kRow = 18;            // of the legend
constexpr double kWidestBeside = 190;  // legends that are wider stand below

std::size_t columns_for(std::size_t panels) {
  if (panels <= 3) return panels;
  return static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(panels))));
}

std::vector<LegendEntry> legend_entries(const Picture& picture) {
  std::vector<LegendEntry> entries;
  for (const PicturePanel& panel : picture.panels) {
    for (const PictureSeries& series : panel.series) {
      const bool known = std::ranges::find(entries, series.name, &LegendEntry::name) != entries.end();
      if (!series.name.empty() && !known) entries.push_back({series.name, series.tone, series.joined, 0, 0});
    }
  }
  if (entries.size() < 2) entries.clear();
  return entries;
}

double entry_width(std::span<const LegendEntry> entries) {
  double widest = 0;
  for (const LegendEntry& entry : entries) widest = std::max(widest, text_width(entry.name, kFontSize));
  return kSampleWidth + 6 + widest;
}

std::vector<std::string> wrapped(const std::string& text, double size, double width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && text_width(line + " " + word, size) > width) lines.push_back(std::exchange(line, ""));
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

// What the labels of the upright axis take, left of the panels.
double upright_width(const Picture& picture) {
  double widest = 30;
  for (const PicturePanel& panel : picture.panels) {
    const PictureAxis& upright = panel.sideways ? panel.x : panel.y;
    if (upright.log && upright.ticks.empty()) widest = std::max(widest, 8 + text_width("0.0001", kFontSize));
    for (const auto& [place, label] : upright.ticks) widest = std::max(widest, 8 + text_width(label, kFontSize));
  }
  const PicturePanel& first = picture.panels.front();
  return widest + ((first.sideways ? first.x : first.y).label.empty() ? 0 : kAxisLabel);
}

class Layouter {
 public:
  explicit Layouter(const Picture& picture) : picture_(picture), columns_(columns_for(picture.panels.size())) {
    rows_ = (picture.panels.size() + columns_ - 1) / columns_;
  }

  PictureLayout lay_out() {
    layout_.legend = legend_entries(picture_);
    layout_.columns = columns_;
    has_heat_ = picture_.panels.front().heat.has_value();
    const double wide = entry_width(layout_.legend);
    is_beside_ = !layout_.legend.empty() && wide <= kWidestBeside;
    choose_size(is_beside_ ? wide : 0);
    area_ = {kEdge, layout_.width - kEdge, kEdge, layout_.height - kEdge};
    take_texts();
    if (is_beside_) area_.right -= wide + kGap;
    if (!layout_.legend.empty() && !is_beside_) take_rows_below();
    place_panels();
    if (is_beside_) place_beside();
    if (has_heat_)
      for (const Box& box : layout_.panels)
        layout_.color_scales.push_back({box.right + 8, box.right + 18, box.top, box.bottom});
    return layout_;
  }

 private:
  void choose_size(double legend) {
    const bool one = picture_.panels.size() == 1;
    double width = one ? 560 : 300, height = one ? 340 : 210;
    if (has_heat_) {
      height = one ? 360 : 230;
      width = height + kColorScale + kGap;
    } else if (picture_.panels.front().sideways) {
      height = std::max(80.0, 26 * static_cast<double>(picture_.panels.front().series.size()));
    }
    const double texts = 60 + (picture_.title.empty() ? 0 : 26);
    const auto columns = static_cast<double>(columns_), rows = static_cast<double>(rows_);
    layout_.width =
        picture_.width > 0 ? picture_.width : static_cast<int>(upright_width(picture_) + 40 + columns * width + legend);
    const double below = is_beside_ ? 0 : kRow * static_cast<double>(legend_rows());
    layout_.height = picture_.height > 0 ? picture_.height : static_cast<int>(texts + rows * (height + 52) + below);
  }

  // The widths of the most columns that a legend below the panels can have; entries go down each column.
  std::vector<double> legend_columns() const {
    const std::size_t entries = layout_.legend.size();
    for (std::size_t columns = entries; columns > 1; --columns) {
      const std::size_t rows = (entries + columns - 1) / columns;
      std::vector<double> widths;
      double total = -kGap;
      for (std::size_t begin = 0; begin < entries; begin += rows) {
        const std::span all(layout_.legend);
        widths.push_back(entry_width(all.subspan(begin, std::min(rows, entries - begin))));
        total += widths.back() + kGap;
      }
      if (total <= layout_.width - 2 * kEdge) return widths;
    }
    return {entry_width(layout_.legend)};
  }
  std::size_t legend_rows() const {
    const std::size_t columns = legend_columns().size();
    return (layout_.legend.size() + columns - 1) / columns;
  }

  void take_texts() {
    const double width = layout_.width - 2 * kEdge;
    layout_.title = wrapped(picture_.title, kTitleSize, width);
    layout_.title_y = area_.top + kTitleSize / 2;
    area_.top += static_cast<double>(layout_.title.size()) * (kTitleSize + 5) + (layout_.title.empty() ? 0 : 4);
    layout_.caption = wrapped(picture_.caption, kCaptionSize, width);
    const double line = kCaptionSize + 4;
    layout_.caption_y = area_.bottom - line * (static_cast<double>(layout_.caption.size()) - 0.5);
    area_.bottom -= line * static_cast<double>(layout_.caption.size()) + (layout_.caption.empty() ? 0 : 6);
  }

  void take_rows_below() {
    const std::vector<double> widths = legend_columns();
    const std::size_t rows = legend_rows();
    area_.bottom -= static_cast<double>(rows) * kRow;
    double total = -kGap;
    for (const double width : widths) total += width + kGap;
    double x = (area_.left + area_.right - total) / 2;
    for (std::size_t i = 0; i < layout_.legend.size(); ++i) {
      if (i > 0 && i % rows == 0) x += widths[i / rows - 1] + kGap;
      layout_.legend[i].x = x;
      layout_.legend[i].y = area_.bottom + (static_cast<double>(i % rows) + 0.5) * kRow;
    }
    area_.bottom -= 6;
  }

  void place_beside() {
    const double top = layout_.panels.front().top + kRow / 2;
    for (std::size_t i = 0; i < layout_.legend.size(); ++i) {
      layout_.legend[i].x = area_.right + kGap;
      layout_.legend[i].y = top + static_cast<double>(i) * kRow;
    }
  }

  void place_panels() {
    const bool titled =
        std::ranges::any_of(picture_.panels, [](const PicturePanel& panel) { return !panel.title.empty(); });
    const double left = upright_width(picture_), head = titled ? 20 : 4;
    const double scale = has_heat_ ? kColorScale : 0, gap = kGap + scale;
    const double width = (area_.right - area_.left - left - gap * static_cast<double>(columns_ - 1) - scale) /
                         static_cast<double>(columns_);
    const auto rows = static_cast<double>(rows_);
    const double frame = head + kTickHeight;  // above and below each panel
    const double height = (area_.bottom - area_.top - kAxisLabel - rows * frame - (rows - 1) * kRowGap) / rows;
    for (std::size_t i = 0; i < picture_.panels.size(); ++i) {
      const double x = area_.left + left + static_cast<double>(i % columns_) * (width + gap);
      const double y = area_.top + head + static_cast<double>(i / columns_) * (height + frame + kRowGap);
      layout_.panels.push_back({x, x + width, y, y + height});
      layout_.is_leftmost.push_back(i % columns_ == 0);
      layout_.is_lowest.push_back(i + columns_ >= picture_.panels.size());
    }
    check_room();
    if (has_heat_) make_square();
  }

  void check_room() const {
    constexpr double least = 40;
    const Box& box = layout_.panels.front();
    if (box.right - box.left >= least && box.bottom - box.top >= least) return;
    throw SpecError(
        fmt::format("--size: {}x{} leaves no room for {} panel{} beside their texts; give a larger size, or "
                    "leave --size out",
                    layout_.width, layout_.height, layout_.panels.size(), layout_.panels.size() == 1 ? "" : "s"));
  }

  // Positions against positions: equal scales on both axes.
  void make_square() {
    for (Box& box : layout_.panels) {
      const double side = std::min(box.right - box.left, box.bottom - box.top);
      box.right = box.left + side;
      box.bottom = box.top + side;
    }
  }

  const Picture& picture_;
  std::size_t columns_, rows_;
  bool has_heat_ = false, is_beside_ = false;
  Box area_;  // what is not taken yet
  PictureLayout layout_;
};

}  // namespace

double text_width(std::string_view text, double size) { return 0.58 * size * display_width(text); }

PictureLayout lay_out(const Picture& picture) { return Layouter(picture).lay_out(); }

}  // namespace jari
