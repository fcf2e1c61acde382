#pragma once
// Graphs of operations that cuDNN 9 fuses into kernels, through its backend interface. A graph is built from tensors,
// planned for a card, and the plan is run any number of times.

#include <cudnn.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jari::cuda {

// DeviceError with cuDNN's own words. `what`: what was being done, "plan a graph".
void check_cudnn(cudnnStatus_t status, const char* what);

// An object of the backend interface: attributes are set, then it is finalized, then others may refer to it.
class CudnnDescriptor {
 public:
  explicit CudnnDescriptor(cudnnBackendDescriptorType_t type);

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::int64_t count, const void* values);
  void set(cudnnBackendAttributeName_t name, std::int64_t value) { set(name, CUDNN_TYPE_INT64, 1, &value); }
  void set(cudnnBackendAttributeName_t name, bool value) { set(name, CUDNN_TYPE_BOOLEAN, 1, &value); }
  void set(cudnnBackendAttributeName_t name, cudnnDataType_t value) { set(name, CUDNN_TYPE_DATA_TYPE, 1, &value); }
  void set(cudnnBackendAttributeName_t name, cudnnHandle_t value) { set(name, CUDNN_TYPE_HANDLE, 1, &value); }
  void set(cudnnBackendAttributeName_t name, const CudnnDescriptor& value);
  void set(cudnnBackendAttributeName_t name, const std::vector<std::int64_t>& values);
  void finalize();
  cudnnBackendDescriptor_t get() const { return owned_.get(); }

 private:
  struct Destroy {
    void operator()(void* descriptor) const { cudnnBackendDestroyDescriptor(descriptor); }
  };
  std::unique_ptr<void, Destroy> owned_;
};

// What a graph is planned for: the card of a handle, or one that only its properties tell of (cuDNN's JSON for them),
// which need not be there. A plan for the latter can not be run.
class CudnnTarget {
 public:
  explicit CudnnTarget(cudnnHandle_t handle) : handle_(handle) {}
  explicit CudnnTarget(const std::string& properties);

  void set_graph(CudnnDescriptor& graph) const;
  void set_heuristics(CudnnDescriptor& heuristics) const;
  void set_plan(CudnnDescriptor& plan) const;

 private:
  cudnnHandle_t handle_ = nullptr;
  std::shared_ptr<CudnnDescriptor> properties_;
};

// Of a graph. `id` is that of CudnnBinding.
struct CudnnTensor {
  std::int64_t id = 0;
  std::vector<std::int64_t> sizes, strides;  // elements
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::shared_ptr<CudnnDescriptor> descriptor;
};

// Where a tensor lies at a run.
struct CudnnBinding {
  std::int64_t id;
  const void* data;
};

class CudnnPlan {
 public:
  std::size_t workspace_bytes() const { return workspace_bytes_; }
  // On the handle's stream. All tensors that are neither intermediate nor scalars must be bound.
  void run(cudnnHandle_t handle, const std::vector<CudnnBinding>& bindings, void* workspace) const;

 private:
  friend class CudnnGraph;
  struct Scalar {
    std::int64_t id;
    float value;
  };
  // In the order in which they refer to each other.
  std::vector<std::shared_ptr<CudnnDescriptor>> parts_;
  std::vector<Scalar> scalars_;
  std::size_t workspace_bytes_ = 0;
};

class CudnnGraph {
 public:
  // In memory that a run is given.
  CudnnTensor memory(cudnnDataType_t type, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides);
  // A constant of four axes.
  CudnnTensor scalar(float value);
  // A dense intermediate result. It has no memory.
  CudnnTensor intermediate(cudnnDataType_t type, std::vector<std::int64_t> sizes);

  // The last two axes are those of matrices.
  void product(const CudnnTensor& left, const CudnnTensor& right, const CudnnTensor& result);
  // Results without one given are intermediate ones of floats, as large as the first operand.
  void pointwise(cudnnPointwiseMode_t mode, const std::vector<CudnnTensor>& operands, const CudnnTensor& result);
  CudnnTensor pointwise(cudnnPointwiseMode_t mode, const std::vector<CudnnTensor>& operands);
  // condition ? a : b
  CudnnTensor select(const CudnnTensor& a, const CudnnTensor& b, const CudnnTensor& condition);
  // The place of each element of `like` along an axis.
  CudnnTensor index(const CudnnTensor& like, std::int64_t axis);
  // Along the axes that have size 1 in the result.
  void reduce(cudnnReduceTensorOp_t mode, const CudnnTensor& operand, const CudnnTensor& result);
  CudnnTensor reduce_last(cudnnReduceTensorOp_t mode, const CudnnTensor& operand);
  // The same elements, the last two axes exchanged.
  CudnnTensor turned(const CudnnTensor& operand, cudnnDataType_t type);

  // The first of the heuristics' engines that takes the graph and makes the same bits in every run. DeviceError, with
  // what cuDNN says, where none does.
  CudnnPlan plan(const CudnnTarget& target) const;

 private:
  CudnnTensor add(CudnnTensor tensor, bool is_virtual, bool is_value);
  CudnnDescriptor& add_operation(cudnnBackendDescriptorType_t type);
  void add_pointwise(cudnnPointwiseMode_t mode, cudnnDataType_t computed, const std::vector<CudnnTensor>& operands,
                     const CudnnTensor& result, std::int64_t axis = -1);

  std::int64_t tensors_ = 0;
  // Of tensors, settings and operations, and of the latter alone.
  std::vector<std::shared_ptr<CudnnDescriptor>> parts_, operations_;
  std::vector<CudnnPlan::Scalar> scalars_;
};

// Strides of a dense array.
std::vector<std::int64_t> cudnn_dense_strides(const std::vector<std::int64_t>& sizes);

}  // namespace jari::cuda
