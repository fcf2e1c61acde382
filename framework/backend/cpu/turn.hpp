#pragma once
// A matrix with its rows as columns, for products that want it so.

#include <algorithm>
#include <cstdint>

#include "framework/backend/cpu/cpu_kernel.hpp"

namespace jari::cpu {

// matrix: [rows, columns] -> turned: [columns, turned_row], zeros behind the first `rows` of each row.
template <class T>
void turn(const Workers& workers, const T* matrix, std::int64_t rows, std::int64_t columns, T* turned,
          std::int64_t turned_row) {
  for_blocks(workers, turned_row, 64, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t last = std::clamp(rows, begin, end);
    for (std::int64_t j = 0; j < columns; ++j) {
      T* const row = turned + j * turned_row;
      for (std::int64_t i = begin; i < last; ++i) row[i] = matrix[i * columns + j];
      std::fill(row + last, row + end, T{0});
    }
  });
}

}  // namespace jari::cpu
