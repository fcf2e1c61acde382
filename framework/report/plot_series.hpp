#pragma once
// From what each seed gave to what a picture shows of it.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "framework/report/picture.hpp"
#include "framework/report/plot_selection.hpp"

namespace jari {

// One seed's values by x. Values that are no number (a position without a target, a masked bias) are left out.
using SeedPoints = std::vector<Point>;

// The means over the seeds at each x that any of them has, and the seeds themselves where there are several. With `log`
// the means are geometric, their intervals those of the mean logarithm, and what is not positive is left out.
PictureSeries series_of(const PlotCell& cell, const std::vector<SeedPoints>& seeds, PictureSeries::Form form, bool log);

// What `read` gives for each run of the cell; runs where it gives nothing are left out.
std::vector<SeedPoints> points_of(const PlotCell& cell,
                                  const std::function<std::optional<SeedPoints>(const CollectedRun&)>& read);

// Leaves so many points that a picture stays small, fewer of each curve where there are many curves; dots of seeds
// become thin lines where there would be too many.
void thin_out(Picture& picture);

// Where panels are to be compared, their upright axes are the same.
void share_upright_axes(Picture& picture);

// "accuracy (fraction correct)", "loss (nats per token)", else the name itself; accuracies from 0 to 1.
PictureAxis axis_of_metric(const std::string& metric);

// The level of guessing among tokens that are drawn uniformly; none for other tasks, and for other metrics.
std::optional<PictureMark> chance_mark(const PlotGroup& group, const std::string& metric);

// "lines: means of 5 seeds; bands: 95 % t-intervals of the means; dots: seeds; dotted line: chance, 1/50".
std::string caption_of(const PlotSelection& selection, const Picture& picture);

// Curves that a picture has to do without, and why.
class MissingCells {
 public:
  // `what` the runs lack, and what to do about it.
  MissingCells(std::string what, std::string remedy) : what_(std::move(what)), remedy_(std::move(remedy)) {}

  // If an analysis of one of these types says why it had nothing to look at, this is the reason.
  void add(const PlotCell& cell, const std::vector<std::string>& analysis_types);
  // Into the notes; StoreError where nothing is left to draw.
  void tell(bool nothing_is_left, std::vector<std::string>& notes) const;

 private:
  std::string what_, remedy_;
  std::vector<std::pair<std::string, std::vector<std::string>>> labels_;  // by reason, "" for none
};

}  // namespace jari
