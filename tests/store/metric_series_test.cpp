#include "framework/store/metric_series.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace jari {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(MetricSeries, IsSummarizedByLastBestAndWorst) {
  EXPECT_EQ(summarize(MetricSeries{"evaluate/longer/accuracy", {100, 200, 300, 400}, {0.5, 0.9, 0.9, 0.75}}),
            (MetricSummary{"evaluate/longer/accuracy", 0.75, 0.9, 0.5, 200}));
  EXPECT_EQ(summarize(MetricSeries{"train/loss", {100, 200, 300}, {3, 0.5, 1}}),
            (MetricSummary{"train/loss", 1, 0.5, 3, 200}));
}

TEST(MetricSeries, TellsWhichMetricsWantToBeSmallByTheLastPartOfTheName) {
  for (const char* name : {"train/loss", "evaluate/longer/loss", "train/gradient_norm", "evaluate/held_out/perplexity",
                           "evaluate/held_out/bits_per_character"})
    EXPECT_TRUE(smaller_is_better(name)) << name;
  for (const char* name : {"evaluate/longer/accuracy", "evaluate/loss_free/accuracy_new", "recall"})
    EXPECT_FALSE(smaller_is_better(name)) << name;
}

TEST(MetricSeries, FindsTheBestBesideNaNs) {
  const MetricSummary summary = summarize(MetricSeries{"train/loss", {1, 2, 3, 4}, {kNaN, 2, 1, kNaN}});
  EXPECT_TRUE(std::isnan(summary.last));
  EXPECT_EQ(summary.best, 1);
  EXPECT_EQ(summary.worst, 2);
  EXPECT_EQ(summary.best_step, 3);
  EXPECT_TRUE(std::isnan(summarize(MetricSeries{"train/loss", {1}, {kNaN}}).best));
}

}  // namespace
}  // namespace jari
