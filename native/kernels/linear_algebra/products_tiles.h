// native/kernels/linear_algebra/products_tiles.h: 7.2.17.1, 7.2.17.2, 7.2.17.12: the table of products of large
// matrices of floats.
#pragma once

#include "kernels/linear_algebra/factors.h"
#include "kernels/linear_algebra/products.h"

namespace suanzi {

// How an operand lies in memory: as it is summed, or as floats of 16 bits (or pairs of them) that are widened to that.
enum class Stored : std::uint8_t { as_summed, float16, bfloat16 };

// What a call needs on the way.
inline constexpr std::int64_t tile_memory = std::int64_t{448} << 10;

// c = a b for k > 0 on the calling thread; c is dense within a row, and its rows are `c_row` elements apart. Each sum
// is added up in the order of k, in blocks of the same length everywhere: neither layouts nor the parts that a product
// is cut into change a bit.
using MultiplyTiles = void (*)(const Matrix& a, Stored a_stored, const Matrix& b, Stored b_stored, void* c,
                               std::int64_t c_row, std::int64_t m, std::int64_t n, std::int64_t k, std::byte* memory);

// Elements along k of a block, for all dtypes: a panel of the right operand is 32 KiB.
inline constexpr std::int64_t block_depth = 256;

// A right operand that was copied once for all rows of the left one: blocks along k, each in panels of two vectors of
// columns. Block p begins p * block_depth * width elements behind the first, and its column j, of as many as panels
// have, j * (elements along k in this block) behind that.
struct Panels {
  const std::byte* data;
  std::int64_t width;  // columns that there is memory for, a multiple of panel_columns
  std::int64_t first;  // the column to begin with, a multiple of panel_columns
};

inline constexpr std::int64_t panel_columns = 32;  // a multiple of what panels of all dtypes have

// Copies n columns of one block, `depth` along k, to where the first of them belongs.
using PackPanels = void (*)(const Matrix& b, Stored stored, std::int64_t n, std::int64_t depth, void* out);

// As MultiplyTiles, with the same bits; or c += a b, for blocks along k that follow others.
using MultiplyPanels = void (*)(const Matrix& a, Stored a_stored, const Panels& b, void* c, std::int64_t c_row,
                                std::int64_t m, std::int64_t n, std::int64_t k, bool adds, std::byte* memory);

// For each Sum; null for integers, and where this processor has no such kernels.
struct TileKernels {
  MultiplyTiles multiply[sum_count];
  PackPanels pack_panels[sum_count];
  MultiplyPanels multiply_panels[sum_count];
  decltype(FactorKernels<float>::add) add_f32;
  decltype(FactorKernels<double>::add) add_f64;
};

#if defined(__x86_64__)
const TileKernels& avx512_tile_kernels() noexcept;
const FactorTables& avx512_factor_kernels() noexcept;
#endif

}  // namespace suanzi
