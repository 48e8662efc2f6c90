// native/ops/linear_algebra/matmul_ways.h: 7.2.17.1, 7.2.17.2, 7.2.17.12: one product of batches of matrices.
#pragma once

#include <algorithm>
#include <climits>

#include "core/own_memory.h"
#include "core/tensor.h"
#include "kernels/linear_algebra/products_tiles.h"

namespace suanzi {

struct Provider;

// Whether elements of two dtypes are the same bits, as integers that wrap are.
inline bool same_bits(Dtype a, Dtype b) {
  return a == b || (facts(a).is_integer() && facts(b).is_integer() && facts(a).bits == facts(b).bits);
}

// The dtypes that operands are converted to and sums are in.
struct Way {
  Dtype operand, sum;
  Sum kernel;
  Multiply own = nullptr;  // of matrices, where there is a better one than that of `kernel`
};

// How a product of operands of two dtypes is computed in a third.
Way way_of(Dtype promoted, Dtype a, Dtype b, bool matrices);

// An operand; strides are in elements.
struct Side {
  const std::byte* data;
  Dtype dtype;
  std::int64_t row, column;
  std::int64_t batch[max_ndim];
};

struct Product {
  int batch_ndim = 0;
  std::int64_t batch[max_ndim];
  std::int64_t m, n, k;
  Side a, b;
  Way way;
  const std::byte* bias = nullptr;  // n elements in the dtype of sums, dense
  std::byte* out;
  Dtype result;
  const Provider* blas = nullptr;    // what multiplies, if not we
  MultiplyTiles by_tiles = nullptr;  // our own for large matrices of floats, in its place
  Multiply of_bf16 = nullptr;        // what multiplies operands of bfloat16 as they are, if their numbers allow it
  // The dims of the output.
  int ndim = 0;
  std::int64_t dims[max_ndim];

  std::int64_t count() const {
    std::int64_t found = 1;
    for (int d = 0; d < batch_ndim; ++d) found *= batch[d];
    return found;
  }
  double work() const {
    return static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(std::max<std::int64_t>(k, 1));
  }
  bool is_of_matrices() const { return m > 1 && n > 1; }
  // Below, a call of BLAS costs more than it saves.
  bool wants_blas() const {
    bool floating = way.kernel >= Sum::f32;
    double least = way.kernel == Sum::f32 ? 1 << 15 : way.kernel == Sum::f64 ? 1 << 13 : 1 << 9;
    return floating && is_of_matrices() && k > 0 && k <= INT_MAX / 2 && n <= INT_MAX && work() > least;
  }
  // What would leave most of a tile empty is BLAS's; but few rows of floats of 32 or 16 bits take less time in tiles.
  bool wants_tiles() const { return wants_blas() && n >= 16 && (m >= 16 || way.kernel == Sum::f32); }
};

// A product that may be computed by an instruction for bfloat16. Of few numbers all machines give the same bits.
inline bool wants_bf16(const Product& p) {
  return p.a.dtype == Dtype::bfloat16 && p.b.dtype == Dtype::bfloat16 && p.way.kernel == Sum::f32 &&
         p.is_of_matrices() && p.k > 0 && p.work() > 1 << 15;
}

// Makes a matrix converted and dense, row by row; false when there is no memory.
bool make_contiguous(Matrix& x, Dtype dtype, Dtype wanted, std::int64_t rows, std::int64_t columns, OwnMemory& memory);

// Computes a product; false when there was no memory. It needs no GIL.
bool run_product(const Product& product) noexcept;

}  // namespace suanzi
