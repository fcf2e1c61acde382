#pragma once
// `jari plot`: pictures of what runs have recorded.

#include <filesystem>
#include <string>
#include <vector>

#include "framework/report/picture.hpp"

namespace jari {

struct PlotOptions {
  std::string what = {};             // a name of `plot_kinds`, or a metric's path: "evaluate/extrapolated/accuracy"
  std::vector<std::string> by = {};  // keys that tell curves and panels apart, the curves' first; empty: all that vary
  std::vector<std::string> only = {};      // "model.position=rel", more values for the same key behind it
  std::vector<std::string> evaluate = {};  // names of evaluate entries; empty: all
  std::string metric = {};                 // for `final`: its path; for `..._by_length`: "accuracy"
  std::string title = {};                  // empty: none
  std::string size = {};                   // "900x600" pixels; empty: by what is drawn
  bool log = false;                        // upright axis
};

struct PlotKind {
  const char* name;
  const char* what;  // one line of help
};

const std::vector<PlotKind>& plot_kinds();

struct Plot {
  Picture picture;
  std::vector<std::string> notes;  // for stderr: what was left out, and why
};

// SpecError for options that fit no run (with what there is), StoreError if there is no run or none holds what is
// asked for.
Plot make_plot(const std::vector<std::filesystem::path>& paths, const PlotOptions& options);

// Draws to FILE.svg or FILE.png, or writes gnuplot's script to FILE.gp; whole or not at all. SpecError for other
// endings, StoreError if the file can not be written.
void write_plot(const Plot& plot, const std::filesystem::path& output);

// Checks what can be known before runs are read: SpecError for another ending.
void check_plot_output(const std::filesystem::path& output);

}  // namespace jari
