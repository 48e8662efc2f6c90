// native/kernels/linear_algebra_products_tiles.h: 7.2.17.1, 7.2.17.2, 7.2.17.12: the table of products of large
// matrices of floats.
#pragma once

#include "kernels/linear_algebra_factors.h"
#include "kernels/linear_algebra_products.h"

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

// For each Sum; null for integers, and where this processor has no such kernels.
struct TileKernels {
  MultiplyTiles multiply[sum_count];
  decltype(FactorKernels<float>::add) add_f32;
  decltype(FactorKernels<double>::add) add_f64;
};

#if defined(__x86_64__)
const TileKernels& avx512_tile_kernels() noexcept;
const FactorTables& avx512_factor_kernels() noexcept;
#endif

}  // namespace suanzi
