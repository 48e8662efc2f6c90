// native/kernels/linear_algebra/factors.cpp: 7.2.17.3, 7.2.17.5, 7.2.17.7, 7.2.17.9: steps of factorisations of large
// real matrices by AVX-512.
//
// In panels, every product of blocks reads and writes memory in the order in which it lies, and nothing has to be
// packed for it. A panel is as high as a tile of sums is wide, so that what triangles solve stays in registers.
#include "kernels/common.inc"

#include "kernels/linear_algebra/products_tiles.h"

#include "kernels/vectors/vector_memory.inc"

namespace suanzi {
namespace {

template <class T>
constexpr int high = 2 * lanes<T>;  // rows of a panel
static_assert(high<f32> == panel_rows<f32> && high<f64> == panel_rows<f64>);

constexpr i64 least(i64 a, i64 b) { return a < b ? a : b; }
constexpr i64 most(i64 a, i64 b) { return a > b ? a : b; }

// ---- vectors ------------------------------------------------------------------------------------

inline unsigned first_bits(i64 n) { return n >= 32 ? ~0u : n <= 0 ? 0u : (1u << n) - 1; }
inline Vector<f32> load_some(const f32* from, i64 n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_bits(n)), from);
}
inline Vector<f64> load_some(const f64* from, i64 n) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_bits(n)), from);
}
inline void store_masked(Vector<f32> x, f32* to, unsigned mask) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), x);
}
inline void store_masked(Vector<f64> x, f64* to, unsigned mask) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), x);
}
inline Vector<f32> all(f32 x) { return _mm512_set1_ps(x); }
inline Vector<f64> all(f64 x) { return _mm512_set1_pd(x); }
// c - a b
inline Vector<f32> less_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) { return _mm512_fnmadd_ps(a, b, c); }
inline Vector<f64> less_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) { return _mm512_fnmadd_pd(a, b, c); }
inline Vector<f32> add_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector<f64> add_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) { return _mm512_fmadd_pd(a, b, c); }
inline Vector<f32> lane(Vector<f32> x, int i) { return _mm512_permutexvar_ps(_mm512_set1_epi32(i), x); }
inline Vector<f64> lane(Vector<f64> x, int i) { return _mm512_permutexvar_pd(_mm512_set1_epi64(i), x); }
inline Vector<f32> magnitude(Vector<f32> x) { return _mm512_abs_ps(x); }
inline Vector<f64> magnitude(Vector<f64> x) { return _mm512_abs_pd(x); }
// b where a bit is set, else a.
inline Vector<f32> chosen(unsigned mask, Vector<f32> a, Vector<f32> b) {
  return _mm512_mask_mov_ps(a, static_cast<__mmask16>(mask), b);
}
inline Vector<f64> chosen(unsigned mask, Vector<f64> a, Vector<f64> b) {
  return _mm512_mask_mov_pd(a, static_cast<__mmask8>(mask), b);
}
inline unsigned is_larger(Vector<f32> a, Vector<f32> b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
inline unsigned is_larger(Vector<f64> a, Vector<f64> b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
inline unsigned is_equal(Vector<f32> a, Vector<f32> b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
inline unsigned is_equal(Vector<f64> a, Vector<f64> b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
inline f32 largest(Vector<f32> x) { return _mm512_reduce_max_ps(x); }
inline f64 largest(Vector<f64> x) { return _mm512_reduce_max_pd(x); }

template <int count, class F>
[[gnu::always_inline]] constexpr void unrolled(F&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

inline f32 sum_of(Vector<f32> x) { return _mm512_reduce_add_ps(x); }
inline f64 sum_of(Vector<f64> x) { return _mm512_reduce_add_pd(x); }

// ---- in and out ---------------------------------------------------------------------------------

// Calls body(panel, column, rows) in an order in which few columns are read or written at a time, and memory of panels
// is, too.
template <class T, class F>
inline void for_panels(i64 rows, i64 columns, F&& body) {
  constexpr i64 some = 4;
  for (i64 j0 = 0; j0 < columns; j0 += some)
    for (i64 p = 0; p * high<T> < rows; ++p)
      for (i64 j = j0; j < least(columns, j0 + some); ++j) body(p, j, rows - p * high<T>);
}

template <class T>
void pack(const T* from, i64 step, i64 rows, i64 columns, T* to, i64 apart) {
  for_panels<T>(rows, columns, [&](i64 p, i64 j, i64 left) {
    const T* column = from + j * step + p * high<T>;
    T* at = to + p * apart + j * high<T>;
    store<T>(left >= high<T> ? load(column) : load_some(column, left), at);
    store<T>(left >= high<T> ? load(column + lanes<T>) : load_some(column + lanes<T>, left - lanes<T>), at + lanes<T>);
  });
}

template <class T>
void unpack(const T* from, i64 apart, i64 rows, i64 columns, T* to, i64 step) {
  for_panels<T>(rows, columns, [&](i64 p, i64 j, i64 left) {
    const T* at = from + p * apart + j * high<T>;
    T* column = to + j * step + p * high<T>;
    if (left >= high<T>) {
      store<T>(load(at), column);
      store<T>(load(at + lanes<T>), column + lanes<T>);
    } else {
      store_masked(load(at), column, first_bits(left));
      store_masked(load(at + lanes<T>), column + lanes<T>, first_bits(left - lanes<T>));
    }
  });
}

template <class T>
T largest_row(const T* a, i64 apart, i64 panels, i64 columns) {
  Vector<T> found{}, bad{};
  for (i64 p = 0; p < panels; ++p)
    for (int v = 0; v < 2; ++v) {
      Vector<T> sums[4] = {};
      const T* from = a + p * apart + v * lanes<T>;
      for (i64 j = 0; j < columns; ++j) sums[j % 4] += magnitude(load(from + j * high<T>));
      Vector<T> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
      found = chosen(is_larger(sum, found), found, sum);
      bad += sum - sum;
    }
  return largest(found) + sum_of(bad);
}

template <class T>
T largest_column(const T* a, i64 apart, i64 panels, i64 columns) {
  T found = 0, bad = 0;
  for (i64 j = 0; j < columns; ++j) {
    Vector<T> sums[2] = {};
    for (i64 p = 0; p < panels; ++p)
      for (int v = 0; v < 2; ++v) sums[v] += magnitude(load(a + p * apart + j * high<T> + v * lanes<T>));
    T sum = sum_of(sums[0] + sums[1]);
    found = sum > found ? sum : found;
    bad += sum - sum;
  }
  return found + bad;
}

template <class T>
void negate(const T* a, i64 apart, i64 panels, i64 column, i64 count, T* out, i64 step) {
  for (i64 p = 0; p < panels; ++p, a += apart)
    for (i64 j = column; j < column + count; ++j)
      for (int v = 0; v < 2; ++v)
        store<T>(-load(a + j * high<T> + v * lanes<T>), out + j * step + p * high<T> + v * lanes<T>);
}

// ---- factors ------------------------------------------------------------------------------------

// The row of the largest number of a column, from `row` on; the first of several.
template <class T>
i64 find_pivot(const T* a, i64 apart, i64 panels, i64 column, i64 row) {
  i64 p = row / high<T>;
  const T* at = a + p * apart + column * high<T>;
  Vector<T> best[2], where[2];  // numbers of panels, which are exact
  for (int v = 0; v < 2; ++v) {
    unsigned above = first_bits(row - p * high<T> - v * lanes<T>);
    best[v] = chosen(above, magnitude(load(at + v * lanes<T>)), all(T(-1)));
    where[v] = all(static_cast<T>(p));
  }
  for (++p, at += apart; p < panels; ++p, at += apart)
    for (int v = 0; v < 2; ++v) {
      Vector<T> size = magnitude(load(at + v * lanes<T>));
      unsigned larger = is_larger(size, best[v]);
      best[v] = chosen(larger, best[v], size);
      where[v] = chosen(larger, where[v], all(static_cast<T>(p)));
    }
  T size = largest(chosen(is_larger(best[1], best[0]), best[0], best[1]));
  i64 found = panels * high<T>;
  for (int v = 0; v < 2; ++v) {
    T in[lanes<T>];
    store<T>(where[v], in);
    for (unsigned left = is_equal(best[v], all(size)); left; left &= left - 1) {
      int i = __builtin_ctz(left);
      found = least(found, static_cast<i64>(in[i]) * high<T> + v * lanes<T> + i);
    }
  }
  return found < panels * high<T> ? found : row;  // which NaN leaves
}

// Divides a column below the pivot, and takes its products with the pivot's row off `more` columns behind it.
template <class T, int more>
void eliminate(T* a, i64 apart, i64 panels, i64 column, i64 row, T reciprocal) {
  i64 p = row / high<T>, inside = row - p * high<T>;
  T* at = a + p * apart + column * high<T>;
  Vector<T> right[more + 1], factor = all(reciprocal);
  unrolled<more>([&](auto q) { right[q] = all(at[(q + 1) * high<T> + inside]); });
  unsigned below[2] = {~first_bits(inside + 1), ~first_bits(inside + 1 - lanes<T>)};
  for (; p < panels; ++p, at += apart, below[0] = below[1] = ~0u)
    for (int v = 0; v < 2; ++v) {
      T* some = at + v * lanes<T>;
      Vector<T> before = load(some), x = chosen(below[v], Vector<T>{}, before * factor);
      store<T>(chosen(below[v], before, x), some);
      unrolled<more>([&](auto q) {
        T* to = some + (q + 1) * high<T>;
        store<T>(less_product(x, right[q], load(to)), to);
      });
    }
}

template <class T>
int factorise(T* a, i64 apart, i64 panels, i64 first, i64 count, int* swaps) {
  static constexpr void (*steps[])(T*, i64, i64, i64, i64, T) = {&eliminate<T, 0>, &eliminate<T, 1>, &eliminate<T, 2>,
                                                                 &eliminate<T, 3>, &eliminate<T, 4>, &eliminate<T, 5>,
                                                                 &eliminate<T, 6>, &eliminate<T, 7>};
  int info = 0;
  auto at = [&](i64 row) { return a + row / high<T> * apart + row % high<T>; };
  for (i64 j = first; j < first + count; ++j) {
    i64 other = find_pivot(a, apart, panels, j, j);
    swaps[j] = static_cast<int>(other);
    if (other != j) {
      T *x = at(j) + first * high<T>, *y = at(other) + first * high<T>;
      for (i64 q = 0; q < count * high<T>; q += high<T>) {
        T kept = x[q];
        x[q] = y[q], y[q] = kept;
      }
    }
    T pivot = at(j)[j * high<T>];
    if (pivot == 0 && !info) info = static_cast<int>(j) + 1;
    if (pivot != 0) steps[first + count - 1 - j](a, apart, panels, j, j, 1 / pivot);
  }
  return info;
}

template <class T>
void exchange(T* a, i64 apart, i64 column, i64 count, i64 first, i64 last, const int* swaps) {
  constexpr i64 some = 32 / sizeof(T);  // columns, which stay in the first-level cache
  for (i64 j0 = column; j0 < column + count; j0 += some) {
    T* from = a + j0 * high<T>;
    i64 end = least(some, column + count - j0) * high<T>;
    for (i64 i = first; i < last; ++i) {
      if (swaps[i] == i) continue;
      T *x = from + i / high<T> * apart + i % high<T>, *y = from + swaps[i] / high<T> * apart + swaps[i] % high<T>;
      for (i64 q = 0; q < end; q += high<T>) {
        T kept = x[q];
        x[q] = y[q], y[q] = kept;
      }
    }
  }
}

// ---- triangles ----------------------------------------------------------------------------------

// `count` columns of a panel at a time, in registers: factors[t] times element t is taken off for each t from `top`.
template <class T, int count>
[[gnu::always_inline]] inline void take_off(const T (&factors)[high<T>][high<T>], int top, int bottom,
                                            Vector<T> (&x)[count][2]) {
  for (int t = top; t < bottom && t < lanes<T>; ++t) {
    Vector<T> first = load(factors[t]), second = load(factors[t] + lanes<T>);
    unrolled<count>([&](auto c) {
      Vector<T> one = lane(x[c][0], t);
      x[c][0] = less_product(first, one, x[c][0]);
      x[c][1] = less_product(second, one, x[c][1]);
    });
  }
  for (int t = top > lanes<T> ? top : lanes<T>; t < bottom; ++t) {
    Vector<T> second = load(factors[t] + lanes<T>);
    unrolled<count>([&](auto c) { x[c][1] = less_product(second, lane(x[c][1], t - lanes<T>), x[c][1]); });
  }
}

template <class T, int count>
[[gnu::always_inline]] inline void load_columns(const T* from, Vector<T> (&x)[count][2]) {
  unrolled<count>([&](auto c) {
    x[c][0] = load(from + c * high<T>);
    x[c][1] = load(from + c * high<T> + lanes<T>);
  });
}

// Stores columns, and those of their elements that a mask has a bit for, negated, in rows that are a step apart.
template <class T, int count>
[[gnu::always_inline]] inline void store_columns(const Vector<T> (&x)[count][2], T* to, unsigned mask, T* left,
                                                 i64 step) {
  unrolled<count>([&](auto c) {
    store<T>(x[c][0], to + c * high<T>);
    store<T>(x[c][1], to + c * high<T> + lanes<T>);
    store_masked(-x[c][0], left + c * step, mask);
    store_masked(-x[c][1], left + c * step + lanes<T>, mask >> lanes<T>);
  });
}

// Calls body(c, constant) for columns from c on, as many as the constant says.
template <class F>
inline void for_columns(i64 count, F&& body) {
  i64 c = 0;
  for (; c + 8 <= count; c += 8) body(c, std::integral_constant<int, 8>{});
  for (; c + 4 <= count; c += 4) body(c, std::integral_constant<int, 4>{});
  for (; c < count; ++c) body(c, std::integral_constant<int, 1>{});
}

template <class T>
void solve_lower(const T* lower, i64 top, i64 rows, T* c, i64 count, T* left, i64 step) {
  alignas(64) T factors[high<T>][high<T>];
  const auto end = static_cast<std::size_t>(top + rows);
  for (auto t = static_cast<std::size_t>(top); t < end; ++t, lower += high<T>)
    for (std::size_t i = 0; i < high<T>; ++i) factors[t][i] = i > t ? lower[i] : T(0);
  unsigned mask = first_bits(top + rows) & ~first_bits(top);
  for_columns(count, [&](i64 j, auto n) {
    Vector<T> x[n][2];
    load_columns(c + j * high<T>, x);
    take_off<T>(factors, static_cast<int>(top), static_cast<int>(top + rows), x);
    store_columns(x, c + j * high<T>, mask, left + j * step - top, step);
  });
}

template <class T>
void solve_upper(const T* upper, i64 rows, T* c, i64 count, T* left, i64 step) {
  for_columns(count, [&](i64 j, auto n) {
    Vector<T> x[n][2];
    load_columns(c + j * high<T>, x);
    for (i64 t = rows - 1; t >= 0; --t) {
      const T* column = upper + t * high<T>;
      Vector<T> pivot = all(column[t]);
      unsigned above = first_bits(t), here = 1u << t;
      Vector<T> first = chosen(above, Vector<T>{}, load(column));
      Vector<T> second = chosen(above >> lanes<T>, Vector<T>{}, load(column + lanes<T>));
      unrolled<n>([&](auto i) {
        int at = static_cast<int>(t) % lanes<T>;
        Vector<T> one = (t < lanes<T> ? lane(x[i][0], at) : lane(x[i][1], at)) / pivot;
        x[i][0] = chosen(here & first_bits(lanes<T>), less_product(first, one, x[i][0]), one);
        x[i][1] = chosen(here >> lanes<T>, less_product(second, one, x[i][1]), one);
      });
    }
    store_columns(x, c + j * high<T>, first_bits(rows), left + j * step, step);
  });
}

template <class T>
T dot(const T* column, i64 apart, const T* x, i64 panels) {
  Vector<T> sums[4] = {};
  for (i64 p = 0; p < panels; ++p, column += apart, x += high<T>)
    for (int v = 0; v < 2; ++v) {
      auto& sum = sums[p % 2 * 2 + v];
      sum = add_product(load(column + v * lanes<T>), load(x + v * lanes<T>), sum);
    }
  return sum_of((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

// ---- inverse ------------------------------------------------------------------------------------

constexpr i64 wide = 12;  // columns that are solved at a time

// Columns of a panel of the inverse, in place: x[j] = (x[j] + left[j][0] x[0] + ... ) factors[j], in their order or
// from the last one on.
template <class T, bool forwards>
inline void solve_right(const T* left, i64 step, const T* factors, i64 count, T* x) {
  for (i64 q = 0; q < count; ++q) {
    i64 j = forwards ? q : count - 1 - q;
    T* at = x + j * high<T>;
    Vector<T> first = load(at), second = load(at + lanes<T>);
    if constexpr (forwards) {
      first *= all(factors[j]), second *= all(factors[j]);
      store<T>(first, at);
      store<T>(second, at + lanes<T>);
    }
    for (i64 k = forwards ? j + 1 : 0, end = forwards ? count : j; k < end; ++k) {
      Vector<T> factor = all(left[k * step + j]);
      T* to = x + k * high<T>;
      store<T>(add_product(factor, first, load(to)), to);
      store<T>(add_product(factor, second, load(to + lanes<T>)), to + lanes<T>);
    }
  }
}

template <class T>
auto adder() {
  if constexpr (sizeof(T) == 4) return avx512_tile_kernels().add_f32;
  else return avx512_tile_kernels().add_f64;
}

// Row by row, x U = e and then y L = x: what rows of the inverse have to do with each other is nothing.
template <class T>
void invert(const T* left, i64 step, const T* reciprocals, i64 n, i64 first, i64 count, T* x, i64 each) {
  auto add = adder<T>();
  i64 top = first * high<T>;
  std::memset(x, 0, static_cast<std::size_t>(((count - 1) * each + n * high<T>)) * sizeof(T));
  for (i64 p = 0; p < count; ++p)
    for (i64 i = 0; i < least(high<T>, n - top - p * high<T>); ++i)
      x[p * each + (top + p * high<T> + i) * high<T> + i] = 1;
  for (i64 j = top; j < n; j += wide) {
    i64 some = least(wide, n - j);
    for (i64 p = 0; p < count; ++p) {
      i64 from = top + p * high<T>;
      if (j + some <= from) continue;
      T* panel = x + p * each;
      if (j > from)
        add(left + j * step + from, step, panel + from * high<T>, high<T>, panel + j * high<T>, high<T>, some,
            j - from);
      solve_right<T, true>(left + j * step + j, step, reciprocals + j, some, panel + j * high<T>);
    }
  }
  for (i64 end = n; end > 0; end -= wide) {
    i64 j = most(0, end - wide), some = end - j;
    for (i64 p = 0; p < count; ++p) {
      T* panel = x + p * each;
      if (end < n)
        add(left + j * step + end, step, panel + end * high<T>, high<T>, panel + j * high<T>, high<T>, some, n - end);
      solve_right<T, false>(left + j * step + j, step, nullptr, some, panel + j * high<T>);
    }
  }
}

#include "kernels/linear_algebra/reflections.inc"
#include "kernels/linear_algebra/roots.inc"

template <class T>
FactorKernels<T> of_type() {
  return {&pack<T>,      &unpack<T>,     &largest_row<T>, &largest_column<T>,   adder<T>(),
          &factorise<T>, &exchange<T>,   &solve_lower<T>, &solve_upper<T>,      &dot<T>,
          &negate<T>,    &invert<T>,     &reflect<T>,     &copy_reflections<T>, &join_reflections<T>,
          &take_root<T>, &solve_root<T>, &pack_rows<T>};
}

}  // namespace

SUANZI_TABLE(FactorTables, factor_kernels, FactorTables{of_type<f32>(), of_type<f64>()})

}  // namespace suanzi
