#pragma once
// Goes over a dense result in its own order, together with operands that lie with other strides: broadcast (stride 0),
// permuted, or with gaps. Axes that all operands pass through alike are merged at plan time, so that what is left is a
// few long innermost stretches.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "framework/backend/layout.hpp"
#include "framework/base/error.hpp"

namespace jari::cpu {

using jari::broadcast_strides;
using jari::dense_strides;

template <int N>
class StridedLoop {
 public:
  using Offsets = std::array<std::int64_t, N>;

  // `strides` by operand and axis, in elements.
  StridedLoop(const Shape& shape, const std::array<std::vector<std::int64_t>, N>& strides) : size_(shape.size()) {
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] == 1) continue;
      Axis next{shape[axis], {}};
      bool merges = !axes_.empty();
      for (std::size_t k = 0; k < N; ++k) {
        next.strides[k] = strides[k][static_cast<std::size_t>(axis)];
        merges = merges && next.strides[k] == axes_.back().strides[k] * axes_.back().size;
      }
      if (merges) {
        axes_.back().size *= next.size;
      } else {
        axes_.push_back(next);
      }
    }
    if (axes_.empty()) axes_.push_back({1, {}});
    if (axes_.size() > kMaxRank) throw DeviceError("the CPU kernels take up to 16 axes");
  }

  std::int64_t size() const { return size_; }
  std::int64_t inner_stride(int operand) const { return axes_[0].strides[static_cast<std::size_t>(operand)]; }

  // `stretch(position, offsets, count)` for the elements [begin, end) of the result, a stretch of the innermost axis at
  // a time.
  template <class Stretch>
  void run(std::int64_t begin, std::int64_t end, const Stretch& stretch) const {
    const Axis& inner = axes_[0];
    std::array<std::int64_t, kMaxRank> at{};
    Offsets offsets{};
    std::int64_t rest = begin;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      at[axis] = rest % axes_[axis].size;
      rest /= axes_[axis].size;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += at[axis] * axes_[axis].strides[k];
    }
    for (std::int64_t position = begin; position < end;) {
      const std::int64_t count = std::min(inner.size - at[0], end - position);
      stretch(position, offsets, count);
      position += count;
      for (std::size_t k = 0; k < N; ++k) offsets[k] -= at[0] * inner.strides[k];
      at[0] = 0;
      for (std::size_t axis = 1; axis < axes_.size(); ++axis) {
        const Axis& outer = axes_[axis];
        for (std::size_t k = 0; k < N; ++k) offsets[k] += outer.strides[k];
        if (++at[axis] < outer.size) break;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= outer.strides[k] * outer.size;
        at[axis] = 0;
      }
    }
  }

 private:
  static constexpr std::size_t kMaxRank = 16;
  struct Axis {
    std::int64_t size;
    Offsets strides;
  };
  std::vector<Axis> axes_;  // innermost first
  std::int64_t size_;
};

}  // namespace jari::cpu
