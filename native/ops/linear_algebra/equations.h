// native/ops/linear_algebra/equations.h: 7.2.17.7, 7.2.17.8: matrices and right-hand sides, whose batches are
// broadcast.
#pragma once

#include "core/without_gil.h"
#include "ops/linear_algebra/lapack.h"

namespace suanzi {

// Equations mat x = rhs of one dtype; `rhs` may be one right-hand side, of rank 1.
class Equations {
 public:
  Equations(const Tensor& mat, const Tensor& rhs) : mat_(mat), is_column_(rhs.ndim() == 1) {
    if (!is_column_) return;
    column_.dtype = rhs.dtype, column_.size = rhs.size, column_.offset = rhs.offset, column_.storage = rhs.storage;
    column_.row_major = rhs.row_major;
    column_.extents.resize(2);  // so few need no memory
    column_.extents.dims()[0] = rhs.dims()[0], column_.extents.dims()[1] = 1;
    column_.extents.strides()[0] = rhs.strides()[0], column_.extents.strides()[1] = 1;
  }

  Matrices a() const { return Matrices(mat_); }
  Matrices b(const Tensor& rhs) const { return Matrices(is_column_ ? column_ : rhs); }

  // Whether the batches go together, in that of the result.
  bool broadcast(const Matrices& a, const Matrices& b) {
    ndim_ = std::max(a.batch_ndim, b.batch_ndim);
    std::int64_t step_a = 1, step_b = 1;
    for (int d = ndim_ - 1; d >= 0; --d) {
      int da = d - (ndim_ - a.batch_ndim), db = d - (ndim_ - b.batch_ndim);
      std::int64_t na = da >= 0 ? a.batch()[da] : 1, nb = db >= 0 ? b.batch()[db] : 1;
      if (na != nb && na != 1 && nb != 1) return false;
      dims_[d] = na == 1 ? nb : na;
      steps_a_[d] = na == 1 ? 0 : step_a;
      steps_b_[d] = nb == 1 ? 0 : step_b;
      step_a *= na, step_b *= nb;
      if (__builtin_mul_overflow(count_, dims_[d], &count_)) return false;
    }
    return ndim_ + 2 <= max_ndim;
  }

  // How many equations there are, and which matrix and which right-hand sides one of them has.
  std::int64_t count() const { return count_; }
  void at(std::int64_t i, std::int64_t& matrix, std::int64_t& side) const {
    matrix = side = 0;
    for (int d = ndim_ - 1; d >= 0; --d) {
      matrix += i % dims_[d] * steps_a_[d];
      side += i % dims_[d] * steps_b_[d];
      i /= dims_[d];
    }
  }

  // What makes the index of an equation that of the matrix, or of the right-hand sides, that a verdict is about.
  auto operands() const {
    return [this](std::int64_t i, Reason reason) {
      std::int64_t matrix, side;
      at(i, matrix, side);
      return reason == Reason::sides_not_finite ? side : matrix;
    };
  }

  // A new tensor for the solutions, column by column; null if there is none.
  PyObject* new_solutions(Dtype dtype, std::int64_t rows, std::int64_t columns) const {
    std::int64_t dims[max_ndim], strides[max_ndim], size;
    std::copy_n(dims_, ndim_, dims);
    int ndim = ndim_ + (is_column_ ? 1 : 2);
    dims[ndim_] = rows;
    if (!is_column_) dims[ndim_ + 1] = columns;
    if (!element_count(ndim, dims, size)) return nullptr;
    row_major_strides(ndim, dims, strides);
    if (!is_column_) strides[ndim_] = 1, strides[ndim_ + 1] = rows;
    Storage* storage = allocate_storage(dtype, size);
    return storage ? new_tensor(storage, 0, ndim, dims, strides) : nullptr;
  }

 private:
  const Tensor& mat_;
  Tensor column_;  // on the memory of the right-hand side, which another keeps
  bool is_column_;
  int ndim_ = 0;
  std::int64_t count_ = 1, dims_[max_ndim], steps_a_[max_ndim], steps_b_[max_ndim];
};

}  // namespace suanzi
