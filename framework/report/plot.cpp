#include "framework/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"
#include "framework/report/gnuplot.hpp"
#include "framework/report/picture_script.hpp"
#include "framework/report/plot_kinds.hpp"
#include "framework/report/plot_series.hpp"
#include "framework/store/atomic_file.hpp"

namespace jari {
namespace {

using Draw = Picture (*)(PlotSelection&, const PlotOptions&);

struct DrawnKind {
  PlotKind kind;
  Draw draw;
};

const std::vector<DrawnKind>& drawn_kinds() {
  static const std::vector<DrawnKind> kinds = {
      {{"loss", "training loss over the steps"}, plot_metric},
      {{"final", "last value of --metric, by default the accuracies: a dot for each seed"}, plot_final},
      {{"accuracy_by_length", "accuracy of the evaluate entries by their length"}, plot_by_length},
      {{"loss_by_length", "loss of the evaluate entries by their length"}, plot_by_length},
      {{"accuracy_by_position", "accuracy at each position of the evaluate entries"}, plot_by_position},
      {{"loss_by_position", "loss at each position of the evaluate entries"}, plot_by_position},
      {{"bias", "what schemes add to scores, by the offset of the key from the query"}, plot_bias},
      {{"dot_products", "dot products between the vectors of positions, as a heat map"}, plot_dot_products},
      {{"dot_products_by_gap", "their means by the gap between the positions"}, plot_by_gap},
      {{"cosine", "cosines between the vectors of positions, as a heat map"}, plot_cosines},
      {{"cosine_by_gap", "their means by the gap between the positions"}, plot_by_gap},
      {{"norm", "length of the vector of each position"}, plot_norms},
  };
  return kinds;
}

Draw draw_of(const std::string& what) {
  std::vector<std::string> names;
  for (const DrawnKind& kind : drawn_kinds()) {
    if (what == kind.kind.name) return kind.draw;
    names.emplace_back(kind.kind.name);
  }
  if (what.find('/') != std::string::npos) return plot_metric;  // a metric's path
  fail_unknown_name("--what: there is no picture", what, names,
                    "pictures: " + joined(names) + "; or the path of a metric, such as evaluate/trained/accuracy");
}

// "900x600".
void set_size(const std::string& size, Picture& picture) {
  constexpr int least = 200, most = 10000;
  const std::size_t cross = size.find('x');
  const auto parse = [&](std::string_view text, int& value) {
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stop == text.data() + text.size() && value >= least && value <= most;
  };
  const std::string_view text = size;
  if (cross == std::string::npos || !parse(text.substr(0, cross), picture.width) ||
      !parse(text.substr(cross + 1), picture.height))
    throw SpecError(fmt::format("--size '{}': expected WIDTHxHEIGHT in pixels, each from {} to {}, such as 900x600",
                                size, least, most));
}

void set_log_axes(Picture& picture) {
  bool has_any = false;
  for (PicturePanel& panel : picture.panels) {
    if (panel.heat) throw SpecError("--log: a heat map has no upright axis to be logarithmic; leave --log out");
    panel.y.log = true;
    panel.y.low = panel.y.high = std::nullopt;
    panel.y.ticks.clear();
    for (const PictureSeries& series : panel.series) has_any = has_any || !series.means.empty();
  }
  if (!has_any) throw SpecError("--log: no value is positive, so there is nothing to draw; leave --log out");
}

std::string ending_of(const std::filesystem::path& output) { return output.extension().string(); }

// A page shows the picture's own title over it, and each value of a heat map as a square with sharp edges.
std::string finished_svg(std::string svg, const std::string& title) {
  const auto replace_all = [&svg](const std::string& from, const std::string& to) {
    for (std::size_t at = svg.find(from); at != std::string::npos; at = svg.find(from, at + to.size()))
      svg.replace(at, from.size(), to);
  };
  std::string escaped;
  for (const char letter : title)
    escaped += letter == '<' ? "&lt;" : letter == '>' ? "&gt;" : letter == '&' ? "&amp;" : std::string(1, letter);
  replace_all("<title>Gnuplot</title>", "<title>" + escaped + "</title>");
  replace_all("<image ", "<image image-rendering='optimizeSpeed' style='image-rendering:pixelated' ");
  return svg;
}

}  // namespace

const std::vector<PlotKind>& plot_kinds() {
  static const std::vector<PlotKind> kinds = [] {
    std::vector<PlotKind> result;
    for (const DrawnKind& drawn : drawn_kinds()) result.push_back(drawn.kind);
    return result;
  }();
  return kinds;
}

Plot make_plot(const std::vector<std::filesystem::path>& paths, const PlotOptions& options) {
  const Draw draw = draw_of(options.what);
  PlotSelection selection = select_runs(paths, options);
  Plot plot;
  plot.picture = draw(selection, options);
  plot.picture.title = options.title;
  if (options.log) set_log_axes(plot.picture);
  if (!options.size.empty()) set_size(options.size, plot.picture);
  share_upright_axes(plot.picture);
  thin_out(plot.picture);
  plot.picture.caption = caption_of(selection, plot.picture);
  plot.notes = std::move(selection.notes);
  return plot;
}

void check_plot_output(const std::filesystem::path& output) {
  const std::string ending = ending_of(output);
  if (ending != ".svg" && ending != ".png" && ending != ".gp")
    throw SpecError(fmt::format("-o {}: expected a file that ends in .svg, .png or .gp (gnuplot's script), found {}",
                                output.string(), ending.empty() ? "no ending" : "'" + ending + "'"));
}

void write_plot(const Plot& plot, const std::filesystem::path& output) {
  check_plot_output(output);
  const std::string ending = ending_of(output);
  if (ending == ".gp") {
    const std::string drawn = output.stem().string() + ".svg";
    write_file_atomically(output, gnuplot_script(plot.picture, PictureFormat::svg, drawn));
    return;
  }
  const PictureFormat format = ending == ".svg" ? PictureFormat::svg : PictureFormat::png;
  std::string bytes = draw_with_gnuplot(gnuplot_script(plot.picture, format, kDrawnFile));
  if (format == PictureFormat::svg) bytes = finished_svg(std::move(bytes), plot.picture.title);
  write_file_atomically(output, bytes);
}

}  // namespace jari
