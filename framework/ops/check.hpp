#pragma once
// Checks that shape rules share.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "framework/graph/op.hpp"

namespace jari {

using Types = std::vector<TensorType>;
using Values = std::vector<Value>;

// "add: element types differ: left f32[2, 3], right f64[2, 3]"
void require_same_dtype(const char* op, const TensorType& left, const TensorType& right);
// "exp: takes f32 or f64, not i32[2, 3]"
void require_real(const char* op, const TensorType& type);
// "gather: ids must be i32, not f32[2, 3]"
void require_dtype(const char* op, const char* operand, const TensorType& type, DType dtype);
// The broadcast shape of two operands: "add: shapes do not broadcast: left [2, 3], right [4]"
Shape require_broadcast(const char* op, const TensorType& left, const TensorType& right);
// An axis counted from the front: "slice: axis 3 of [2, 3], which has 2 axes"
int require_axis(const char* op, int axis, Value x);
// "dropout: rate must be f32[], not f32[3]"
void require_type(const char* op, const char* operand, const TensorType& found, const TensorType& wanted);
// "softmax: x must have at least 1 axis, not the shape []"
void require_rank(const char* op, const char* operand, const TensorType& found, int rank);
// "attention: takes 3 to 4 inputs, not 2"
void require_inputs(const char* op, std::size_t found, std::size_t fewest, std::size_t most);

}  // namespace jari
