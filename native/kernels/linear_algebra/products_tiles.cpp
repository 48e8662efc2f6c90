// native/kernels/linear_algebra/products_tiles.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: products of large matrices of
// floats by AVX-512.
//
// The sums of a tile of the result fill the registers: each step along k loads vectors of the right operand once, and
// adds their products with every row of the left one, multiplied and added in one operation. What is narrow is widened,
// and what is strided or far apart put together, block by block, when it comes to its turn: the right operand in
// panels that the first-level cache holds, the left one in rows that the second one does.
//
// Complex numbers are pairs of reals. A row of the left operand is two, that of its real and that of its imaginary
// parts, and both are multiplied by pairs as they lie: what they give is put together at the end.
#include "kernels/common.inc"

#include "kernels/linear_algebra/products_tiles.h"

#include "kernels/vectors/vector_memory.inc"

namespace suanzi {
namespace {

constexpr int most_rows = 14, most_vectors = 2;  // of a tile: 28 registers of sums

// Floats of 16 bits.
struct Half {
  u16 bits;
};
struct Brain {
  u16 bits;
};

// std::min is a function that the linker may take from another level.
constexpr i64 least(i64 a, i64 b) { return a < b ? a : b; }
constexpr i64 round_up(i64 a, i64 b) { return (a + b - 1) / b * b; }

// ---- vectors ------------------------------------------------------------------------------------

inline Vector<f32> add_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector<f64> add_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) { return _mm512_fmadd_pd(a, b, c); }
inline Vector<f32> all(f32 x) { return _mm512_set1_ps(x); }
inline Vector<f64> all(f64 x) { return _mm512_set1_pd(x); }
inline Vector<f32> load(const Half* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
inline Vector<f32> load(const Brain* from) {
  __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
// The first n of a vector, n being less than it has.
inline Vector<f32> load_some(const f32* from, int n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), from);
}
inline Vector<f64> load_some(const f64* from, int n) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), from);
}
inline void store_some(Vector<f32> x, f32* to, int n) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << n) - 1), x);
}
inline void store_some(Vector<f64> x, f64* to, int n) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1u << n) - 1), x);
}

template <class S>
  requires(!std::is_floating_point_v<S>)
inline Vector<f32> load_some(const S* from, int n) {
  S some[lanes<f32>] = {};
  std::memcpy(some, from, static_cast<std::size_t>(n) * sizeof(S));
  return load(some);
}

template <class S>
inline auto one_of(const S* from) {
  if constexpr (std::is_floating_point_v<S>) return *from;
  else return load_some(from, 1)[0];
}

// Copies n elements that lie side by side. Beyond them, whole vectors of `to` may be filled up with zeros.
template <class S, class T>
inline void copy(const S* from, i64 n, T* to) {
  i64 j = 0;
  for (; j + lanes<T> <= n; j += lanes<T>) store<T>(load(from + j), to + j);
  if (j < n) store<T>(load_some(from + j, static_cast<int>(n - j)), to + j);
}

// ---- tiles --------------------------------------------------------------------------------------

// body(i) for each i below count, all known to the compiler: what they index stays in registers.
template <int count, class F>
[[gnu::always_inline]] constexpr void unrolled(F&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

// Pairs (a, b) as (-b, a): times the imaginary unit.
template <class T>
inline Vector<T> turned(Vector<T> x) {
  return [&]<std::size_t... j>(std::index_sequence<j...>) {
    return shuffled<(j ^ 1)...>(x, x) * Vector<T>{(j % 2 ? T(1) : T(-1))...};
  }(std::make_index_sequence<lanes<T>>{});
}

// How operands and the result of a tile lie, in elements of T.
struct Steps {
  std::ptrdiff_t a_row, a_column, b_row, c_row;
};

// c = (c +) a b for as many rows and vectors of columns, the last of which has `last` columns.
template <class T, int rows, int vectors, bool pairs>
void tile(const T* a, const T* b, T* c, const Steps& steps, i64 count, int last, bool adds) {
  using V = Vector<T>;
  // Rows are given by few pointers and multiples of their distance that an address can have.
  constexpr int each = pairs ? 2 : 1, group = 5, groups = (rows + group - 1) / group;
  std::ptrdiff_t row = steps.a_row * static_cast<std::ptrdiff_t>(sizeof(T)), thrice = 3 * row;
  std::ptrdiff_t step = steps.a_column * static_cast<std::ptrdiff_t>(sizeof(T)), b_row = steps.b_row;
  asm("" : "+r"(thrice));  // or it is added up in each step
  const std::byte* at[groups];
  unrolled<groups>([&](auto g) { at[g] = reinterpret_cast<const std::byte*>(a) + g * group * row; });
  V sums[rows * each][vectors];
  unrolled<rows * each>([&](auto i) { unrolled<vectors>([&](auto v) { sums[i][v] = V{}; }); });
  auto step_along = [&]() __attribute__((always_inline)) {
    V right[vectors];
    unrolled<vectors>([&](auto v) { right[v] = load(b + v * lanes<T>); });
    unrolled<rows * each>([&](auto i) {
      constexpr int r = i / each, multiple = r % group;
      const std::byte* from = at[r / group] + (multiple == 3 ? thrice : multiple * row);
      V x = all(reinterpret_cast<const T*>(from)[i % each]);
      unrolled<vectors>([&](auto v) { sums[i][v] = add_product(x, right[v], sums[i][v]); });
    });
    b += b_row;
    unrolled<groups>([&](auto g) {
      at[g] += step;
      asm("" : "+r"(at[g]));  // or there is a pointer for each row, on the stack
    });
  };
  i64 p = 0;
  // Results are not in the first-level cache, and are needed last. They are asked for one row a step: all at once,
  // operands would wait for them.
  const T* ahead = c;
  for (i64 some = least(count, rows); p < some; ++p, ahead += steps.c_row) {
    unrolled<vectors>([&](auto v) { __builtin_prefetch(ahead + v * lanes<T>); });
    step_along();
  }
  for (; p < count; ++p) step_along();
  unrolled<rows>([&](auto r) {
    unrolled<vectors>([&](auto v) {
      V x = sums[r * each][v];
      if constexpr (pairs) x += turned<T>(sums[r * each + 1][v]);
      T* to = c + r * steps.c_row + v * lanes<T>;
      if (v + 1 < vectors || last == lanes<T>) {
        if (adds) x += load(to);
        store<T>(x, to);
      } else {
        if (adds) x += load_some(to, last);
        store_some(x, to, last);
      }
    });
  });
}

template <class T, bool pairs>
struct Tiles {
  static constexpr int rows = most_rows / (pairs ? 2 : 1);
  void (*of[most_vectors][rows])(const T*, const T*, T*, const Steps&, i64, int, bool);  // one less of each

  constexpr Tiles() : of() {
    unrolled<most_vectors>([&](auto v) { unrolled<rows>([&](auto r) { of[v][r] = &tile<T, r + 1, v + 1, pairs>; }); });
  }
};

// ---- packing ------------------------------------------------------------------------------------

// Exchanges rows and columns of as many vectors as each has lanes: halves of vectors, then quarters, and so on.
template <class U, std::size_t half = lanes<U> / 2>
inline void transpose(Vector<U> (&x)[lanes<U>]) {
  if constexpr (half > 0) {
    constexpr std::size_t n = lanes<U>;
    auto exchange = []<std::size_t... j>(Vector<U>& a, Vector<U>& b, std::index_sequence<j...>) {
      Vector<U> low = shuffled<(j & half ? n + (j ^ half) : j)...>(a, b);
      b = shuffled<(j & half ? n + j : j ^ half)...>(a, b);
      a = low;
    };
    for (std::size_t i = 0; i < n; ++i)
      if (!(i & half)) exchange(x[i], x[i + half], std::make_index_sequence<n>{});
    transpose<U, half / 2>(x);
  }
}

// One panel of a right operand: `columns` of T (two for a pair) in `depth` rows, as wide as whole vectors are.
// Strides of what it is made from are in elements, pairs or not.
template <class S, class T, bool pairs>
void pack_right(const std::byte* data, i64 row, i64 column, i64 columns, i64 depth, T* out) {
  constexpr int each = pairs ? 2 : 1;
  auto from = reinterpret_cast<const S*>(data);
  i64 width = round_up(columns, lanes<T>);
  if (column == 1) {
    for (i64 p = 0; p < depth; ++p) copy(from + p * row * each, columns, out + p * width);
    return;
  }
  using Unit = std::conditional_t<sizeof(T) * each == 4, f32, f64>;  // what moves at once
  if constexpr (sizeof(Unit) == sizeof(T) * each && (!pairs || sizeof(S) == sizeof(T))) {
    constexpr int n = lanes<Unit>;
    using Source = std::conditional_t<pairs, Unit, S>;
    if (row == 1) {
      for (i64 p = 0; p < depth; p += n) {
        auto some = static_cast<int>(least(n, depth - p));
        for (i64 j = 0; j < width / each; j += n) {
          Vector<Unit> x[n];
          for (int i = 0; i < n; ++i) {
            auto line = reinterpret_cast<const Source*>(from) + (j + i) * column + p;
            x[i] = j + i >= columns / each ? Vector<Unit>{} : some == n ? load(line) : load_some(line, some);
          }
          transpose<Unit>(x);
          for (int i = 0; i < some; ++i) store<Unit>(x[i], reinterpret_cast<Unit*>(out + (p + i) * width) + j);
        }
      }
      return;
    }
  }
  for (i64 p = 0; p < depth; ++p) {
    T* to = out + p * width;
    for (i64 j = 0; j < columns; ++j) to[j] = one_of(from + (p * row + j / each * column) * each + j % each);
    for (i64 j = columns; j < width; ++j) to[j] = 0;
  }
}

// A block of a left operand, rows (columns, if those are dense) one behind the other; returns their distances.
template <class S, class T, bool pairs>
void pack_left(const std::byte* data, i64 row, i64 column, i64 rows, i64 depth, T* out, Steps& steps) {
  constexpr int each = pairs ? 2 : 1;
  auto from = reinterpret_cast<const S*>(data);
  bool across = row == 1 && column != 1;
  i64 lines = across ? depth : rows, length = (across ? rows : depth) * each;
  i64 apart = across ? column : row, along = across ? row : column;
  // Not by a power of two, or many rows would share few places of the cache.
  i64 stride = round_up(length, lanes<T>) + lanes<T>;
  steps.a_row = across ? each : stride, steps.a_column = across ? stride : each;
  for (i64 r = 0; r < lines; ++r, out += stride) {
    const S* line = from + r * apart * each;
    if (along == 1) copy(line, length, out);
    else
      for (i64 j = 0; j < length; ++j) out[j] = one_of(line + j / each * along * each + j % each);
  }
}

template <class T, bool pairs>
struct Packing {
  void (*left)(const std::byte*, i64, i64, i64, i64, T*, Steps&);
  void (*right)(const std::byte*, i64, i64, i64, i64, T*);
  i64 item;

  template <class S>
  static constexpr Packing from() {
    return {&pack_left<S, T, pairs>, &pack_right<S, T, pairs>, static_cast<i64>(sizeof(S)) * (pairs ? 2 : 1)};
  }
  static constexpr Packing of(Stored stored) {
    if constexpr (sizeof(T) == 4) {
      if (stored == Stored::float16) return from<Half>();
      if (stored == Stored::bfloat16) return from<Brain>();
    }
    return from<T>();
  }
};

// ---- matrices -----------------------------------------------------------------------------------

// What is copied before it is multiplied, and how many rows at a time.
struct Plan {
  bool packs_left, packs_right;
  i64 depth, rows;
};

// As many rows at a time as fit into so many bytes, for rows one behind the other and for columns, in about equal parts
// of whole tiles.
template <class T, bool pairs>
i64 rows_at_a_time(i64 m, i64 bytes) {
  constexpr i64 size = sizeof(T) * (pairs ? 2 : 1), depth = block_depth, gap = 2 * i64{vector_bytes};
  constexpr i64 tall = Tiles<T, pairs>::rows;
  i64 most = least(bytes / (depth * size + gap), (bytes - depth * gap) / (depth * size)) / tall * tall;
  i64 count = (m + most - 1) / most;
  return round_up((m + count - 1) / count, tall);
}

// Rows far apart share places of the cache, or are pages of memory each; what is read once or twice is not worth a
// copy.
bool is_far(const Matrix& x, i64 size, i64 bytes) {
  i64 apart = (x.column == 1 ? x.row : x.column) * size;
  return apart > bytes || apart < -bytes;
}

// The right operand, in panels or not.
struct Right {
  const Matrix& matrix;
  Stored stored;
  const Panels* panels;
};

template <class T, bool pairs>
void multiply_by(const Plan& plan, const Matrix& a, Stored a_stored, const Right& given, T* c, i64 c_row, i64 m, i64 n,
                 i64 k, bool adds, T* memory) {
  static constexpr Tiles<T, pairs> tiles;
  constexpr int each = pairs ? 2 : 1;
  constexpr i64 panel = most_vectors * lanes<T>;
  const Matrix& b = given.matrix;
  auto from_a = Packing<T, pairs>::of(a_stored), from_b = Packing<T, pairs>::of(given.stored);
  T* right_memory = memory;
  T* left_memory = memory + (given.panels ? 0 : plan.depth * panel);
  Steps steps{a.row * each, a.column * each, b.row * each, c_row * each};
  for (i64 p0 = 0; p0 < k; p0 += plan.depth) {
    i64 depth = least(plan.depth, k - p0);
    for (i64 i0 = 0; i0 < m; i0 += plan.rows) {
      i64 rows = least(plan.rows, m - i0);
      const std::byte* some = a.data + (i0 * a.row + p0 * a.column) * from_a.item;
      auto left = reinterpret_cast<const T*>(some);
      if (plan.packs_left) {
        from_a.left(some, a.row, a.column, rows, depth, left_memory, steps);
        left = left_memory;
      }
      // Tiles are about equally high: a low one takes as long as one twice as high.
      i64 count = (rows + tiles.rows - 1) / tiles.rows, low = rows / count, higher = rows % count;
      for (i64 j0 = 0; j0 < n * each; j0 += panel) {
        i64 columns = least(panel, n * each - j0), vectors = (columns + lanes<T> - 1) / lanes<T>;
        auto last = static_cast<int>(columns - (vectors - 1) * lanes<T>);
        const T* right;
        if (given.panels) {
          right = reinterpret_cast<const T*>(given.panels->data) +
                  (p0 * given.panels->width + given.panels->first * depth) * each + j0 * depth;
          steps.b_row = vectors * lanes<T>;
        } else {
          const std::byte* part = b.data + (p0 * b.row + j0 / each * b.column) * from_b.item;
          right = reinterpret_cast<const T*>(part);
          steps.b_row = b.row * each;
          if (plan.packs_right || last < lanes<T>) {
            from_b.right(part, b.row, b.column, columns, depth, right_memory);
            right = right_memory;
            steps.b_row = vectors * lanes<T>;
          }
        }
        T* to = c + i0 * steps.c_row + j0;
        for (i64 t = 0, i = 0; t < count; ++t) {
          i64 high = low + (t < higher);
          tiles.of[vectors - 1][high - 1](left + i * steps.a_row, right, to + i * steps.c_row, steps, depth, last,
                                          adds || p0 > 0);
          i += high;
        }
      }
    }
  }
}

template <class T, bool pairs>
void multiply(const Matrix& a, Stored a_stored, const Matrix& b, Stored b_stored, void* c, i64 c_row, i64 m, i64 n,
              i64 k, std::byte* memory) {
  constexpr i64 size = sizeof(T) * (pairs ? 2 : 1), depth = block_depth;
  Plan plan{};
  plan.depth = depth;
  plan.packs_left = a_stored != Stored::as_summed || (n > 64 && is_far(a, size, 2048));
  plan.packs_right = b_stored != Stored::as_summed || b.column != 1 || (m > 4 * most_rows && is_far(b, size, 1024));
  constexpr i64 left_bytes = tile_memory - most_vectors * i64{vector_bytes} * depth;  // what a panel leaves
  plan.rows = plan.packs_left ? rows_at_a_time<T, pairs>(m, left_bytes) : m;
  multiply_by<T, pairs>(plan, a, a_stored, Right{b, b_stored, nullptr}, static_cast<T*>(c), c_row, m, n, k, false,
                        reinterpret_cast<T*>(memory));
}

template <class T, bool pairs>
void multiply_panels(const Matrix& a, Stored a_stored, const Panels& b, void* c, i64 c_row, i64 m, i64 n, i64 k,
                     bool adds, std::byte* memory) {
  Plan plan{true, false, block_depth, rows_at_a_time<T, pairs>(m, tile_memory)};
  multiply_by<T, pairs>(plan, a, a_stored, Right{Matrix{}, Stored::as_summed, &b}, static_cast<T*>(c), c_row, m, n, k,
                        adds, reinterpret_cast<T*>(memory));
}

// Rows are read to their ends, since each may be a page of memory.
template <class T, bool pairs>
void pack_panels(const Matrix& b, Stored stored, i64 n, i64 depth, void* out) {
  constexpr int each = pairs ? 2 : 1;
  constexpr i64 panel = most_vectors * lanes<T>;
  auto from = Packing<T, pairs>::of(stored);
  bool by_rows = b.column == 1 && stored == Stored::as_summed;
  for (i64 p = 0; p < (by_rows ? depth : 1); ++p)
    for (i64 j = 0; j < n * each; j += panel) {
      i64 columns = least(panel, n * each - j), width = round_up(columns, lanes<T>);
      T* to = static_cast<T*>(out) + j * depth;
      if (by_rows) copy(reinterpret_cast<const T*>(b.data) + p * b.row * each + j, columns, to + p * width);
      else from.right(b.data + j / each * b.column * from.item, b.row, b.column, columns, depth, to);
    }
}

// c += left right for rows of two vectors, which steps are between.
template <class T>
void add(const T* left, i64 left_step, const T* right, i64 right_step, T* c, i64 c_step, i64 rows, i64 depth) {
  static constexpr Tiles<T, false> tiles;
  Steps steps{left_step, 1, right_step, c_step};
  i64 count = (rows + tiles.rows - 1) / tiles.rows, low = rows / count, higher = rows % count;
  for (i64 t = 0, i = 0; t < count; ++t) {
    i64 high = low + (t < higher);
    tiles.of[1][high - 1](left + i * left_step, right, c + i * c_step, steps, depth, lanes<T>, true);
    i += high;
  }
}

constexpr TileKernels make() {
  TileKernels k{};
  auto put = [&]<class T, bool pairs>(Sum sum) {
    auto i = static_cast<std::size_t>(sum);
    k.multiply[i] = &multiply<T, pairs>;
    k.multiply_panels[i] = &multiply_panels<T, pairs>;
    k.pack_panels[i] = &pack_panels<T, pairs>;
  };
  put.template operator()<f32, false>(Sum::f32);
  put.template operator()<f64, false>(Sum::f64);
  put.template operator()<f32, true>(Sum::c64);
  put.template operator()<f64, true>(Sum::c128);
  k.add_f32 = &add<f32>, k.add_f64 = &add<f64>;
  return k;
}

}  // namespace

SUANZI_TABLE(TileKernels, tile_kernels, make())

}  // namespace suanzi
