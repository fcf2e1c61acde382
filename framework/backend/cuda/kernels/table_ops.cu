// Rows of tables by ids, and back. An id below 0 stands for none; one that is too large is moved into range: that keeps
// memory safe, and what feeds the ids is where such a mistake is told.

#include "framework/backend/cuda/group_sums.hpp"
#include "framework/backend/cuda/totals.hpp"
#include "framework/ops/attributes.hpp"

namespace jari {

namespace {

using namespace cuda;

// One thread an element of the result.
template <class T>
struct Gather {
  Operand<const T> table;
  Operand<const std::int32_t> ids;
  Operand<T> out;
  std::int64_t rows, width;
  __device__ void operator()(std::int64_t i) const {
    const Split at = split(i, width);
    std::int64_t id = ids.of_trial()[at.quotient];
    if (id >= rows) id = rows - 1;
    out.of_trial()[i] = id < 0 ? T(0) : table.of_trial()[id * width + at.remainder];
  }
};

template <class T>
struct Updates {
  Operand<const T> updates;
  std::int64_t width;
  __device__ GroupTerm<T> operator()(std::int32_t entry) const { return {updates.of_trial() + entry * width, T(1)}; }
};

template <class T>
struct Zero {
  Operand<T> out;
  __device__ void operator()(std::int64_t i) const { out.of_trial()[i] = 0; }
};

bool are_shared(const Operand<const std::int32_t>& ids) { return ids.stride == 0; }

}  // namespace

std::unique_ptr<DeviceKernel> make_cuda_gather(const KernelRequest& request) {
  const Shape& table = request.inputs[0].shape;
  const std::int64_t rows = table[0], width = table.last(table.rank() - 1).size();
  const std::int64_t count = request.outputs[0].shape.size();
  return for_any(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel([=](const Call& call) {
      launch_elements(call, count,
                      Gather<T>{call.input<T>(0), call.input<std::int32_t>(1), call.output<T>(0), rows, width});
    });
  });
}

std::unique_ptr<DeviceKernel> make_cuda_scatter_add(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t size = result.size(), width = result.last(result.rank() - 1).size();
  const RowGrouping grouping(result[0], request.inputs[1].shape.size());
  return for_number(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const Call& call) {
          const IdList ids{call.input<std::int32_t>(1)};
          const RowGroups groups = grouping.group(call, ids, are_shared(ids.ids), 0, grouping.bytes());
          launch_elements(call, size, Zero<T>{call.output<T>(0)});
          const GroupSums<T> sums{call.output<T>(0), width, grouping.most(), /*by_id=*/true, {}, {}};
          launch_group_sums(call, groups, Updates<T>{call.input<T>(0), width}, sums);
        },
        grouping.bytes());
  });
}

std::unique_ptr<DeviceKernel> make_cuda_combine_rows(const KernelRequest& request) {
  const Shape& result = request.outputs[0].shape;
  const std::int64_t width = result.last(result.rank() - 1).size();
  const RowGrouping grouping(request.attributes.as<ScatterAddAttributes>().rows, request.inputs[1].shape.size());
  const std::size_t bytes = grouping.bytes() + aligned(static_cast<std::size_t>(grouping.most()) * sizeof(double));
  return for_real(request, request.outputs[0].dtype, [&]<class T>() {
    return make_kernel(
        [=](const Call& call) {
          const IdList ids{call.input<std::int32_t>(1)};
          const RowGroups groups = grouping.group(call, ids, are_shared(ids.ids), 0, bytes);
          const GroupSums<T> sums{call.output<T>(0),
                                  width,
                                  grouping.most(),
                                  /*by_id=*/false,
                                  call.output<std::int32_t>(1),
                                  call.workspace<double>(grouping.bytes(), bytes)};
          launch_group_sums(call, groups, Updates<T>{call.input<T>(0), width}, sums);
          launch_total(call, sums.squares, grouping.most(), call.output<T>(2));
        },
        bytes);
  });
}

}  // namespace jari
