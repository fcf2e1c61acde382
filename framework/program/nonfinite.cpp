#include "framework/program/nonfinite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jari {
namespace {

struct Scan {
  std::int64_t bad = 0;  // elements that are not finite
  std::int64_t first = -1;
  bool nan = false, infinity = false;
  double largest = 0;  // magnitude among the finite ones
};

template <class Real>
Scan scan_of(const Real* data, std::int64_t size) {
  Scan scan;
  for (std::int64_t i = 0; i < size; ++i) {
    const double value = static_cast<double>(data[i]);
    if (std::isfinite(value)) {
      scan.largest = std::max(scan.largest, std::abs(value));
      continue;
    }
    ++scan.bad;
    if (scan.first < 0) scan.first = i;
    (std::isnan(value) ? scan.nan : scan.infinity) = true;
  }
  return scan;
}

Scan scan_of(const TensorView& view) {
  const std::int64_t size = view.type->shape.size();
  if (view.type->dtype == DType::f32) return scan_of(static_cast<const float*>(view.data), size);
  if (view.type->dtype == DType::f64) return scan_of(static_cast<const double*>(view.data), size);
  return {};
}

std::string place_of(std::int64_t element, const Shape& shape) {
  std::vector<std::int64_t> place(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank(); axis-- > 0;) {
    place[static_cast<std::size_t>(axis)] = element % shape[axis];
    element /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(place, ", "));
}

std::string describe(const TensorView& view, const Scan& scan) {
  const char* kind = scan.nan && scan.infinity ? "nan or infinite" : scan.nan ? "nan" : "infinite";
  if (view.type->shape.size() == 1) return fmt::format("{} is {}", view.type->to_string(), kind);
  return fmt::format("{} of {} elements of {} {} {}, the first at {}", scan.bad, view.type->shape.size(),
                     view.type->to_string(), scan.bad == 1 ? "is" : "are", kind,
                     place_of(scan.first, view.type->shape));
}

}  // namespace

std::string NonFinite::to_string() const {
  const std::string where = op.empty() ? path : fmt::format("{} at {}", op, path);
  return fmt::format("{}{}: {}", where, span ? fmt::format(" ({})", span.location()) : "", text);
}

NonFiniteSearch::Progress& NonFiniteSearch::progress(int trial) {
  const std::lock_guard lock(mutex_);
  return trials_[trial];
}

void NonFiniteSearch::before(int trial, std::int64_t step, const NodeView& node) {
  Progress& own = progress(trial);
  if (own.found) return;
  own.nan_in = own.infinity_in = false;
  own.largest_in = 0;
  for (const TensorView& input : node.inputs) {
    const Scan scan = scan_of(input);
    own.nan_in = own.nan_in || scan.nan;
    own.infinity_in = own.infinity_in || scan.infinity;
    own.largest_in = std::max(own.largest_in, scan.largest);
    if (scan.bad == 0 || *input.leaf == '\0') continue;
    own.found = NonFinite{step, input.leaf, "", {}, describe(input, scan) + ", before this step used it"};
    return;
  }
}

void NonFiniteSearch::after(int trial, std::int64_t step, const NodeView& node) {
  Progress& own = progress(trial);
  if (own.found) return;
  for (const TensorView& output : node.outputs) {
    const Scan scan = scan_of(output);
    const bool new_nan = scan.nan && !own.nan_in;
    const bool new_infinity = scan.infinity && !own.nan_in && !own.infinity_in;
    if (!new_nan && !new_infinity) continue;
    const std::string operands = own.infinity_in
                                     ? "its operands hold infinities"
                                     : fmt::format("its operands are finite, the largest {:.6g}", own.largest_in);
    own.found = NonFinite{step, node.path, node.op, node.span, describe(output, scan) + "; " + operands};
    return;
  }
}

std::optional<NonFinite> NonFiniteSearch::found(int trial) const {
  const std::lock_guard lock(mutex_);
  const auto entry = trials_.find(trial);
  return entry == trials_.end() ? std::nullopt : entry->second.found;
}

}  // namespace jari
