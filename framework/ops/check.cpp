#include "framework/ops/check.hpp"

#include "framework/base/error.hpp"
#include "framework/graph/graph.hpp"

namespace jari {

void require_same_dtype(const char* op, const TensorType& left, const TensorType& right) {
  if (left.dtype != right.dtype)
    throw ShapeError(fmt::format("{}: element types differ: left {}, right {}: cast one of them", op, left.to_string(),
                                 right.to_string()));
}

void require_real(const char* op, const TensorType& type) {
  if (!is_real(type.dtype)) throw ShapeError(fmt::format("{}: takes f32 or f64, not {}", op, type.to_string()));
}

void require_dtype(const char* op, const char* operand, const TensorType& type, DType dtype) {
  if (type.dtype != dtype)
    throw ShapeError(fmt::format("{}: {} must be {}, not {}", op, operand, name_of(dtype), type.to_string()));
}

Shape require_broadcast(const char* op, const TensorType& left, const TensorType& right) {
  Shape result;
  if (!broadcast(left.shape, right.shape, result))
    throw ShapeError(fmt::format("{}: shapes do not broadcast: left {}, right {}", op, left.shape.to_string(),
                                 right.shape.to_string()));
  return result;
}

int require_axis(const char* op, int axis, Value x) {
  const int rank = x.shape().rank();
  if (axis < -rank || axis >= rank)
    x.graph().fail(fmt::format("{}: axis {} of {}, which has {} axes", op, axis, x.shape().to_string(), rank));
  return axis < 0 ? axis + rank : axis;
}

void require_type(const char* op, const char* operand, const TensorType& found, const TensorType& wanted) {
  if (found != wanted)
    throw ShapeError(fmt::format("{}: {} must be {}, not {}", op, operand, wanted.to_string(), found.to_string()));
}

void require_rank(const char* op, const char* operand, const TensorType& found, int rank) {
  if (found.shape.rank() < rank)
    throw ShapeError(fmt::format("{}: {} must have at least {} {}, not the shape {}", op, operand, rank,
                                 rank == 1 ? "axis" : "axes", found.shape.to_string()));
}

void require_inputs(const char* op, std::size_t found, std::size_t fewest, std::size_t most) {
  if (found < fewest || found > most)
    throw ShapeError(fmt::format("{}: takes {} inputs, not {}", op,
                                 fewest == most ? fmt::to_string(fewest) : fmt::format("{} to {}", fewest, most),
                                 found));
}

}  // namespace jari
