// Pictures of the vectors that a scheme adds to embeddings: how alike two positions are, how long their vectors.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "framework/report/plot_kinds.hpp"
#include "framework/report/plot_series.hpp"

namespace jari {
namespace {

// [length, length], row-major.
struct SquareMatrix {
  std::size_t length = 0;
  std::vector<double> values;

  double at(std::size_t row, std::size_t column) const { return values[row * length + column]; }
};

std::vector<double> numbers_of(const RecordArray& array) {
  if (const auto* wide = std::get_if<std::vector<double>>(&array.values)) return *wide;
  if (const auto* narrow = std::get_if<std::vector<float>>(&array.values)) return {narrow->begin(), narrow->end()};
  return {};
}

std::optional<SquareMatrix> square(const std::optional<RecordArray>& array) {
  if (!array || array->shape.size() != 2 || array->shape[0] != array->shape[1]) return std::nullopt;
  return SquareMatrix{static_cast<std::size_t>(array->shape[0]), numbers_of(*array)};
}

// An array of the first analysis that has one of this name.
std::optional<RecordArray> analysis_array(const RunReader& run, const std::string& name) {
  for (const std::string& analysis : run.analyses())
    if (auto array = run.array("analyses/" + analysis + "/" + name)) return array;
  return std::nullopt;
}

// A trained table [position, width].
std::optional<RecordArray> position_table(const RunReader& run) {
  for (const std::string& path : run.arrays("weights")) {
    auto array = run.array("weights/" + path);
    if (array->axes == std::vector<std::string>{"position", "width"}) return array;
  }
  return std::nullopt;
}

SquareMatrix products_of(const RecordArray& table) {
  const std::vector<double> rows = numbers_of(table);
  const auto length = static_cast<std::size_t>(table.shape[0]), width = static_cast<std::size_t>(table.shape[1]);
  SquareMatrix products{length, std::vector<double>(length * length)};
  for (std::size_t i = 0; i < length; ++i)
    for (std::size_t j = 0; j < length; ++j)
      for (std::size_t k = 0; k < width; ++k)
        products.values[i * length + j] += rows[i * width + k] * rows[j * width + k];
  return products;
}

// Undoes the division by both norms.
SquareMatrix unscaled(SquareMatrix cosine, const std::vector<double>& norm) {
  for (std::size_t i = 0; i < cosine.values.size(); ++i)
    cosine.values[i] *= norm[i / cosine.length] * norm[i % cosine.length];
  return cosine;
}

// As an analysis recorded them, else from a trained table of positions.
std::optional<SquareMatrix> dot_products(const CollectedRun& run) {
  const RunReader reader(run.summary.path);
  if (auto products = square(analysis_array(reader, "dot_products"))) return products;
  const auto cosine = square(analysis_array(reader, "cosine"));
  const auto norm = analysis_array(reader, "norm");
  if (cosine && norm && norm->shape == std::vector{static_cast<std::int64_t>(cosine->length)})
    return unscaled(*cosine, numbers_of(*norm));
  if (const auto table = position_table(reader)) return products_of(*table);
  return std::nullopt;
}

std::optional<SquareMatrix> cosines(const CollectedRun& run) {
  auto products = dot_products(run);
  if (!products) return std::nullopt;
  SquareMatrix result = *products;
  for (std::size_t i = 0; i < result.length; ++i) {
    for (std::size_t j = 0; j < result.length; ++j) {
      const double norms = std::sqrt(products->at(i, i) * products->at(j, j));
      result.values[i * result.length + j] = norms > 0 ? products->at(i, j) / norms : 0;
    }
  }
  return result;
}

using Reader = std::function<std::optional<SquareMatrix>(const CollectedRun&)>;

std::vector<SquareMatrix> matrices_of(const PlotCell& cell, const Reader& read) {
  std::vector<SquareMatrix> matrices;
  for (const CollectedRun* run : cell.runs) {
    auto matrix = read(*run);
    if (matrix && (matrices.empty() || matrices.front().length == matrix->length)) matrices.push_back(*matrix);
  }
  return matrices;
}

constexpr const char* kRemedy =
    "such vectors come from schemes that add to embeddings; for those, add `analyses: {vectors: {type: "
    "position_cosine}}` to the spec and run it again";

HeatMap mean_of(const std::vector<SquareMatrix>& matrices) {
  HeatMap mean{matrices.front().length, matrices.front().length, std::vector<double>(matrices.front().values.size())};
  for (const SquareMatrix& matrix : matrices)
    for (std::size_t i = 0; i < mean.values.size(); ++i)
      mean.values[i] += matrix.values[i] / static_cast<double>(matrices.size());
  return mean;
}

Picture plot_matrices(PlotSelection& selection, const Reader& read, const std::string& label) {
  Picture picture;
  picture.heat_label = label;
  MissingCells missing("vectors of positions", kRemedy);
  for (const PlotGroup& group : selection.groups) {
    for (const PlotCell& cell : group.cells) {
      const std::vector<SquareMatrix> matrices = matrices_of(cell, read);
      if (matrices.empty()) {
        missing.add(cell, {"position_cosine", "position_property"});
        continue;
      }
      PicturePanel panel;
      panel.title = group.title.empty() ? cell.label : group.title + ", " + cell.label;
      panel.heat = mean_of(matrices);
      const double end = static_cast<double>(panel.heat->rows) - 0.5;
      panel.x = {"position (tokens before it)", false, -0.5, end, {}};
      panel.y = {"position (tokens before it)", false, end, -0.5, {}};  // row 0 at the top, as a matrix is written
      picture.panels.push_back(std::move(panel));
    }
  }
  missing.tell(picture.panels.empty(), selection.notes);
  check_panel_count(picture.panels.size(), selection);
  return picture;
}

SeedPoints by_gap(const SquareMatrix& matrix) {
  SeedPoints points;
  for (std::size_t gap = 0; gap < matrix.length; ++gap) {
    double sum = 0;
    for (std::size_t i = 0; i + gap < matrix.length; ++i) sum += matrix.at(i, i + gap);
    points.push_back({static_cast<double>(gap), sum / static_cast<double>(matrix.length - gap)});
  }
  return points;
}

SeedPoints norms(const SquareMatrix& products) {
  SeedPoints points;
  for (std::size_t i = 0; i < products.length; ++i)
    points.push_back({static_cast<double>(i), std::sqrt(products.at(i, i))});
  return points;
}

Picture plot_curves(PlotSelection& selection, const Reader& read, SeedPoints (*points)(const SquareMatrix&),
                    const PictureAxis& x, const PictureAxis& y, bool log) {
  Picture picture;
  MissingCells missing("vectors of positions", kRemedy);
  bool has_any = false;
  for (const PlotGroup& group : selection.groups) {
    PicturePanel panel{group.title, x, y, {}, {}, {}, false};
    for (const PlotCell& cell : group.cells) {
      std::vector<SeedPoints> seeds;
      for (const SquareMatrix& matrix : matrices_of(cell, read)) seeds.push_back(points(matrix));
      if (seeds.empty())
        missing.add(cell, {"position_cosine", "position_property"});
      else
        panel.series.push_back(series_of(cell, seeds, PictureSeries::Form::curve, log));
    }
    has_any = has_any || !panel.series.empty();
    if (const auto trained = common_integer(group, "train.length");
        trained && !panel.series.empty() && !panel.series.front().means.empty()) {
      const double last = panel.series.front().means.back().x;
      panel.marks.push_back({PictureMark::Form::span, 0, std::min(last, static_cast<double>(*trained) - 1), "trained"});
    }
    picture.panels.push_back(std::move(panel));
  }
  missing.tell(!has_any, selection.notes);
  return picture;
}

}  // namespace

Picture plot_dot_products(PlotSelection& selection, const PlotOptions&) {
  return plot_matrices(selection, dot_products, "dot product");
}

Picture plot_cosines(PlotSelection& selection, const PlotOptions&) {
  return plot_matrices(selection, cosines, "cosine");
}

Picture plot_by_gap(PlotSelection& selection, const PlotOptions& options) {
  const bool is_cosine = options.what == "cosine_by_gap";
  return plot_curves(selection, is_cosine ? Reader(cosines) : Reader(dot_products), by_gap,
                     {"gap between two positions (tokens)", false, {}, {}, {}},
                     {is_cosine ? "mean cosine" : "mean dot product", false, {}, {}, {}}, options.log);
}

Picture plot_norms(PlotSelection& selection, const PlotOptions& options) {
  return plot_curves(selection, dot_products, norms, {"position (tokens before it)", false, {}, {}, {}},
                     {"norm of the position's vector", false, {}, {}, {}}, options.log);
}

}  // namespace jari
