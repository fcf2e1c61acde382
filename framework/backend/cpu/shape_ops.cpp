// Kernels that move elements without changing them.

#include <cstring>

#include "framework/backend/cpu/cpu_kernel.hpp"
#include "framework/backend/cpu/strided_loop.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using cpu::for_blocks;
using cpu::for_row_blocks;
using cpu::kBlock;
using cpu::make_kernel;
using cpu::StridedLoop;

// Copies the elements from `offset` on that `loop` visits into a dense result.
template <class T>
std::unique_ptr<Kernel> strided_copy(StridedLoop<1> loop, std::int64_t offset) {
  return make_kernel([loop = std::move(loop), offset](const KernelArguments& arguments) {
    const T* const x = arguments.input<T>(0) + offset;
    T* const out = arguments.output<T>(0);
    const std::int64_t stride = loop.inner_stride(0);
    for_blocks(*arguments.workers, loop.size(), kBlock, [&](std::int64_t begin, std::int64_t end) {
      loop.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
        const T* const from = x + offsets[0];
        if (stride == 1) {
          std::memcpy(out + position, from, static_cast<std::size_t>(count) * sizeof(T));
        } else if (stride == 0) {
          std::fill_n(out + position, count, *from);
        } else {
          for (std::int64_t i = 0; i < count; ++i) out[position + i] = from[i * stride];
        }
      });
    });
  });
}

// An axis as a stretch: the array is [outer][axis][inner].
struct AxisView {
  AxisView(const Shape& shape, int axis)
      : outer(shape.first(axis).size()), size(shape[axis]), inner(shape.last(shape.rank() - 1 - axis).size()) {}
  std::int64_t outer, size, inner;
};

// The last two axes of [outer][rows][columns] change places, in tiles that fit the first-level cache.
template <class T>
std::unique_ptr<Kernel> transpose_kernel(std::int64_t outer, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t bands = cpu::blocks_of(columns, kTile);  // a band: kTile columns of x, kTile rows of the result
  return make_kernel([=](const KernelArguments& arguments) {
    for_row_blocks(*arguments.workers, outer * bands, rows * kTile, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t band = begin; band < end; ++band) {
        const std::int64_t plane = band / bands * rows * columns, left = band % bands * kTile;
        const std::int64_t width = std::min(kTile, columns - left);
        const T* const x = arguments.input<T>(0) + plane + left;
        T* const out = arguments.output<T>(0) + plane + left * rows;
        for (std::int64_t top = 0; top < rows; top += kTile) {
          const std::int64_t height = std::min(kTile, rows - top);
          for (std::int64_t j = 0; j < width; ++j) {
            for (std::int64_t i = top; i < top + height; ++i) out[j * rows + i] = x[i * columns + j];
          }
        }
      }
    });
  });
}

// Whether the order leaves the first axes alone and makes [rows][columns] of the others into [columns][rows]; the axes
// from `split` on are then the columns.
bool is_transpose(const std::vector<int>& order, std::size_t& first, std::size_t& split) {
  for (first = 0; first < order.size() && order[first] == static_cast<int>(first);) ++first;
  if (first == order.size()) return false;
  split = static_cast<std::size_t>(order[first]);
  const std::size_t columns = order.size() - split;
  for (std::size_t i = first; i < order.size(); ++i) {
    const std::size_t expected = i < first + columns ? split + (i - first) : i - columns;
    if (static_cast<std::size_t>(order[i]) != expected) return false;
  }
  return true;
}

template <class T>
std::unique_ptr<Kernel> permute_kernel(const Shape& x, const Shape& result, const std::vector<int>& order) {
  std::size_t first = 0, split = 0;
  if (is_transpose(order, first, split)) {
    const int f = static_cast<int>(first), s = static_cast<int>(split);
    const std::int64_t outer = x.first(f).size(), columns = x.last(x.rank() - s).size();
    return transpose_kernel<T>(outer, x.first(s).size() / std::max<std::int64_t>(1, outer), columns);
  }
  const std::vector<std::int64_t> dense = cpu::dense_strides(x);
  std::vector<std::int64_t> strides;
  for (const int axis : order) strides.push_back(dense[static_cast<std::size_t>(axis)]);
  return strided_copy<T>(StridedLoop<1>(result, {strides}), 0);
}

template <class T>
std::unique_ptr<Kernel> pad_kernel(AxisView x, std::int64_t before, std::int64_t after) {
  const std::int64_t row = x.size * x.inner, head = before * x.inner, tail = after * x.inner;
  return make_kernel([=](const KernelArguments& arguments) {
    for_row_blocks(*arguments.workers, x.outer, row + head + tail, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T* const out = arguments.output<T>(0) + i * (head + row + tail);
        std::fill_n(out, head, T(0));
        std::copy_n(arguments.input<T>(0) + i * row, row, out + head);
        std::fill_n(out + head + row, tail, T(0));
      }
    });
  });
}

template <class T>
std::unique_ptr<Kernel> concat_kernel(std::int64_t outer, const std::vector<std::int64_t>& part_rows) {
  std::int64_t row = 0;
  for (const std::int64_t part : part_rows) row += part;
  return make_kernel([=](const KernelArguments& arguments) {
    for_row_blocks(*arguments.workers, outer, row, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        T* out = arguments.output<T>(0) + i * row;
        for (std::size_t part = 0; part < part_rows.size(); ++part)
          out = std::copy_n(arguments.input<T>(static_cast<int>(part)) + i * part_rows[part], part_rows[part], out);
      }
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> make_cpu_reshape(const KernelRequest& request) {
  const std::size_t bytes = request.outputs[0].bytes();
  return make_kernel([bytes](const KernelArguments& arguments) {
    if (arguments.outputs[0] != arguments.inputs[0]) std::memcpy(arguments.outputs[0], arguments.inputs[0], bytes);
  });
}

std::unique_ptr<Kernel> make_cpu_permute(const KernelRequest& request) {
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return permute_kernel<T>(request.inputs[0].shape, request.outputs[0].shape,
                             request.attributes.as<PermuteAttributes>().order);
  });
}

std::unique_ptr<Kernel> make_cpu_slice(const KernelRequest& request) {
  const auto& a = request.attributes.as<SliceAttributes>();
  std::vector<std::int64_t> strides = cpu::dense_strides(request.inputs[0].shape);
  const std::int64_t offset = a.begin * strides[static_cast<std::size_t>(a.axis)];
  strides[static_cast<std::size_t>(a.axis)] *= a.stride;
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return strided_copy<T>(StridedLoop<1>(request.outputs[0].shape, {strides}), offset);
  });
}

std::unique_ptr<Kernel> make_cpu_pad(const KernelRequest& request) {
  const auto& a = request.attributes.as<PadAttributes>();
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return pad_kernel<T>(AxisView(request.inputs[0].shape, a.axis), a.before, a.after);
  });
}

std::unique_ptr<Kernel> make_cpu_concat(const KernelRequest& request) {
  const int axis = request.attributes.as<ConcatAttributes>().axis;
  std::vector<std::int64_t> part_rows;
  for (const TensorType& part : request.inputs) {
    const AxisView view(part.shape, axis);
    part_rows.push_back(view.size * view.inner);
  }
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return concat_kernel<T>(AxisView(request.outputs[0].shape, axis).outer, part_rows);
  });
}

std::unique_ptr<Kernel> make_cpu_broadcast_to(const KernelRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  return cpu::for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return strided_copy<T>(StridedLoop<1>(shape, {cpu::broadcast_strides(request.inputs[0].shape, shape)}), 0);
  });
}

std::unique_ptr<Kernel> make_cpu_iota(const KernelRequest& request) {
  const std::int64_t count = request.attributes.as<IotaAttributes>().count;
  return make_kernel([count](const KernelArguments& arguments) {
    std::int32_t* const out = arguments.output<std::int32_t>(0);
    for (std::int64_t i = 0; i < count; ++i) out[i] = static_cast<std::int32_t>(i);
  });
}

}  // namespace jari
