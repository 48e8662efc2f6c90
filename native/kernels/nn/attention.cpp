// native/kernels/nn/attention.cpp: nn 8: the loops of attention and of rotary embeddings.
//
// A softmax along keys that come block by block: the scores of a block become exponentials relative to the largest
// score so far, and what was summed before is scaled when that grows. Lanes add up side by side, in an order that
// depends on the number of keys alone.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/functions/magnitude.inc"

#include "kernels/arithmetic/arithmetic.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"
#undef xsimd

#include "kernels/nn/attention.h"

namespace suanzi {
namespace {
namespace attention {

template <class T>
constexpr T infinity = std::numeric_limits<T>::infinity();

// The elements from i on, and `fill` where there are none.
template <class T>
inline Batch<T> load_some(const T* from, std::size_t n, T fill) {
  alignas(64) T some[Batch<T>::size];
  for (std::size_t j = 0; j < Batch<T>::size; ++j) some[j] = j < n ? from[j] : fill;
  return Batch<T>::load_aligned(some);
}
template <class T>
inline void store_some(Batch<T> x, T* to, std::size_t n) {
  alignas(64) T some[Batch<T>::size];
  x.store_aligned(some);
  std::memcpy(to, some, n * sizeof(T));
}

// f(whole batch, its elements) for each batch of n elements.
template <class T, class F>
inline void each(const T* x, std::size_t n, T fill, F&& f) {
  using B = Batch<T>;
  std::size_t i = 0;
  for (; i + B::size <= n; i += B::size) f(B::load_unaligned(x + i), i, B::size);
  if (i < n) f(load_some(x + i, n - i, fill), i, n - i);
}
template <class T>
inline void put(Batch<T> x, T* to, std::size_t n) {
  if (n == Batch<T>::size) x.store_unaligned(to);
  else store_some<T>(x, to, n);
}

// Scores of products; returns the largest, NaN aside.
template <class T>
SUANZI_FLAT T score(T* x, std::size_t n, const ScoreTerms& terms) {
  using B = Batch<T>;
  B scale(static_cast<T>(terms.scale)), cap(static_cast<T>(terms.softcap)), most(-infinity<T>);
  auto* added = static_cast<const T*>(terms.added);
  each<T>(x, n, T{0}, [&](B s, std::size_t i, std::size_t count) {
    s *= scale;
    if (terms.softcap != 0) s = cap * tanh::apply(s / cap);
    if (added) s += count == B::size ? B::load_unaligned(added + i) : load_some(added + i, count, T{0});
    if (terms.allowed) {
      alignas(64) T may[B::size];
      for (std::size_t j = 0; j < B::size; ++j) may[j] = j < count && terms.allowed[i + j] ? T{0} : T{1};
      s = xs::select(B::load_aligned(may) == B(T{0}), s, B(-infinity<T>));
    }
    put<T>(s, x + i, count);
    if (count < B::size) s = load_some(x + i, count, -infinity<T>);
    most = xs::select(s > most, s, most);
  });
  return xs::reduce_max(most);
}

template <class T>
SUANZI_FLAT T exponentials(T* x, std::size_t n, T largest) {
  using B = Batch<T>;
  B from(largest), sum(T{0});
  each<T>(x, n, -infinity<T>, [&](B s, std::size_t i, std::size_t count) {
    B e = exp::apply(s - from);
    sum += e;
    put<T>(e, x + i, count);
  });
  return xs::reduce_add(sum);
}

#if defined(__AVX512F__)
// What there is to do where nothing but a scale above 0 comes between products and weights: their largest is that of
// the scores, which are not stored.
SUANZI_FLAT f32 exponentials_of_scaled(f32* x, std::size_t n, f32 scale, f32 largest) {
  using B = Batch<f32>;
  B from(largest), by(scale), sums[2] = {B(0.0f), B(0.0f)};
  std::size_t i = 0;
  for (; i + 2 * B::size <= n; i += 2 * B::size)
    for (std::size_t k = 0; k < 2; ++k) {
      B e = exp::apply(xs::fms(B::load_unaligned(x + i + k * B::size), by, from));
      sums[k] += e;
      e.store_unaligned(x + i + k * B::size);
    }
  for (; i < n; i += B::size) {
    auto there = static_cast<__mmask16>(n - i >= B::size ? 0xFFFF : (1u << (n - i)) - 1);
    B e = _mm512_maskz_mov_ps(there, exp::apply(xs::fms(B(_mm512_maskz_loadu_ps(there, x + i)), by, from)));
    sums[0] += e;
    _mm512_mask_storeu_ps(x + i, there, e);
  }
  return xs::reduce_add(sums[0] + sums[1]);
}

SUANZI_FLAT f32 largest_of(const f32* x, std::size_t n) {
  using B = Batch<f32>;
  B none(-infinity<f32>), most[2] = {none, none};
  std::size_t i = 0;
  for (; i + 2 * B::size <= n; i += 2 * B::size)
    for (std::size_t k = 0; k < 2; ++k)  // NaN is not larger
      most[k] = _mm512_max_ps(B::load_unaligned(x + i + k * B::size), most[k]);
  for (; i < n; i += B::size) {
    auto there = static_cast<__mmask16>(n - i >= B::size ? 0xFFFF : (1u << (n - i)) - 1);
    most[0] = _mm512_max_ps(_mm512_mask_loadu_ps(none, there, x + i), most[0]);
  }
  return xs::reduce_max(xs::max(most[0], most[1]));
}

SUANZI_FLAT void split(const void* x_, std::uint16_t* parts, std::int64_t apart, std::size_t n) {
  auto* x = static_cast<const f32*>(x_);
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000)), half = _mm512_set1_epi32(0x8000);
  for (std::size_t i = 0; i < n; i += 16) {
    auto there = static_cast<__mmask16>(n - i >= 16 ? 0xFFFF : (1u << (n - i)) - 1);
    __m512 rest = _mm512_maskz_loadu_ps(there, x + i);
    __m512i first = _mm512_and_si512(_mm512_castps_si512(rest), upper);
    rest = _mm512_sub_ps(rest, _mm512_castsi512_ps(first));
    __m512i second = _mm512_add_epi32(_mm512_castps_si512(rest), half);
    _mm512_mask_cvtepi32_storeu_epi16(parts + i, there, _mm512_srli_epi32(first, 16));
    _mm512_mask_cvtepi32_storeu_epi16(parts + apart + i, there, _mm512_srli_epi32(second, 16));
  }
}
constexpr auto split_of_level = &split;

SUANZI_FLAT bool divide_to_bf16(const void* x_, double by, std::uint16_t* y, std::size_t n) {
  auto* x = static_cast<const f32*>(x_);
  const __m512 factor = _mm512_set1_ps(static_cast<f32>(1 / by));
  const __m512i half = _mm512_set1_epi32(0x7FFF), one = _mm512_set1_epi32(1);
  __mmask16 bad = 0;
  for (std::size_t i = 0; i < n; i += 16) {
    auto there = static_cast<__mmask16>(n - i >= 16 ? 0xFFFF : (1u << (n - i)) - 1);
    __m512 found = _mm512_mul_ps(_mm512_maskz_loadu_ps(there, x + i), factor);
    bad |= _mm512_fpclass_ps_mask(found, 0x99);  // NaN and infinite
    __m512i bits = _mm512_castps_si512(found), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
    __m512i made = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_add_epi32(half, odd)), 16);
    _mm256_mask_storeu_epi16(y + i, there, _mm512_cvtepi32_epi16(made));
  }
  return !bad;
}
constexpr auto divide_of_level = &divide_to_bf16;
#else
constexpr void (*split_of_level)(const void*, std::uint16_t*, std::int64_t, std::size_t) = nullptr;
constexpr bool (*divide_of_level)(const void*, double, std::uint16_t*, std::size_t) = nullptr;
#endif

template <class T>
double weigh(void* products, std::size_t n, const ScoreTerms& terms, RowState& state) {
  auto* x = static_cast<T*>(products);
  T before = static_cast<T>(state.largest), now, sum, by{1};
  bool is_plain = false;
#if defined(__AVX512F__)
  is_plain = sizeof(T) == 4 && terms.scale > 0 && terms.softcap == 0 && !terms.added && !terms.allowed;
  if constexpr (sizeof(T) == 4)
    if (is_plain) now = largest_of(x, n) * static_cast<f32>(terms.scale);
#endif
  if (!is_plain) now = score(x, n, terms);
  now = before > now ? before : now;
  T from = now == -infinity<T> ? T{0} : now;
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4)
    if (is_plain) sum = exponentials_of_scaled(x, n, static_cast<f32>(terms.scale), from);
#endif
  if (!is_plain) sum = exponentials(x, n, from);
  if (before != now) by = exp::apply(Batch<T>(before - from)).get(0);
  state.largest = now;
  state.sum = static_cast<T>(static_cast<T>(state.sum) * by + sum);
  return by;
}

// ---- products -----------------------------------------------------------------------------------
//
// Panels of the right operand, as wide as a tile, are packed; the sums of a tile stay in registers. Each is added up
// in the order of k, multiplied and added in one operation where the processor has it.

#if defined(__aarch64__)
constexpr int tile_rows = 6, tile_vectors = 4;
#else
constexpr int tile_rows = 6, tile_vectors = 2;
#endif
constexpr i64 deep = 256;

template <class T>
constexpr i64 tile_columns = tile_vectors * static_cast<i64>(Batch<T>::size);

template <class T, int rows>
void tile(const T* a, i64 a_row, i64 a_column, const T* b, i64 k, T* c, i64 c_row, i64 columns, bool adds) {
  using B = Batch<T>;
  constexpr int lanes = static_cast<int>(B::size);
  B sums[rows][tile_vectors];
  alignas(64) T edge[rows][tile_columns<T>];
  bool whole = columns == tile_columns<T>;
  if (adds && !whole)
    for (int r = 0; r < rows; ++r) std::memcpy(edge[r], c + r * c_row, static_cast<std::size_t>(columns) * sizeof(T));
  for (int r = 0; r < rows; ++r)
    for (int v = 0; v < tile_vectors; ++v)
      sums[r][v] = adds ? B::load_unaligned((whole ? c + r * c_row : edge[r]) + v * lanes) : B(T{0});
  for (i64 p = 0; p < k; ++p, a += a_column, b += tile_columns<T>) {
    B right[tile_vectors];
    for (int v = 0; v < tile_vectors; ++v) right[v] = B::load_unaligned(b + v * lanes);
    for (int r = 0; r < rows; ++r) {
      B left(a[r * a_row]);
      for (int v = 0; v < tile_vectors; ++v) sums[r][v] = xs::fma(left, right[v], sums[r][v]);
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < tile_vectors; ++v) sums[r][v].store_unaligned((whole ? c + r * c_row : edge[r]) + v * lanes);
    if (!whole) std::memcpy(c + r * c_row, edge[r], static_cast<std::size_t>(columns) * sizeof(T));
  }
}

template <class T>
void pack(const T* from, i64 row, i64 column, i64 columns, i64 k, T* to) {
  constexpr i64 wide = tile_columns<T>;
  if (columns < wide) std::memset(to, 0, static_cast<std::size_t>(wide * k) * sizeof(T));
  if (column == 1)
    for (i64 p = 0; p < k; ++p)
      std::memcpy(to + p * wide, from + p * row, static_cast<std::size_t>(columns) * sizeof(T));
  else
    for (i64 j = 0; j < columns; ++j)
      for (i64 p = 0; p < k; ++p) to[p * wide + j] = from[p * row + j * column];
}

template <class T>
void product(const Matrix& a, const Matrix& b, void* c_, i64 c_row, i64 m, i64 n, i64 k, std::byte* memory) {
  constexpr i64 wide = tile_columns<T>;
  static_assert(deep * wide * static_cast<i64>(sizeof(T)) <= product_memory);
  auto *left = reinterpret_cast<const T*>(a.data), *right = reinterpret_cast<const T*>(b.data);
  auto *c = static_cast<T*>(c_), *panel = reinterpret_cast<T*>(memory);
  constexpr void (*tiles[])(const T*, i64, i64, const T*, i64, T*, i64, i64, bool) = {
      tile<T, 1>, tile<T, 2>, tile<T, 3>, tile<T, 4>, tile<T, 5>, tile<T, 6>};
  for (i64 p = 0; p < k; p += deep) {
    i64 depth = k - p < deep ? k - p : deep;
    for (i64 j = 0; j < n; j += wide) {
      i64 columns = n - j < wide ? n - j : wide;
      pack(right + p * b.row + j * b.column, b.row, b.column, columns, depth, panel);
      for (i64 i = 0; i < m; i += tile_rows) {
        i64 rows = m - i < tile_rows ? m - i : tile_rows;
        tiles[rows - 1](left + i * a.row + p * a.column, a.row, a.column, panel, depth, c + i * c_row + j, c_row,
                        columns, p > 0);
      }
    }
  }
}

// ---- rows ---------------------------------------------------------------------------------------

template <class T>
void update(const void* x_, double by_, void* y_, std::size_t n) {
  auto* x = static_cast<const T*>(x_);
  auto* y = static_cast<T*>(y_);
  T by = static_cast<T>(by_);
  if (x) {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) y[i] = y[i] * by + x[i];
  } else if (by != T{1}) {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) y[i] *= by;
  }
}

template <class T>
bool divide(const void* x_, double by_, void* y_, std::size_t n) {
  auto* x = static_cast<const T*>(x_);
  auto* y = static_cast<T*>(y_);
  T by = static_cast<T>(by_);
  int bad = 0;
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    bad |= !(x[i] - x[i] == T{0});
    y[i] = x[i] / by;
  }
  return !bad;
}

template <class T>
SUANZI_FLAT double weighted(const void* weights, const void* x_, std::size_t n) {
  using B = Batch<T>;
  auto* x = static_cast<const T*>(x_);
  B sum(T{0});
  each<T>(static_cast<const T*>(weights), n, T{0}, [&](B w, std::size_t i, std::size_t count) {
    B y = count == B::size ? B::load_unaligned(x + i) : load_some(x + i, count, T{0});
    sum += xs::select(w == B(T{0}), B(T{0}), w * y);
  });
  return xs::reduce_add(sum);
}

template <class T>
SUANZI_FLAT void slopes(void* w_, void* g_, const void* products_, std::size_t n, const ScoreTerms& terms, double sum,
                        double mean) {
  using B = Batch<T>;
  auto *w = static_cast<T*>(w_), *g = static_cast<T*>(g_);
  auto* products = static_cast<const T*>(products_);
  B total(static_cast<T>(sum)), middle(static_cast<T>(mean)), scale(static_cast<T>(terms.scale)), one(T{1}), zero(T{0}),
      cap(static_cast<T>(terms.softcap));
  each<T>(w, n, T{0}, [&](B x, std::size_t i, std::size_t count) {
    auto read = [&](const T* from) {
      return count == B::size ? B::load_unaligned(from + i) : load_some(from + i, count, T{0});
    };
    auto none = x == zero;
    x = xs::select(none, zero, x / total);
    B slope = x * (read(g) - middle) * scale;
    if (terms.softcap != 0) {
      // 1 - tanh^2, by factors that do not cancel where it is small.
      B t = tanh::apply(read(products) * scale / cap);
      slope *= (one - t) * (one + t);
    }
    put<T>(x, w + i, count);
    put<T>(xs::select(none, zero, slope), g + i, count);
  });
}

template <class T>
void rotate(const void* x_, const void* cosines, const void* sines, void* y_, std::size_t pairs, std::ptrdiff_t apart,
            std::ptrdiff_t step, bool back) {
  auto *x = static_cast<const T*>(x_), *c = static_cast<const T*>(cosines), *s = static_cast<const T*>(sines);
  auto* y = static_cast<T*>(y_);
  T sign = back ? T{-1} : T{1};
  auto loop = [&](auto by) {
    SUANZI_LOOP
    for (std::size_t i = 0; i < pairs; ++i) {
      const T *a = x + static_cast<std::ptrdiff_t>(i) * by, *b = a + apart;
      T sine = sign * s[i], first = *a * c[i] - *b * sine, second = *b * c[i] + *a * sine;
      y[static_cast<std::ptrdiff_t>(i) * by] = first;
      y[static_cast<std::ptrdiff_t>(i) * by + apart] = second;
    }
  };
  if (step == 1) loop(std::integral_constant<std::ptrdiff_t, 1>{});
  else loop(std::integral_constant<std::ptrdiff_t, 2>{});
}

}  // namespace attention
}  // namespace

SUANZI_TABLE(AttentionKernels, attention_kernels,
             {{attention::weigh<f32>, attention::weigh<f64>},
              {attention::product<f32>, attention::product<f64>},
              attention::split_of_level,
              {attention::update<f32>, attention::update<f64>},
              {attention::divide<f32>, attention::divide<f64>},
              attention::divide_of_level,
              {attention::weighted<f32>, attention::weighted<f64>},
              {attention::slopes<f32>, attention::slopes<f64>},
              {attention::rotate<f32>, attention::rotate<f64>}})

}  // namespace suanzi
