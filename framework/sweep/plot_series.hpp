#pragma once
// From what each seed gave to what a picture shows of it.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/sweep/picture.hpp"
#include "framework/sweep/plot_selection.hpp"

namespace jari {

// One seed's values by x. Values that are no number (a position without a target, a masked bias) are left out.
using SeedPoints = std::vector<Point>;

// The means over the seeds at each x that any of them has, and the seeds themselves where there are several.
PictureSeries series_of(const PlotCell& cell, const std::vector<SeedPoints>& seeds, PictureSeries::Form form);

// What `read` gives for each run of the cell; runs where it gives nothing are left out.
std::vector<SeedPoints> points_of(const PlotCell& cell,
                                  const std::function<std::optional<SeedPoints>(const CollectedRun&)>& read);

// Leaves about 300 points of each curve and fewer of seeds where there are many, so that a picture stays small.
void thin_out(PicturePanel& panel);

// Where panels are to be compared, their upright axes are the same.
void share_upright_axes(Picture& picture);

// "accuracy (fraction correct)", "loss (nats per token)", else the name itself; accuracies from 0 to 1.
PictureAxis axis_of_metric(const std::string& metric);

// The level of guessing among tokens that are drawn uniformly; none for other tasks, and for other metrics.
std::optional<PictureMark> chance_mark(const PlotGroup& group, const std::string& metric);

// "lines: means of 5 seeds; bands: 95 % t-intervals; ...".
std::string caption_of(const PlotSelection& selection, PictureSeries::Form form);

}  // namespace jari
