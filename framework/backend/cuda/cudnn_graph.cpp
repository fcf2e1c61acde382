#include "framework/backend/cuda/cudnn_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "framework/base/error.hpp"

static_assert(CUDNN_VERSION >= 90800, "cuDNN 9.8 or later: before, plans could not be made for a card's properties");

namespace jari::cuda {

namespace {

constexpr std::int64_t kAlignment = 16;  // bytes; of all operands
constexpr std::size_t kMostMessage = 1024;

std::string last_message() {
  std::string message(kMostMessage, '\0');
  cudnnGetLastErrorString(message.data(), message.size());
  message.resize(message.find('\0') == std::string::npos ? message.size() : message.find('\0'));
  return message;
}

std::string describe(cudnnStatus_t status) {
  const std::string message = last_message();
  return fmt::format("{}{}{}", cudnnGetErrorString(status), message.empty() ? "" : ": ", message);
}

}  // namespace

void check_cudnn(cudnnStatus_t status, const char* what) {
  if (status != CUDNN_STATUS_SUCCESS) throw DeviceError(fmt::format("cuDNN could not {}: {}", what, describe(status)));
}

std::vector<std::int64_t> cudnn_dense_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  return strides;
}

CudnnDescriptor::CudnnDescriptor(cudnnBackendDescriptorType_t type) {
  cudnnBackendDescriptor_t made = nullptr;
  check_cudnn(cudnnBackendCreateDescriptor(type, &made), "make a descriptor");
  owned_.reset(made);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count,
                          const void* values) {
  check_cudnn(cudnnBackendSetAttribute(get(), name, type, count, values), "describe a graph");
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value) {
  cudnnBackendDescriptor_t other = value.get();
  set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other);
}

void CudnnDescriptor::set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values) {
  set(name, CUDNN_TYPE_INT64, static_cast<std::int64_t>(values.size()), values.data());
}

void CudnnDescriptor::finalize() { check_cudnn(cudnnBackendFinalize(get()), "describe a graph"); }

CudnnTarget::CudnnTarget(const std::string& properties)
    : properties_(std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)) {
  properties_->set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                   static_cast<std::int64_t>(properties.size() + 1), properties.c_str());
  properties_->finalize();
}

void CudnnTarget::set_graph(CudnnDescriptor& graph) const {
  if (!properties_) graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, handle_);
}

void CudnnTarget::set_heuristics(CudnnDescriptor& heuristics) const {
  if (properties_) heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *properties_);
}

void CudnnTarget::set_plan(CudnnDescriptor& plan) const {
  if (properties_) {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *properties_);
  } else {
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, handle_);
  }
}

void CudnnPlan::run(cudnnHandle_t handle, const std::vector<CudnnBinding>& bindings, void* workspace) const {
  std::vector<std::int64_t> ids;
  std::vector<void*> data;
  for (const CudnnBinding& binding : bindings) {
    ids.push_back(binding.id);
    data.push_back(const_cast<void*>(binding.data));
  }
  for (const Scalar& scalar : scalars_) {
    ids.push_back(scalar.id);
    data.push_back(const_cast<float*>(&scalar.value));
  }
  CudnnDescriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, static_cast<std::int64_t>(data.size()),
           data.data());
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &workspace);
  pack.finalize();
  check_cudnn(cudnnBackendExecute(handle, parts_.back()->get(), pack.get()), "run a graph");
}

CudnnTensor CudnnGraph::add(CudnnTensor tensor, bool is_virtual, bool is_value) {
  tensor.id = ++tensors_;
  tensor.descriptor = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  CudnnDescriptor& descriptor = *tensor.descriptor;
  descriptor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, tensor.id);
  descriptor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, tensor.type);
  descriptor.set(CUDNN_ATTR_TENSOR_DIMENSIONS, tensor.sizes);
  descriptor.set(CUDNN_ATTR_TENSOR_STRIDES, tensor.strides);
  descriptor.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, kAlignment);
  descriptor.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual);
  descriptor.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, is_value);
  descriptor.finalize();
  parts_.push_back(tensor.descriptor);
  return tensor;
}

CudnnTensor CudnnGraph::memory(cudnnDataType_t type, std::vector<std::int64_t> sizes,
                               std::vector<std::int64_t> strides) {
  return add({0, std::move(sizes), std::move(strides), type, {}}, false, false);
}

CudnnTensor CudnnGraph::scalar(float value) {
  const CudnnTensor tensor = add({0, {1, 1, 1, 1}, {1, 1, 1, 1}, CUDNN_DATA_FLOAT, {}}, false, true);
  scalars_.push_back({tensor.id, value});
  return tensor;
}

CudnnTensor CudnnGraph::intermediate(cudnnDataType_t type, std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides = cudnn_dense_strides(sizes);
  return add({0, std::move(sizes), std::move(strides), type, {}}, true, false);
}

CudnnDescriptor& CudnnGraph::add_operation(cudnnBackendDescriptorType_t type) {
  parts_.push_back(std::make_shared<CudnnDescriptor>(type));
  operations_.push_back(parts_.back());
  return *parts_.back();
}

void CudnnGraph::product(const CudnnTensor& left, const CudnnTensor& right, const CudnnTensor& result) {
  const auto setting = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  setting->set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  setting->finalize();
  parts_.push_back(setting);
  CudnnDescriptor& operation = add_operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, *setting);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *left.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *right.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *result.descriptor);
  operation.finalize();
}

void CudnnGraph::add_pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t computed,
                               const std::vector<CudnnTensor>& operands, const CudnnTensor& result, std::int64_t axis) {
  const auto setting = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  setting->set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1, &mode);
  setting->set(CUDNN_ATTR_POINTWISE_MATH_PREC, computed);
  if (axis >= 0) setting->set(CUDNN_ATTR_POINTWISE_AXIS, axis);
  setting->finalize();
  parts_.push_back(setting);
  constexpr cudnnBackendAttributeName_t kOperands[] = {
      CUDNN_ATTR_OPERATION_POINTWISE_XDESC, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  CudnnDescriptor& operation = add_operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, *setting);
  for (std::size_t i = 0; i < operands.size(); ++i) operation.set(kOperands[i], *operands[i].descriptor);
  operation.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *result.descriptor);
  operation.finalize();
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, const std::vector<CudnnTensor>& operands,
                           const CudnnTensor& result) {
  const bool is_comparison = result.type == CUDNN_DATA_BOOLEAN;
  add_pointwise(mode, is_comparison ? CUDNN_DATA_BOOLEAN : CUDNN_DATA_FLOAT, operands, result);
}

CudnnTensor CudnnGraph::pointwise(cudnnPointwiseMode_t mode, const std::vector<CudnnTensor>& operands) {
  const CudnnTensor result = intermediate(CUDNN_DATA_FLOAT, operands[0].sizes);
  pointwise(mode, operands, result);
  return result;
}

CudnnTensor CudnnGraph::select(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& condition) {
  return pointwise(CUDNN_POINTWISE_BINARY_SELECT, {a, b, condition});
}

CudnnTensor CudnnGraph::index(const CudnnTensor& like, std::int64_t axis) {
  const CudnnTensor result = intermediate(CUDNN_DATA_INT32, like.sizes);
  add_pointwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT, {like}, result, axis);
  return result;
}

void CudnnGraph::reduce(cudnnReduceTensorOp_t mode, const CudnnTensor& operand, const CudnnTensor& result) {
  const auto setting = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  setting->set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &mode);
  setting->set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  setting->finalize();
  parts_.push_back(setting);
  CudnnDescriptor& operation = add_operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, *setting);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *operand.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *result.descriptor);
  operation.finalize();
}

CudnnTensor CudnnGraph::reduce_last(cudnnReduceTensorOp_t mode, const CudnnTensor& operand) {
  std::vector<std::int64_t> sizes = operand.sizes;
  sizes.back() = 1;
  const CudnnTensor result = intermediate(CUDNN_DATA_FLOAT, sizes);
  reduce(mode, operand, result);
  return result;
}

CudnnTensor CudnnGraph::turned(const CudnnTensor& operand, cudnnDataType_t type) {
  CudnnTensor exchanged = {0, operand.sizes, operand.strides, type, {}};
  const std::size_t last = exchanged.sizes.size() - 1;
  std::swap(exchanged.sizes[last], exchanged.sizes[last - 1]);
  std::swap(exchanged.strides[last], exchanged.strides[last - 1]);
  const CudnnTensor result = add(exchanged, true, false);
  CudnnDescriptor& operation = add_operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *operand.descriptor);
  operation.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *result.descriptor);
  operation.finalize();
  return result;
}

namespace {

std::shared_ptr<CudnnDescriptor> operation_graph(const std::vector<std::shared_ptr<CudnnDescriptor>>& operations,
                                                 const CudnnTarget& target) {
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const auto& operation : operations) raw.push_back(operation->get());
  const auto graph = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  graph->set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR, static_cast<std::int64_t>(raw.size()),
             raw.data());
  target.set_graph(*graph);
  graph->finalize();
  return graph;
}

// What the heuristics propose, best first. `heuristics` must outlive it.
std::vector<std::shared_ptr<CudnnDescriptor>> proposals(const CudnnDescriptor& heuristics) {
  std::int64_t count = 0;
  check_cudnn(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       0, &count, nullptr),
              "propose engines for a graph");
  std::vector<std::shared_ptr<CudnnDescriptor>> configurations;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (std::int64_t i = 0; i < count; ++i) {
    configurations.push_back(std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR));
    raw.push_back(configurations.back()->get());
  }
  check_cudnn(cudnnBackendGetAttribute(heuristics.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       count, &count, raw.data()),
              "propose engines for a graph");
  configurations.resize(static_cast<std::size_t>(count));
  return configurations;
}

bool repeats_its_bits(const CudnnDescriptor& configuration) {
  const CudnnDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.get();
  std::int64_t count = 0;
  check_cudnn(cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                       1, &count, &raw),
              "name an engine");
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes = {};
  check_cudnn(cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                                       CUDNN_NUMERICAL_NOTE_TYPE_COUNT, &count, notes.data()),
              "describe an engine");
  return std::find(notes.begin(), notes.begin() + count, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC) ==
         notes.begin() + count;
}

}  // namespace

CudnnPlan CudnnGraph::plan(const CudnnTarget& target) const {
  CudnnPlan plan;
  plan.parts_ = parts_;
  plan.scalars_ = scalars_;
  plan.parts_.push_back(operation_graph(operations_, target));
  const auto heuristics = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  const cudnnBackendHeurMode_t mode = CUDNN_HEUR_MODE_A;
  heuristics->set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, *plan.parts_.back());
  heuristics->set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode);
  target.set_heuristics(*heuristics);
  heuristics->finalize();
  plan.parts_.push_back(heuristics);
  std::string refusals;
  for (const auto& configuration : proposals(*heuristics)) {
    if (!repeats_its_bits(*configuration)) {
      refusals += "; an engine that makes other bits in each run";
      continue;
    }
    const auto candidate = std::make_shared<CudnnDescriptor>(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    candidate->set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, *configuration);
    target.set_plan(*candidate);
    if (const cudnnStatus_t status = cudnnBackendFinalize(candidate->get()); status != CUDNN_STATUS_SUCCESS) {
      refusals += "; " + describe(status);
      continue;
    }
    std::int64_t bytes = 0, count = 0;
    check_cudnn(cudnnBackendGetAttribute(candidate->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
                                         1, &count, &bytes),
                "tell what a plan needs");
    plan.workspace_bytes_ = static_cast<std::size_t>(bytes);
    plan.parts_.insert(plan.parts_.end(), {configuration, candidate});
    return plan;
  }
  throw DeviceError("cuDNN has no plan for a graph" + (refusals.empty() ? ": no engine takes it" : refusals));
}

}  // namespace jari::cuda
