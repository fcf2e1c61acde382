#pragma once
// The kinds of pictures, one function each: from selected runs to panels. StoreError where no run holds what is needed.

#include "framework/report/picture.hpp"
#include "framework/report/plot_selection.hpp"

namespace jari {

// plot_metrics.cpp
Picture plot_metric(PlotSelection& selection, const PlotOptions& options);     // any metric over steps
Picture plot_final(PlotSelection& selection, const PlotOptions& options);      // last values, by curve
Picture plot_by_length(PlotSelection& selection, const PlotOptions& options);  // last values, by length

// plot_positions.cpp
Picture plot_by_position(PlotSelection& selection, const PlotOptions& options);  // /evaluate/<entry>/<what>
Picture plot_bias(PlotSelection& selection, const PlotOptions& options);

// plot_vectors.cpp
Picture plot_dot_products(PlotSelection& selection, const PlotOptions& options);
Picture plot_cosines(PlotSelection& selection, const PlotOptions& options);
Picture plot_by_gap(PlotSelection& selection, const PlotOptions& options);
Picture plot_norms(PlotSelection& selection, const PlotOptions& options);

}  // namespace jari
