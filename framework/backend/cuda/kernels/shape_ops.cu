// Kernels that move elements without changing them.

#include "framework/backend/cuda/indexing.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using namespace cuda;

template <class T>
struct StridedCopy {
  Operand<const T> x;
  Operand<T> out;
  StridedAxes<1> axes;
  std::int64_t begin;
  __device__ void operator()(std::int64_t i) const {
    std::int64_t at[1];
    strided_offsets(axes, i, at);
    out.of_trial()[i] = x.of_trial()[begin + at[0]];
  }
};

// Copies the elements from `begin` on that `axes` visits into a dense result.
template <class T>
std::unique_ptr<DeviceKernel> strided_copy(const Shape& result, const std::vector<std::int64_t>& strides,
                                           std::int64_t begin) {
  const StridedAxes<1> axes = strided_axes<1>(result, {strides});
  const std::int64_t size = result.size();
  return make_kernel([=](const Call& call) {
    launch_elements(call, size, StridedCopy<T>{call.input<T>(0), call.output<T>(0), axes, begin});
  });
}

// -- permutations that take the operand's last axis from its place

constexpr int kTile = 32, kTileThreads = 256;

// Where planes of two axes lie: `columns` go on by 1 in the result, `rows` by 1 in the operand.
struct Planes {
  std::int64_t columns, column_stride;  // stride in the operand
  std::int64_t rows, row_stride;        // stride in the result
  std::int64_t planes;
  StridedAxes<2> others;  // strides of the operand and of the result
  std::int64_t tiles_across, tiles_down;
};

// A block moves a tile of 32 x 32 elements of a plane through shared memory, so that both reads and writes are of
// neighbors.
template <class T>
__global__ void exchange_axes(Operand<const T> x, Operand<T> out, Planes planes) {
  JARI_SHARED(T, tile, kTile * (kTile + 1));
  const Split across = split(blockIdx.x, planes.tiles_across), down = split(across.quotient, planes.tiles_down);
  std::int64_t at[2];
  strided_offsets(planes.others, down.quotient, at);
  const std::int64_t left = across.remainder * kTile, top = down.remainder * kTile;
  const int lane = static_cast<int>(threadIdx.x) % kTile, first = static_cast<int>(threadIdx.x) / kTile;
  const T* const from = x.of_trial() + at[0];
  for (int i = first; i < kTile; i += kTileThreads / kTile) {
    if (left + i < planes.columns && top + lane < planes.rows)
      tile[lane * (kTile + 1) + i] = from[(left + i) * planes.column_stride + top + lane];
  }
  __syncthreads();
  T* const to = out.of_trial() + at[1];
  for (int i = first; i < kTile; i += kTileThreads / kTile) {
    if (top + i < planes.rows && left + lane < planes.columns)
      to[(top + i) * planes.row_stride + left + lane] = tile[i * (kTile + 1) + lane];
  }
}

// Whether there are planes that are worth tiles, and which.
bool find_planes(const StridedAxes<1>& axes, Planes& planes) {
  constexpr std::int64_t kSmallest = 8;  // below, tiles are mostly empty
  int contiguous = -1;                   // axis along which the operand goes on by 1
  std::int64_t result_stride = 1;
  for (int axis = 0; axis < axes.axes; ++axis) {
    if (axes.stride[0][axis] == 1) {
      contiguous = axis;
      planes.rows = axes.size[axis];
      planes.row_stride = result_stride;
    } else if (axis > 0) {
      const int next = planes.others.axes++;
      planes.others.size[next] = axes.size[axis];
      planes.others.stride[0][next] = axes.stride[0][axis];
      planes.others.stride[1][next] = result_stride;
      planes.planes *= axes.size[axis];
    }
    result_stride *= axes.size[axis];
  }
  if (contiguous < 1 || axes.size[0] < kSmallest || planes.rows < kSmallest) return false;
  planes.columns = axes.size[0];
  planes.column_stride = axes.stride[0][0];
  planes.tiles_across = blocks_of(planes.columns, kTile);
  planes.tiles_down = blocks_of(planes.rows, kTile);
  return true;
}

template <class T>
std::unique_ptr<DeviceKernel> permute_kernel(const Shape& x, const Shape& result, const std::vector<int>& order) {
  const std::vector<std::int64_t> dense = dense_strides(x);
  std::vector<std::int64_t> strides;
  for (const int axis : order) strides.push_back(dense[static_cast<std::size_t>(axis)]);
  Planes planes = {};
  planes.planes = 1;
  if (!find_planes(strided_axes<1>(result, {strides}), planes)) return strided_copy<T>(result, strides, 0);
  const std::int64_t blocks = result.size() == 0 ? 0 : planes.planes * planes.tiles_across * planes.tiles_down;
  return make_kernel([=](const Call& call) {
    call.launch(exchange_axes<T>, blocks, kTileThreads, 0, call.input<T>(0), call.output<T>(0), planes);
  });
}

// -- rows put together

// Rows of `width` elements, of which `size` from `before` on are a row of x, the others 0.
template <class T>
struct Pad {
  Operand<const T> x;
  Operand<T> out;
  std::int64_t width, before, size;
  __device__ void operator()(std::int64_t i) const {
    const Split at = split(i, width);
    const std::int64_t from = at.remainder - before;
    out.of_trial()[i] = from >= 0 && from < size ? x.of_trial()[at.quotient * size + from] : T(0);
  }
};

// Rows of which each part has a stretch; a launch does some of the parts.
constexpr int kParts = 8;
template <class T>
struct Concat {
  Operand<const T> parts[kParts];
  std::int64_t ends[kParts];  // of the parts' stretches, from `begin` on
  std::int64_t begin, taken, width;
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const {
    const Split at = split(i, taken);
    int part = 0;
    std::int64_t start = 0;
    for (; at.remainder >= ends[part]; ++part) start = ends[part];
    out.of_trial()[at.quotient * width + begin + at.remainder] =
        parts[part].of_trial()[at.quotient * (ends[part] - start) + at.remainder - start];
  }
};

template <class T>
void concat(const Call& call, std::int64_t outer, std::int64_t width, const std::vector<std::int64_t>& sizes) {
  std::int64_t begin = 0;
  for (std::size_t first = 0; first < sizes.size(); first += kParts) {
    Concat<T> some = {};
    some.begin = begin;
    some.width = width;
    some.out = call.output<T>(0);
    for (int k = 0; k < kParts && first + static_cast<std::size_t>(k) < sizes.size(); ++k) {
      const std::size_t part = first + static_cast<std::size_t>(k);
      some.parts[k] = call.input<T>(static_cast<int>(part));
      some.ends[k] = some.taken += sizes[part];
    }
    launch_elements(call, outer * some.taken, some);
    begin += some.taken;
  }
}

template <class T>
struct Copy {
  Operand<const T> x;
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = x.of_trial()[i]; }
};

struct Iota {
  Operand<std::int32_t> out;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = static_cast<std::int32_t>(i); }
};

// Elements in the axes behind `axis`.
std::int64_t inner_size(const Shape& shape, int axis) { return shape.last(shape.rank() - 1 - axis).size(); }

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_reshape(const KernelRequest& request) {
  const std::int64_t size = request.outputs[0].shape.size();
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      const Operand<const T> x = call.input<T>(0);
      const Operand<T> out = call.output<T>(0);
      if (x.data != out.data) launch_elements(call, size, Copy<T>{x, out});
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_permute(const KernelRequest& request) {
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return permute_kernel<T>(request.inputs[0].shape, request.outputs[0].shape,
                             request.attributes.as<PermuteAttributes>().order);
  });
}

std::unique_ptr<DeviceKernel> make_cuda_slice(const KernelRequest& request) {
  const auto& a = request.attributes.as<SliceAttributes>();
  std::vector<std::int64_t> strides = dense_strides(request.inputs[0].shape);
  const std::int64_t begin = a.begin * strides[static_cast<std::size_t>(a.axis)];
  strides[static_cast<std::size_t>(a.axis)] *= a.stride;
  return for_any(request, request.outputs[0].dtype,
                 [&]<class T>() { return strided_copy<T>(request.outputs[0].shape, strides, begin); });
}

std::unique_ptr<DeviceKernel> make_cuda_pad(const KernelRequest& request) {
  const auto& a = request.attributes.as<PadAttributes>();
  const Shape& x = request.inputs[0].shape;
  const std::int64_t inner = inner_size(x, a.axis), size = x[a.axis] * inner, before = a.before * inner;
  const std::int64_t width = size + before + a.after * inner, count = request.outputs[0].shape.size();
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      launch_elements(call, count, Pad<T>{call.input<T>(0), call.output<T>(0), width, before, size});
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_concat(const KernelRequest& request) {
  const int axis = request.attributes.as<ConcatAttributes>().axis;
  std::vector<std::int64_t> sizes;
  std::int64_t width = 0;
  for (const TensorType& part : request.inputs) {
    sizes.push_back(part.shape[axis] * inner_size(part.shape, axis));
    width += sizes.back();
  }
  const std::int64_t outer = request.outputs[0].shape.first(axis).size();
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) { concat<T>(call, outer, width, sizes); });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_broadcast_to(const KernelRequest& request) {
  const Shape& shape = request.outputs[0].shape;
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return strided_copy<T>(shape, broadcast_strides(request.inputs[0].shape, shape), 0);
  });
}

std::unique_ptr<DeviceKernel> make_cuda_iota(const KernelRequest& request) {
  const std::int64_t count = request.attributes.as<IotaAttributes>().count;
  return make_kernel([=](const Call& call) { launch_elements(call, count, Iota{call.output<std::int32_t>(0)}); });
}

}  // namespace jari
