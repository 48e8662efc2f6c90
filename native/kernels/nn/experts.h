// native/kernels/nn/experts.h: nn 11.3: the table of the loops of few rows times a matrix.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Rows of float32 that are dense and `x_row` apart, times a matrix of k rows that are dense and `matrix_row` apart.
// There is room for as many sums twice, in `sums`, which are made, and in `block`.
struct FewRows {
  const float* x;
  std::int64_t rows, x_row, k;
  const std::byte* matrix;
  std::int64_t matrix_row, columns;
  float *sums, *block;
};

struct ExpertKernels {
  // Of a matrix of float32, float16 and bfloat16; null where a level has none. The bits are those of the kernels for
  // matrices.
  void (*few_rows[3])(const FewRows& a);
};

// The table of the level in use.
const ExpertKernels& expert_kernels() noexcept;

}  // namespace suanzi
