// native/kernels/linear_algebra/products.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: sums of products.
//
// Multiplication and addition are two operations everywhere, and the order of additions is fixed,
// so that every level gives the same bits.
#include "kernels/common.inc"

#include "kernels/linear_algebra/products_tiles.h"

#include "kernels/vectors/vector_memory.inc"

namespace suanzi {
namespace {

#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int tile_rows = 8;
#else
constexpr int tile_rows = 4;
#endif
constexpr int tile_vectors = 2;
// Vectors that fill a line of the cache.
constexpr std::size_t line_vectors = 64 / vector_bytes;

// std::min is a function that the linker may take from another level.
inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

#if defined(__AVX512F__)
// bfloat16, the upper half of a float32.
struct Brain {
  u16 bits;
  explicit operator f32() const { return bit_cast<f32>(u32{bits} << 16); }
};
inline Vector<f32> load(const Brain* from) {
  __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}
#endif

// ---- elements -----------------------------------------------------------------------------------

// u16 would be multiplied as int, which may overflow.
template <class T>
inline T times(T a, T b) {
  if constexpr (is_complex<T>)
    return {rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
  else if constexpr (std::is_same_v<T, u16>) return static_cast<u16>(u32{a} * u32{b});
  else return a * b;
}
template <class T>
inline T plus(T a, T b) {
  if constexpr (is_complex<T>) return {a.re + b.re, a.im + b.im};
  else return static_cast<T>(a + b);
}

// ---- vectors ------------------------------------------------------------------------------------

// As many running sums as fill some registers of every level, added up by halves at the end.
constexpr int sums_bytes = 256;

template <class T>
T add_up(T* sums, std::size_t count) {
  for (std::size_t half = count / 2; half > 0; half /= 2)
    for (std::size_t j = 0; j < half; ++j) sums[j] = static_cast<T>(sums[j] + sums[j + half]);
  return sums[0];
}

}  // namespace
}  // namespace suanzi

#include "kernels/linear_algebra/products_bytes.inc"
#include "kernels/linear_algebra/products_dots.inc"
#include "kernels/linear_algebra/products_rows.inc"
#include "kernels/linear_algebra/products_small.inc"

namespace suanzi {
namespace {

// Vectors of (re, im, re, im, ...) times each other, and times each other's parts exchanged.
template <class T>
void dot_complex(const T* a, const T* b, T* out, std::size_t n) {
  constexpr std::size_t width = sums_bytes / sizeof(T), vectors = sums_bytes / vector_bytes,
                        lanes = vector_bytes / sizeof(T);
  auto exchanged = []<std::size_t... j>(Vector<T> x, std::index_sequence<j...>) { return shuffled<(j ^ 1)...>(x, x); };
  Vector<T> straight[vectors] = {}, crossed[vectors] = {};
  std::size_t i = 0;
  n *= 2;
  for (; i + width <= n; i += width) {
    for (std::size_t v = 0; v < vectors; ++v) {
      Vector<T> x = load(a + i + v * lanes), y = load(b + i + v * lanes);
      straight[v] += x * y;
      crossed[v] += x * exchanged(y, std::make_index_sequence<lanes>{});
    }
  }
  T real[width], imaginary[width];
  std::memcpy(real, straight, sizeof real);
  std::memcpy(imaginary, crossed, sizeof imaginary);
  for (std::size_t j = 0; i < n; ++i, ++j) {
    real[j] += a[i] * b[i];
    imaginary[j] += a[i] * b[i ^ 1];
  }
  for (std::size_t j = 1; j < width; j += 2) real[j] = -real[j];
  out[0] = add_up(real, width);
  out[1] = add_up(imaginary, width);
}

template <class T>
void dots_complex(const void* rows_, std::ptrdiff_t stride, std::size_t count, const void* b, void* out_,
                  std::size_t n) {
  auto rows = static_cast<const std::byte*>(rows_);
  auto out = static_cast<T*>(out_);
  for (; count > 0; --count, rows += stride, out += 2)
    dot_complex(reinterpret_cast<const T*>(rows), static_cast<const T*>(b), out, n);
}

template <class T>
void add(const void* x_, bool repeats, void* y_, std::size_t n) {
  auto x = static_cast<const T*>(x_);
  auto y = static_cast<T*>(y_);
  if (repeats) {
    T one = x[0];
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) y[i] = plus(y[i], one);
  } else {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) y[i] = plus(y[i], x[i]);
  }
}

// ---- matrices -----------------------------------------------------------------------------------
//
// Blocks of both operands are packed into panels that the first- and second-level caches hold, and
// multiplied tile by tile, with the sums of a tile in registers.

constexpr std::int64_t panel_depth = 128;
constexpr std::size_t left_bytes = 32 << 10, right_bytes = 128 << 10;

// How elements are packed and multiplied: T is what a packed place holds, and `sum` what is added up.
template <class T>
struct Plain {
  using Element = T;
  using Packed = T;
  static constexpr std::int64_t depth = 1;  // elements along k in a packed place
  static Packed pack(const T* from, std::int64_t, std::int64_t) { return *from; }
  static Vector<T> step(Vector<T> sum, T a, Vector<T> b) { return sum + a * b; }
};

// Two int16 in a place, multiplied and added up to an int32 by one instruction of every x86.
struct Pairs {
  using Element = i16;
  using Packed = u32;
  static constexpr std::int64_t depth = 2;
  static Packed pack(const i16* from, std::int64_t stride, std::int64_t left) {
    return static_cast<u16>(*from) | (left > 1 ? u32{static_cast<u16>(from[stride])} << 16 : 0);
  }
  static Vector<u32> step(Vector<u32> sum, u32 a, Vector<u32> b) {
#if defined(__AVX512BW__)
    return sum + reinterpret_cast<Vector<u32>>(
                     _mm512_madd_epi16(_mm512_set1_epi32(static_cast<int>(a)), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
    return sum + reinterpret_cast<Vector<u32>>(
                     _mm256_madd_epi16(_mm256_set1_epi32(static_cast<int>(a)), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
    return sum + reinterpret_cast<Vector<u32>>(
                     _mm_madd_epi16(_mm_set1_epi32(static_cast<int>(a)), reinterpret_cast<__m128i>(b)));
#else
    // Shifting by 16 as unsigned, then as signed, is the sign of the lower half.
    typedef i32 Signed __attribute__((vector_size(vector_bytes)));
    i32 low = static_cast<i16>(a & 0xFFFF), high = static_cast<i16>(a >> 16);
    Vector<u32> lows = reinterpret_cast<Vector<u32>>(reinterpret_cast<Signed>(b << 16) >> 16);
    Vector<u32> highs = reinterpret_cast<Vector<u32>>(reinterpret_cast<Signed>(b) >> 16);
    return sum + lows * static_cast<u32>(low) + highs * static_cast<u32>(high);
#endif
  }
#if defined(__aarch64__)
  // Four rows at once: its instruction takes one lane of an operand for all of the other.
  static void four_steps(Vector<u32> (*sums)[tile_vectors], const u32* a, const Vector<u32>* b) {
    static_assert(tile_vectors == 2);
    int16x8_t left = vreinterpretq_s16_u32(vld1q_u32(a)), first = (int16x8_t)b[0], second = (int16x8_t)b[1];
    int16x8_t even = vuzp1q_s16(first, second), odd = vuzp2q_s16(first, second);
    add_products<0>(sums[0], left, even, odd);
    add_products<1>(sums[1], left, even, odd);
    add_products<2>(sums[2], left, even, odd);
    add_products<3>(sums[3], left, even, odd);
  }

 private:
  template <int row>
  static void add_products(Vector<u32> (&sums)[tile_vectors], int16x8_t a, int16x8_t even, int16x8_t odd) {
    auto low = (int32x4_t)sums[0], high = (int32x4_t)sums[1];
    low = vmlal_laneq_s16(low, vget_low_s16(even), a, 2 * row);
    high = vmlal_high_laneq_s16(high, even, a, 2 * row);
    sums[0] = (Vector<u32>)vmlal_laneq_s16(low, vget_low_s16(odd), a, 2 * row + 1);
    sums[1] = (Vector<u32>)vmlal_high_laneq_s16(high, odd, a, 2 * row + 1);
  }
#endif
};

#if defined(__ARM_FEATURE_DOTPROD)
// Four bytes in a place, multiplied and added up to 32 bits by one instruction.
template <bool is_signed>
struct Fours {
  using Element = u8;
  using Packed = u32;
  static constexpr std::int64_t depth = 4;
  static Packed pack(const u8* from, std::int64_t stride, std::int64_t left) {
    u32 found = *from;
    for (int i = 1; i < 4; ++i) found |= left > i ? u32{from[i * stride]} << 8 * i : 0;
    return found;
  }
  static void four_steps(Vector<u32> (*sums)[tile_vectors], const u32* a, const Vector<u32>* b) {
    uint32x4_t left = vld1q_u32(a);
    for (int j = 0; j < tile_vectors; ++j) {
      sums[0][j] = step<0>(sums[0][j], left, b[j]);
      sums[1][j] = step<1>(sums[1][j], left, b[j]);
      sums[2][j] = step<2>(sums[2][j], left, b[j]);
      sums[3][j] = step<3>(sums[3][j], left, b[j]);
    }
  }

 private:
  template <int place>
  static Vector<u32> step(Vector<u32> sum, uint32x4_t a, Vector<u32> b) {
    auto y = (uint32x4_t)b;
    if constexpr (is_signed)
      return (Vector<u32>)vdotq_laneq_s32((int32x4_t)sum, vreinterpretq_s8_u32(y), vreinterpretq_s8_u32(a), place);
    else return (Vector<u32>)vdotq_laneq_u32((uint32x4_t)sum, vreinterpretq_u8_u32(y), vreinterpretq_u8_u32(a), place);
  }
};
#endif

// Panels of `width` columns (rows, for the left operand), one behind the other; what is missing is 0.
template <class How, int width>
void pack(const Matrix& m, std::int64_t across, std::int64_t along, std::int64_t across_count, std::int64_t along_count,
          typename How::Packed* out) {
  using Element = typename How::Element;
  auto data = reinterpret_cast<const Element*>(m.data);
  for (std::int64_t first = 0; first < across_count; first += width) {
    std::int64_t there = least(width, across_count - first);
    const Element* panel = data + first * across;
    if (across == 1 && there == width) {
      for (std::int64_t p = 0; p < along_count; p += How::depth, out += width) {
        const Element* from = panel + p * along;
        SUANZI_LOOP
        for (int i = 0; i < width; ++i) out[i] = How::pack(from + i, along, along_count - p);
      }
      continue;
    }
    std::int64_t places = (along_count + How::depth - 1) / How::depth, packed = 0;
#if defined(__aarch64__)
    if constexpr (How::depth == 1 && sizeof(Element) == 4 && width == 8)
      if (along == 1 && there == width) {
        packed = along_count / 4 * 4;
        pack_transposed(reinterpret_cast<const u32*>(panel), across, packed, reinterpret_cast<u32*>(out));
      }
#endif
    if (there < width) std::memset(out, 0, static_cast<std::size_t>(places * width) * sizeof *out);
    for (std::int64_t i = 0; i < there; ++i) {
      const Element* from = panel + i * across;
      for (std::int64_t p = packed, to = i + packed * width; p < along_count; p += How::depth, to += width)
        out[to] = How::pack(from + p * along, along, along_count - p);
    }
    out += places * width;
  }
}

template <class How>
struct Tile {
  using Packed = typename How::Packed;
  using V = Vector<Packed>;
  static constexpr int lanes = vector_bytes / sizeof(Packed);
  static constexpr int rows = tile_rows, columns = tile_vectors * lanes;
#if defined(__aarch64__)
  static constexpr bool has_half_tiles = true;
#else
  static constexpr bool has_half_tiles = false;
#endif

  // What is at the edges, of which ARM leaves out the half of the rows or columns that do not exist.
  static void multiply(const Packed* a, const Packed* b, std::int64_t places, Packed* c, std::int64_t c_row, int m,
                       int n, bool adds) {
    constexpr bool can_be_narrow = requires(V v, Packed x) { How::step(v, x, v); };
    auto run = [&]<int some, int vectors>() { multiply_some<some, vectors>(a, b, places, c, c_row, m, n, adds); };
    if constexpr (has_half_tiles) {
      bool is_low = m <= rows / 2;
      if constexpr (can_be_narrow)
        if (n <= lanes) return is_low ? run.template operator()<rows / 2, 1>() : run.template operator()<rows, 1>();
      if (is_low) return run.template operator()<rows / 2, tile_vectors>();
    }
    run.template operator()<rows, tile_vectors>();
  }

 private:
  template <int some, int vectors>
  static void multiply_some(const Packed* a, const Packed* b, std::int64_t places, Packed* c, std::int64_t c_row, int m,
                            int n, bool adds) {
    constexpr int wide = vectors * lanes;
    V sums[some][vectors] = {};
    alignas(64) Packed edge[some][wide];
    bool whole = m == some && n == wide;
    if (adds) {
      if (!whole) {
        std::memset(edge, 0, sizeof edge);
        for (int i = 0; i < m; ++i) std::memcpy(edge[i], c + i * c_row, static_cast<std::size_t>(n) * sizeof(Packed));
      }
      for (int i = 0; i < some; ++i) std::memcpy(sums[i], whole ? c + i * c_row : edge[i], sizeof sums[i]);
    }
    for (std::int64_t p = 0; p < places; ++p, a += rows, b += columns) {
      V right[vectors];
      for (int j = 0; j < vectors; ++j) right[j] = load(b + j * lanes);
      if constexpr (requires { How::four_steps(sums, a, right); })
        for (int i = 0; i < some; i += 4) How::four_steps(sums + i, a + i, right);
      else
        for (int i = 0; i < some; ++i)
          for (int j = 0; j < vectors; ++j) sums[i][j] = How::step(sums[i][j], a[i], right[j]);
    }
    if (whole) {
      for (int i = 0; i < some; ++i) std::memcpy(c + i * c_row, sums[i], sizeof sums[i]);
    } else {
      std::memcpy(edge, sums, sizeof edge);
      for (int i = 0; i < m; ++i) std::memcpy(c + i * c_row, edge[i], static_cast<std::size_t>(n) * sizeof(Packed));
    }
  }
};

template <class How>
void multiply(const Matrix& a, const Matrix& b, void* c_, std::int64_t c_row, std::int64_t m, std::int64_t n,
              std::int64_t k, bool adds) {
  using T = Tile<How>;
  using Packed = typename How::Packed;
  if constexpr (How::depth == 1)
    if (m * n * k <= direct_work) return multiply_directly(a, b, static_cast<Packed*>(c_), c_row, m, n, k, adds);
  constexpr std::int64_t size = sizeof(Packed), deep = panel_depth * How::depth;
  constexpr std::int64_t left_rows = left_bytes / size / panel_depth / T::rows * T::rows;
  constexpr std::int64_t right_columns = right_bytes / size / panel_depth / T::columns * T::columns;
  alignas(64) Packed left[left_bytes / size];
  alignas(64) Packed right[right_bytes / size];
  auto c = static_cast<Packed*>(c_);
  constexpr std::int64_t item = sizeof(typename How::Element);
  for (std::int64_t j0 = 0; j0 < n; j0 += right_columns) {
    std::int64_t columns = least(right_columns, n - j0);
    for (std::int64_t p0 = 0; p0 < k; p0 += deep) {
      std::int64_t depth = least(deep, k - p0), places = (depth + How::depth - 1) / How::depth;
      Matrix part{b.data + (p0 * b.row + j0 * b.column) * item, b.row, b.column};
      pack<How, T::columns>(part, b.column, b.row, columns, depth, right);
      for (std::int64_t i0 = 0; i0 < m; i0 += left_rows) {
        std::int64_t rows = least(left_rows, m - i0);
        Matrix some{a.data + (i0 * a.row + p0 * a.column) * item, a.row, a.column};
        pack<How, T::rows>(some, a.row, a.column, rows, depth, left);
        for (std::int64_t j = 0; j < columns; j += T::columns)
          for (std::int64_t i = 0; i < rows; i += T::rows)
            T::multiply(left + i * places, right + j * places, places, c + (i0 + i) * c_row + j0 + j, c_row,
                        static_cast<int>(least(T::rows, rows - i)), static_cast<int>(least(T::columns, columns - j)),
                        adds || p0 > 0);
      }
    }
  }
}

// Complex matrices that are too small for BLAS.
template <class T>
void multiply_complex(const Matrix& a, const Matrix& b, void* c_, std::int64_t c_row, std::int64_t m, std::int64_t n,
                      std::int64_t k, bool adds) {
  auto left = reinterpret_cast<const T*>(a.data), right = reinterpret_cast<const T*>(b.data);
  constexpr std::int64_t width = 32;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j0 = 0; j0 < n; j0 += width) {
      std::int64_t columns = least(width, n - j0);
      T* c = static_cast<T*>(c_) + i * c_row + j0;
      T sums[width] = {};
      if (adds) std::memcpy(sums, c, static_cast<std::size_t>(columns) * sizeof(T));
      for (std::int64_t p = 0; p < k; ++p) {
        T x = left[i * a.row + p * a.column];
        const T* row = right + p * b.row + j0 * b.column;
        if (b.column == 1) {
          SUANZI_LOOP
          for (std::int64_t j = 0; j < columns; ++j) sums[j] = plus(sums[j], times(x, row[j]));
        } else {
          for (std::int64_t j = 0; j < columns; ++j) sums[j] = plus(sums[j], times(x, row[j * b.column]));
        }
      }
      std::memcpy(c, sums, static_cast<std::size_t>(columns) * sizeof(T));
    }
  }
}

template <class T>
void fill(ProductKernels& k, Sum sum) {
  auto i = static_cast<std::size_t>(sum);
  if constexpr (is_complex<T>) k.dots[i] = &dots_complex<Part<T>>;
  else if constexpr (sizeof(T) == 1) k.dots[i] = &dots_bytes;
  else k.dots[i] = &dots<T>;
  k.add_rows[i] = &add_rows<T>;
  k.add[i] = &add<T>;
  if constexpr (is_complex<T>) k.multiply[i] = &multiply_complex<T>;
  else if constexpr (sizeof(T) > 1) k.multiply[i] = &multiply<Plain<T>>;
}

ProductKernels make() {
  ProductKernels k{};
  fill<u8>(k, Sum::w8);
  fill<u16>(k, Sum::w16);
  fill<u32>(k, Sum::w32);
  fill<u64>(k, Sum::w64);
  fill<f32>(k, Sum::f32);
  fill<f64>(k, Sum::f64);
  fill<c64>(k, Sum::c64);
  fill<c128>(k, Sum::c128);
  k.rows_at_once = rows_at_once;
  k.multiply_pairs = &multiply<Pairs>;
#if defined(__ARM_FEATURE_DOTPROD)
  k.multiply_bytes[0] = &multiply<Fours<true>>;
  k.multiply_bytes[1] = &multiply<Fours<false>>;
#endif
#if defined(__AVX512F__)
  k.dots_of_bf16 = &dots<f32, Brain>;
  k.add_rows_of_bf16 = &add_rows<f32, Brain>;
  avx512_add_products(k);
  k.tiles = &avx512_tile_kernels();
#endif
  return k;
}

}  // namespace

SUANZI_TABLE(ProductKernels, product_kernels, make())

}  // namespace suanzi
