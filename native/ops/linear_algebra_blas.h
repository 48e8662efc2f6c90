// native/ops/linear_algebra_blas.h: 7.2.17.1, 7.2.17.2, 7.2.17.12: the matrix products of SciPy's BLAS.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/linear_algebra_products.h"

namespace suanzi {

struct Blas {
  // gemm for f32, f64, c64, c128; null where there is none.
  void* gemm[4] = {};
  bool available = false;

  // c = a b on the calling thread. Each matrix is dense along its rows or along its columns, and all
  // that is counted fits an int.
  void multiply(Sum sum, const Matrix& a, const Matrix& b, std::byte* c, std::int64_t c_row, std::int64_t m,
                std::int64_t n, std::int64_t k) const noexcept;
};

const Blas& blas() noexcept;

// These are called with the GIL. Loads SciPy's BLAS, the first time; false if there is none.
bool prepare_blas();
// While products run, BLAS must not use threads of its own: they would be too many, and would have a
// say in the order of summation.
// False where there is no memory for it: then nothing has begun. Without `keeps_single`, BLAS is left as it is, for
// what it computes on one thread anyway: to set the number takes as long as a small product.
bool begin_blas(bool keeps_single = true);
void end_blas(bool keeps_single = true);

// OpenBLAS multiplies with threads from 2^18 multiplications on.
inline constexpr double single_work = 1 << 17;

}  // namespace suanzi
