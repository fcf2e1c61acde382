#include "framework/graph/tensors.hpp"

namespace jari {

double Tensors::scalar(const std::string& name) const {
  const void* source = data(name);
  switch (type(name).dtype) {
    case DType::f32:
      return static_cast<double>(*static_cast<const float*>(source));
    case DType::f64:
      return *static_cast<const double*>(source);
    case DType::i32:
      return *static_cast<const std::int32_t*>(source);
    case DType::boolean:
      return *static_cast<const std::uint8_t*>(source);
  }
  return 0;
}

}  // namespace jari
