#include "framework/base/diagnostic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>

#include "framework/base/error.hpp"
#include "framework/base/text.hpp"

namespace jari {
namespace {

auto place_of(const Diagnostic& diagnostic) {
  const SourceSpan& span = diagnostic.span;
  const std::string_view file = span.file ? std::string_view(span.file->name) : std::string_view();
  return std::tuple(span.file == nullptr, file, span.line, span.column, std::string_view(diagnostic.path),
                    std::string_view(diagnostic.message), std::string_view(span.origin));
}

// One line of source cut so that the marked stretch is in sight, and where that stretch lies on the terminal.
struct MarkedLine {
  std::string text;
  int before = 0, marked = 0;  // columns
};

constexpr int kWidestLine = 150;

MarkedLine marked_line(std::string_view line, int column, int length) {
  std::vector<char32_t> points;
  std::vector<std::string_view> bytes;
  for (std::size_t offset = 0; offset < line.size();) {
    const std::size_t start = offset;
    points.push_back(next_code_point(line, offset));
    bytes.push_back(line.substr(start, offset - start));
  }
  const int count = static_cast<int>(points.size());
  const int first = column > kWidestLine / 2 && count > kWidestLine ? column - kWidestLine / 2 : 0;
  const int last = std::min(count, first + kWidestLine);
  MarkedLine result;
  if (first > 0) {
    result.text = "...";
    result.before = 3;
  }
  for (int i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool is_control = points[at] < 0x20 || (points[at] >= 0x7F && points[at] < 0xA0);  // tabs, escape sequences
    result.text += is_control ? " " : printable(bytes[at]);
    const int width = is_control ? 1 : display_width(points[at]);
    if (i < column - 1) result.before += width;
    if (i >= column - 1 && i < column - 1 + length) result.marked += width;
  }
  if (last < count) result.text += "...";
  result.marked = std::max(result.marked, 1);
  return result;
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  const SourceSpan& span = diagnostic.span;
  const std::string message = printable(
      diagnostic.path.empty() ? diagnostic.message : fmt::format("{}: {}", diagnostic.path, diagnostic.message));
  const std::string hint = printable(diagnostic.hint);
  std::string text;
  const bool has_line = span && span.line >= 1 && static_cast<std::size_t>(span.line) <= span.file->lines.size();
  if (has_line) {
    const MarkedLine line =
        marked_line(span.file->lines[static_cast<std::size_t>(span.line - 1)], span.column, span.length);
    text = fmt::format("{}: error: {}\n{:>5} | {}\n      | {:{}}{:^>{}}", printable(span.location()), message,
                       span.line, line.text, "", line.before, "", line.marked);
    text += hint.empty() ? "\n" : fmt::format(" {}\n", hint);
  } else {
    text = span ? fmt::format("{}: error: {}\n", printable(span.file->name), message)
                : fmt::format("error: {}\n", message);
    if (!hint.empty()) text += fmt::format("      = {}\n", hint);
  }
  if (!span.origin.empty()) text += fmt::format("      = {}\n", printable(span.origin));
  const std::size_t affected = diagnostic.trials.size();
  if (affected > 0 && affected < diagnostic.total) {
    text += fmt::format("      = affects {} of {} trials{}{}\n", affected, diagnostic.total,
                        diagnostic.which.empty() ? "" : ": ", printable(diagnostic.which));
    if (!diagnostic.remedy.empty()) text += fmt::format("      = {}\n", printable(diagnostic.remedy));
  }
  return text;
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  const SourceSpan& span = diagnostic.span;
  const auto key = fmt::format("{}:{} {}: {}", span.location(), span.origin, diagnostic.path, diagnostic.message);
  const auto [known, is_new] = index_.try_emplace(key, all_.size());
  if (is_new) all_.push_back(std::move(diagnostic));
  return all_[known->second];
}

void Diagnostics::error(SourceSpan span, std::string path, std::string message, std::string hint) {
  add({std::move(span), std::move(path), std::move(message), std::move(hint)});
}

void Diagnostics::add_trial(const Diagnostics& of_trial, std::size_t index, std::size_t total) {
  for (const Diagnostic& diagnostic : of_trial.all_) {
    Diagnostic& known = add(diagnostic);
    known.trials.push_back(index);
    known.total = total;
  }
}

std::vector<std::size_t> Diagnostics::shown() const {
  std::vector<std::size_t> sorted(all_.size());
  std::iota(sorted.begin(), sorted.end(), std::size_t{0});
  std::stable_sort(sorted.begin(), sorted.end(),
                   [this](std::size_t a, std::size_t b) { return place_of(all_[a]) < place_of(all_[b]); });
  sorted.resize(std::min(sorted.size(), kMostShown));
  return sorted;
}

void Diagnostics::name_trials(const std::function<void(Diagnostic&)>& name) {
  for (const std::size_t index : shown()) {
    Diagnostic& diagnostic = all_[index];
    if (!diagnostic.trials.empty() && diagnostic.trials.size() < diagnostic.total) name(diagnostic);
  }
}

std::string Diagnostics::render() const {
  std::string text;
  for (const std::size_t index : shown()) text += jari::render(all_[index]);
  if (all_.size() > kMostShown) text += fmt::format("... and {} more\n", all_.size() - kMostShown);
  text += fmt::format("{} {}; nothing was started.\n", all_.size(), all_.size() == 1 ? "error" : "errors");
  return text;
}

void Diagnostics::throw_if_any() const {
  if (!all_.empty()) throw SpecError(render());
}

}  // namespace jari
