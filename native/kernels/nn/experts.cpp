// native/kernels/nn/experts.cpp: nn 11.3: few rows times a matrix of which each element is read once.
//
// Reading the matrix is what takes time: some of its rows are read side by side, as they lie, and added to sums that
// stay in the first-level cache. The order is that of linear_algebra_products_tiles.cpp: blocks of 256 along k, each
// summed from 0 on, multiplied and added in one operation.
#include "kernels/common.inc"

#include "kernels/nn/experts.h"

#include "kernels/vectors/vector_memory.inc"

namespace suanzi {
namespace {

#if defined(__AVX512F__) && defined(__AVX512BW__)
constexpr i64 block_depth = 256;

struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};
constexpr i64 least(i64 a, i64 b) { return a < b ? a : b; }

inline __mmask16 first(i64 n) { return static_cast<__mmask16>(n >= 16 ? 0xFFFF : (1u << n) - 1); }
inline __m512 widened(const f32* from, __mmask16 there) { return _mm512_maskz_loadu_ps(there, from); }
inline __m512 widened(const Half* from, __mmask16 there) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(there, from));
}
inline __m512 widened(const Brain* from, __mmask16 there) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, from)), 16));
}

// Sums of some rows, from 0 on or as they are, plus products with `deep` rows of the matrix.
template <class S, int rows, int deep>
void add(const f32* x, i64 x_row, const S* matrix, i64 matrix_row, f32* sums, i64 columns, bool from_0) {
  __m512 factor[rows][deep];
  for (int r = 0; r < rows; ++r)
    for (int d = 0; d < deep; ++d) factor[r][d] = _mm512_set1_ps(x[r * x_row + d]);
  auto step = [&](i64 j, __mmask16 there) __attribute__((always_inline)) {
    __m512 sum[rows];
    for (int r = 0; r < rows; ++r)
      sum[r] = from_0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(there, sums + r * columns + j);
    for (int d = 0; d < deep; ++d) {
      __m512 right = widened(matrix + d * matrix_row + j, there);
      for (int r = 0; r < rows; ++r) sum[r] = _mm512_fmadd_ps(factor[r][d], right, sum[r]);
    }
    for (int r = 0; r < rows; ++r) _mm512_mask_storeu_ps(sums + r * columns + j, there, sum[r]);
  };
  i64 j = 0;
  for (; j + 16 <= columns; j += 16) step(j, 0xFFFF);
  if (j < columns) step(j, first(columns - j));
}

template <class S, int rows>
void add_rows(const FewRows& a, i64 r, i64 p, i64 deep, f32* sums, bool from_0) {
  constexpr int most = 8;
  const f32* x = a.x + r * a.x_row + p;
  auto matrix = reinterpret_cast<const S*>(a.matrix) + p * a.matrix_row;
  sums += r * a.columns;
  for (; deep >= most; deep -= most, x += most, matrix += most * a.matrix_row, from_0 = false)
    add<S, rows, most>(x, a.x_row, matrix, a.matrix_row, sums, a.columns, from_0);
  for (; deep > 0; --deep, ++x, matrix += a.matrix_row, from_0 = false)
    add<S, rows, 1>(x, a.x_row, matrix, a.matrix_row, sums, a.columns, from_0);
}

template <class S>
void few_rows(const FewRows& a) {
  constexpr i64 group = 4, step = 8;
  constexpr decltype(&add_rows<S, 1>) some[] = {add_rows<S, 1>, add_rows<S, 2>, add_rows<S, 3>, add_rows<S, 4>};
  for (i64 p0 = 0; p0 < a.k; p0 += block_depth) {
    f32* to = p0 ? a.block : a.sums;
    i64 end = least(a.k, p0 + block_depth);
    for (i64 p = p0; p < end; p += step)
      for (i64 r = 0; r < a.rows; r += group)
        some[least(group, a.rows - r) - 1](a, r, p, least(step, end - p), to, p == p0);
    if (!p0) continue;
    for (i64 i = 0; i < a.rows * a.columns; ++i) a.sums[i] += a.block[i];
  }
}

constexpr ExpertKernels made{{few_rows<f32>, few_rows<Half>, few_rows<Brain>}};
#else
constexpr ExpertKernels made{};
#endif

}  // namespace

SUANZI_TABLE(ExpertKernels, expert_kernels, made)

}  // namespace suanzi
