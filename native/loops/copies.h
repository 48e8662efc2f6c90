// native/loops/copies.h: strided copies, which convert on the way.
#pragma once

#include "core/tensor.h"
#include "loops/elementwise.h"

namespace suanzi {

// Arrays of one shape, `from` to be copied to `to`; strides are in bytes. They must not overlap.
struct Move {
  int ndim = 0;
  std::int64_t dims[max_ndim];
  std::byte* to;
  const std::byte* from;
  std::int64_t to_strides[max_ndim], from_strides[max_ndim];
  Dtype to_dtype, from_dtype;
  bool saturate = false;

  Move() = default;
  // Few of the axes are there, and the others are not worth copying.
  Move(const Move& other) noexcept { *this = other; }
  Move& operator=(const Move& other) noexcept;

  std::int64_t size() const noexcept;

  // To dense elements in row-major order; strides of the source are in units of so many bytes.
  static Move to_dense(std::byte* to, Dtype to_dtype, const std::byte* from, Dtype from_dtype, int ndim,
                       const std::int64_t* dims, const std::int64_t* strides, std::int64_t unit) noexcept;
};

// Copies in one pass over memory, whatever the order of the axes on either side. Where elements of
// `to` coincide, the last one in row-major order stays.
void run_move(const Move& move);

}  // namespace suanzi
