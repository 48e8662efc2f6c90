// native/loops/rows_along_axis.h: a tensor as dense rows along one of its axes, and loops over rows.
#pragma once

#include <algorithm>

#include "core/scratch.h"
#include "core/threads.h"
#include "loops/copies.h"

namespace suanzi {

// The tensor as it is now, with one axis last: another thread may destroy it meanwhile.
struct AxisLast {
  int ndim = 0;
  std::int64_t dims[max_ndim], strides[max_ndim];  // the axis is the last one
  std::byte* data;
  Dtype dtype;
  std::int64_t rows = 1, length;

  AxisLast(const Tensor& t, int axis) noexcept : data(t.data()), dtype(t.dtype), length(t.dims()[axis]) {
    for (int d = 0; d < t.ndim(); ++d)
      if (d != axis) add(t, d), rows *= t.dims()[d];
    add(t, axis);
  }
  std::int64_t size() const noexcept { return rows * length; }
  // Whether the elements are dense rows as they lie.
  bool is_dense() const noexcept { return is_row_major(ndim, dims, strides); }
  // How they are copied to dense rows, or back from them.
  Move to_rows(std::byte* rows_data) const noexcept { return moved(rows_data, data, true); }
  Move from_rows(std::byte* rows_data) const noexcept { return moved(data, rows_data, false); }

 private:
  void add(const Tensor& t, int d) noexcept {
    dims[ndim] = t.dims()[d];
    strides[ndim++] = t.strides()[d];
  }
  Move moved(std::byte* to, const std::byte* from, bool to_rows) const noexcept {
    Move move;
    move.ndim = ndim;
    move.to = to;
    move.from = from;
    move.to_dtype = move.from_dtype = dtype;
    auto item = static_cast<std::int64_t>(facts(dtype).itemsize);
    std::int64_t stride = item;
    for (int d = ndim; d-- > 0;) {
      move.dims[d] = dims[d];
      (to_rows ? move.to_strides : move.from_strides)[d] = stride;
      (to_rows ? move.from_strides : move.to_strides)[d] = strides[d] * item;
      stride *= dims[d];
    }
    return move;
  }
};

// Calls body(begin, end) for parts of [0, rows), shared among threads as if each row were `cost` elements.
template <class Body>
void parallel_rows(std::int64_t rows, std::int64_t cost, Body&& body) noexcept {
  parallel_for(rows, std::max<std::int64_t>(grain / std::max<std::int64_t>(cost, 1), 1), body);
}

}  // namespace suanzi
