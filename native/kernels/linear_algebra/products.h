// native/kernels/linear_algebra/products.h: 7.2.17.1, 7.2.17.2, 7.2.17.12: the table of loops for sums of products.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// What products are computed in. Integers wrap, so that those of both signs are one, and what is
// narrower than 16 bits is right modulo 2^16, too. Those modulo 2^8 are of vectors alone.
enum class Sum : std::uint8_t { w8, w16, w32, w64, f32, f64, c64, c128 };
inline constexpr std::size_t sum_count = 8;

// A matrix in memory: elements `row` apart from row to row and `column` from column to column.
struct Matrix {
  const std::byte* data;
  std::int64_t row, column;
};

// out[r] = sum of row r[i] * b[i], dense along i; rows are `stride` bytes apart. The order of summation
// depends on n alone.
using Dots = void (*)(const void* rows, std::ptrdiff_t stride, std::size_t count, const void* b, void* out,
                      std::size_t n);
// y[j] += x[0] * rows[0][j] + x[1] * rows[1][j] + ..., in this order; rows are `stride` bytes apart.
using AddRows = void (*)(const void* x, const void* rows, std::ptrdiff_t stride, std::size_t count, void* y,
                         std::size_t n);
// c = a b, or c + a b, for c of m rows and n columns, dense within a row, and rows `c_row` elements
// apart. Each element is summed in the order of k, one product after the other.
using Multiply = void (*)(const Matrix& a, const Matrix& b, void* c, std::int64_t c_row, std::int64_t m, std::int64_t n,
                          std::int64_t k, bool adds);
// y[i] += x[i], or one x for all.
using AddTo = void (*)(const void* x, bool repeats, void* y, std::size_t n);
// The least biased exponent of what is not 0 in a matrix that is dense one way, more than any where all is 0.
using SmallestBf16 = unsigned (*)(const Matrix& x, std::int64_t rows, std::int64_t columns);
// A right operand of bfloat16, n columns of length k, in places: 32 bits are two elements that follow one another along
// k, and 16 of these, of 16 columns, a line. The lines of 16 columns lie one behind the other, for whole tiles of k.
using PackPlaces = void (*)(const Matrix& b, std::int64_t n, std::int64_t k, std::uint32_t* out);
// c = (c +) a b for rows of bfloat16, dense along k, and places; k is at most `deepest_places`. There is room for c up
// to whole tiles of 16 rows and columns. Returns what SmallestBf16 does of a.
using MultiplyPlaces = unsigned (*)(const Matrix& a, const std::uint32_t* b, float* c, std::int64_t c_row,
                                    std::int64_t m, std::int64_t n, std::int64_t k, bool adds);
inline constexpr std::int64_t deepest_places = 1024, places_tile = 16, places_length = 32;  // a tile: columns, along k
inline constexpr std::int64_t places_of(std::int64_t n, std::int64_t k) {
  return (n + places_tile - 1) / places_tile * places_tile * ((k + places_length - 1) / places_length) * places_tile;
}
// Tiles along k, wherever they are: those of step i begin at a + a_steps[i] and b + b_steps[i]. Rows of a tile are
// `row` bytes apart, and tiles of the next 16 rows of a, or columns of b, `next`.
struct TileSteps {
  const std::byte *a, *b;
  std::int64_t a_row, a_next, b_row, b_next;
  const std::int64_t *a_steps, *b_steps;
  std::int64_t count;
};
// c = (c +) a b for so many tiles of rows and columns.
using MultiplySteps = void (*)(const TileSteps& steps, float* c, std::int64_t c_row, std::int64_t high,
                               std::int64_t wide, bool adds);
// out[j][i] = c[i][j] + bias[i] (where there is one) as bfloat16, for `rows` of c, which has room for whole tiles.
using StoreTransposed = void (*)(const float* c, std::int64_t c_row, std::int64_t rows, std::int64_t columns,
                                 const float* bias, std::uint16_t* out, std::int64_t out_row);
// Rows of int8 times columns `first` to `first + columns` of a weight, both dense along k, in blocks along k whose sums
// are multiplied by their scales, those of rows and those of `scale_rows` columns: sums[r][j] is the sum of these.
struct RowsOfBytes {
  const std::byte *x, *weight;
  std::int64_t rows, first, columns, k;
  std::int64_t block, across, scale_rows;  // the length of a block, how many there are, and columns that share a scale
  std::int64_t longest;                    // of what is added up in int32
  const float *x_scales, *weight_scales;
  std::int32_t* excess;  // room for as many as there are rows, for each part of a block that is no longer than that
  double* sums;          // dense
};
using ScaledRowsOfBytes = void (*)(const RowsOfBytes& a);
struct TileKernels;  // linear_algebra_products_tiles.h
// Whether what an instruction for bfloat16 loses, by taking subnormal numbers and sums for 0, is below the error that
// sums may have: every product is at least 2^24 times the least normal number, and no operand is less. By what
// SmallestBf16 says of both operands.
inline bool keeps_small_bf16(unsigned x, unsigned y) {
  constexpr unsigned bias = 127, least = 2 * bias - 126 + 24;
  return x > 0 && y > 0 && x + y >= least;
}
struct ProductKernels {
  Dots dots[sum_count];
  std::int64_t rows_at_once;  // that these read side by side
  AddRows add_rows[sum_count];
  // The same of rows of bfloat16 times numbers of float32, and the same bits; null where rows have to be widened first.
  Dots dots_of_bf16;
  AddRows add_rows_of_bf16;
  Multiply multiply[sum_count];            // none modulo 2^8
  Multiply multiply_pairs;                 // of int16 to int32
  Multiply multiply_bytes[2];              // of int8 to int32, of uint8 to uint32; null where that would be no faster
  ScaledRowsOfBytes scaled_rows_of_bytes;  // null where that would be no faster
  AddTo add[sum_count];
  Multiply multiply_bf16;      // of bfloat16 to float32, subnormal numbers being 0; null where there is none
  SmallestBf16 smallest_bf16;  // there if it is
  PackPlaces pack_places;      // these, too
  MultiplyPlaces multiply_places;
  MultiplySteps multiply_steps;
  StoreTransposed store_transposed;
  const TileKernels* tiles;  // of large matrices of floats; null where BLAS has to multiply them
};

#if defined(__x86_64__)
// Puts what this processor has besides the instructions of its level into a table.
void avx512_add_products(ProductKernels& k) noexcept;
#endif

}  // namespace suanzi
