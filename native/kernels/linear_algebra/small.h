// native/kernels/linear_algebra/small.h: 7.2.17.3 to 7.2.17.9: small real matrices, one in each lane of a vector.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// The largest order of matrices that are computed side by side.
inline constexpr std::int64_t small_order = 16;
// The most right-hand sides they have.
inline constexpr std::int64_t small_sides = 8;

// Each takes `count` matrices, at most as many as there are lanes, rows one behind the other, and reports by a bit for
// each whether its answer is good. Where it is not, because a matrix is or may be singular, is not finite, or is of a
// size that needs care, what was written means nothing.
template <class T>
struct SmallKernels {
  std::size_t lanes;
  // a x = b for `sides` right-hand sides, at most small_sides; b row by row, x column by column.
  std::uint32_t (*solve)(const T* const* a, const T* const* b, T* const* x, int n, int sides, std::size_t count);
  std::uint32_t (*inverse)(const T* const* a, T* const* x, int n, std::size_t count);
  // Of the given triangle; zeros in the other.
  std::uint32_t (*cholesky)(const T* const* a, T* const* x, int n, bool upper, std::size_t count);
  // Both factors column by column, with the rows that were swapped.
  std::uint32_t (*lu)(const T* const* a, T* const* x, std::int64_t* const* swaps, int m, int n, std::size_t count);
  // The first `width` columns of Q, unless there is no q, and as many rows of R, column by column.
  std::uint32_t (*qr)(const T* const* a, T* const* q, T* const* r, int m, int n, int width, std::size_t count);
};

struct SmallTables {
  SmallKernels<float> f32;
  SmallKernels<double> f64;
};

// The table of the level in use.
const SmallTables& small_kernels() noexcept;

}  // namespace suanzi
