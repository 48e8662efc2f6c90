// native/kernels/nn/convolutions.cpp: nn 5: the loops of convolutions.
//
// The sums of a tile, of rows of weights by vectors of columns, fill the registers, and each is added up in the order
// of (channel, tap), multiplied and added in one operation where the level has it. Columns are copied whole vectors at
// a time, beyond their end, where the next ones overwrite them.
#include "kernels/common.inc"

#include "kernels/nn/convolutions.h"

#include "kernels/vectors/vector_memory.inc"
#if defined(__AVX512F__)
#include "kernels/vectors/matrix_unit_transpose.inc"
#endif

namespace suanzi {
namespace {

#if defined(__AVX512F__)
constexpr int tile_rows = 14, tile_vectors = 2, slots = 8;
#elif defined(__AVX2__)
constexpr int tile_rows = 6, tile_vectors = 2, slots = 8;
#elif defined(__aarch64__)
constexpr int tile_rows = 12, tile_vectors = 2, slots = 8;
#else
constexpr int tile_rows = 4, tile_vectors = 2, slots = 4;
#endif

template <class T>
inline Vector<T> all(T x) {
  return x - Vector<T>{};  // not a sum, which would be computed: -0 + 0 is 0
}
#if defined(__AVX512F__)
inline Vector<f32> add_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector<f64> add_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) { return _mm512_fmadd_pd(a, b, c); }
#elif defined(__AVX2__)
inline Vector<f32> add_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) { return _mm256_fmadd_ps(a, b, c); }
inline Vector<f64> add_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) { return _mm256_fmadd_pd(a, b, c); }
#elif defined(__aarch64__)
inline Vector<f32> add_product(Vector<f32> a, Vector<f32> b, Vector<f32> c) {
  return (Vector<f32>)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}
inline Vector<f64> add_product(Vector<f64> a, Vector<f64> b, Vector<f64> c) {
  return (Vector<f64>)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}
#else
template <class V>
inline V add_product(V a, V b, V c) {
  return a * b + c;
}
#endif

// body(i) for each i below count, all known to the compiler: what they index stays in registers.
template <int count, class F>
[[gnu::always_inline]] constexpr void unrolled(F&& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (body(std::integral_constant<int, i>{}), ...);
  }(std::make_integer_sequence<int, count>{});
}

template <class T, int rows, int vectors>
void tile(const void* a_, std::ptrdiff_t a_row, const void* b_, void* c_, std::ptrdiff_t c_row, i64 depth, bool adds) {
  using V = Vector<T>;
  // Rows are given by few pointers and multiples of their distance that an address can have.
  constexpr int group = 5, groups = (rows + group - 1) / group;
  std::ptrdiff_t row = a_row * static_cast<std::ptrdiff_t>(sizeof(T)), thrice = 3 * row;
  asm("" : "+r"(thrice));  // or it is added up in each step
  const std::byte* at[groups];
  unrolled<groups>([&](auto g) { at[g] = static_cast<const std::byte*>(a_) + g * group * row; });
  auto b = static_cast<const T*>(b_);
  auto c = static_cast<T*>(c_);
  if (adds)
    unrolled<rows>(
        [&](auto r) { unrolled<vectors>([&](auto v) { __builtin_prefetch(c + r * c_row + v * lanes<T>); }); });
  V sums[rows][vectors];
  unrolled<rows>([&](auto r) { unrolled<vectors>([&](auto v) { sums[r][v] = V{}; }); });
  for (i64 p = 0; p < depth; ++p, b += vectors * lanes<T>) {
    V right[vectors];
    unrolled<vectors>([&](auto v) {
      right[v] = load(b + v * lanes<T>);
#if defined(__AVX512F__)
      __builtin_prefetch(b + (v + 8 * vectors) * lanes<T>);  // from the second-level cache
#endif
    });
    unrolled<rows>([&](auto r) {
      constexpr int multiple = r % group;
      const std::byte* from = at[r / group] + (multiple == 3 ? thrice : multiple * row);
      V x = all<T>(*reinterpret_cast<const T*>(from));
      unrolled<vectors>([&](auto v) { sums[r][v] = add_product(x, right[v], sums[r][v]); });
    });
    unrolled<groups>([&](auto g) {
      at[g] += sizeof(T);
      asm("" : "+r"(at[g]));  // or there is a pointer for each row, on the stack
    });
  }
  unrolled<rows>([&](auto r) {
    unrolled<vectors>([&](auto v) {
      T* to = c + r * c_row + v * lanes<T>;
      store<T>(adds ? sums[r][v] + load(to) : sums[r][v], to);
    });
  });
}

// ---- columns ------------------------------------------------------------------------------------

// The first n elements of a vector and zeros.
template <class T>
inline Vector<T> load_some(const T* from, i64 n) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), from);
  else return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << n) - 1), from);
#else
  if (n == lanes<T>) return load(from);
  Vector<T> found{};
  std::memcpy(&found, from, static_cast<std::size_t>(n) * sizeof(T));
  return found;
#endif
}

// With `pieces`, there are as many.
template <class T, bool exact, int pieces>
void pack_rows(const T* planes, const Windows& w, i64 first, i64 depth, i64 width, T* out) {
  i64 taps = w.lines * w.across, c = first / taps, q = first % taps / w.across, x = first % w.across;
  i64 count = pieces ? pieces : w.count;
  for (i64 k = 0; k < depth; ++k, out += width) {
    const T* from = planes + c * w.plane + w.shifts[x];
    const i64* starts = w.starts + q * count;
    auto copy = [&](i64 i) {
      const T* line = from + starts[i];
      store<T>(exact ? load_some(line, w.pieces[i].length) : load(line), out + w.pieces[i].to);
    };
    if constexpr (pieces > 0) unrolled<pieces>([&](auto i) { copy(i); });
    else
      for (i64 i = 0; i < count; ++i) copy(i);
    if (++x == w.across) {
      x = 0;
      if (++q == w.lines) q = 0, ++c;
    }
  }
}

template <class T>
void pack(const void* planes, const Windows& windows, i64 first, i64 depth, i64 width, bool exact, void* out) {
  auto from = static_cast<const T*>(planes);
  auto to = static_cast<T*>(out);
  auto run = [&]<int pieces>() {
    if (exact) pack_rows<T, true, pieces>(from, windows, first, depth, width, to);
    else pack_rows<T, false, pieces>(from, windows, first, depth, width, to);
  };
  if (windows.count == 2) run.template operator()<2>();
  else if (windows.count == 3) run.template operator()<3>();
  else run.template operator()<0>();
}

#if defined(__AVX512F__)

template <int pieces>
void pack_pairs(const f32* planes, const Windows& w, i64 first, i64 depth, u32* out) {
  i64 taps = w.lines * w.across, c = first / taps, q = first % taps / w.across, x = first % w.across;
  i64 count = pieces ? pieces : w.count;
  struct Row {
    const f32* from;
    const i64* starts;
    __m512i bits(i64 i) const { return _mm512_loadu_si512(from + starts[i]); }
  };
  auto next = [&] {
    Row row{planes + c * w.plane + w.shifts[x], w.starts + q * count};
    if (++x == w.across) {
      x = 0;
      if (++q == w.lines) q = 0, ++c;
    }
    return row;
  };
  const __m512i upper = _mm512_set1_epi32(static_cast<int>(0xFFFF0000));
  for (i64 k = 0; k < depth; k += 2, out += 16) {
    Row even = next(), odd = k + 1 < depth ? next() : even;
    __m512i mask = k + 1 < depth ? upper : _mm512_setzero_si512();
    auto combine = [&](i64 i) {
      __m512i low = _mm512_srli_epi32(even.bits(i), 16), high = _mm512_and_si512(odd.bits(i), mask);
      _mm512_storeu_si512(out + w.pieces[i].to, _mm512_or_si512(low, high));
    };
    if constexpr (pieces > 0) unrolled<pieces>([&](auto i) { combine(i); });
    else
      for (i64 i = 0; i < count; ++i) combine(i);
  }
  i64 rest = (depth + 31) / 32 * 16 - (depth + 1) / 2;
  std::memset(out, 0, static_cast<std::size_t>(rest) * 64);
}

void pack_places(const void* planes, const Windows& w, i64 first, i64 depth, u32* out) {
  auto from = static_cast<const f32*>(planes);
  if (w.count == 1) pack_pairs<1>(from, w, first, depth, out);
  else if (w.count == 2) pack_pairs<2>(from, w, first, depth, out);
  else pack_pairs<0>(from, w, first, depth, out);
}

#endif

#if defined(__AVX512F__)

inline __mmask16 first_lanes(i64 n) { return static_cast<__mmask16>(n >= 16 ? 0xFFFF : (1u << n) - 1); }

void pair_line(const void* even_, const void* odd_, i64 n, i64 before, i64 width, u32* out) {
  auto even = static_cast<const u16*>(even_), odd = static_cast<const u16*>(odd_);
  for (i64 i = 0; i < before; i += 16) _mm512_storeu_si512(out + i, _mm512_setzero_si512());
  out += before;
  i64 i = 0, rest = width - before;
  for (; i < n; i += 16) {
    __mmask16 there = first_lanes(n - i);
    __m512i found = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, even + i));
    if (odd) {
      __m512i other = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(there, odd + i));
      found = _mm512_or_si512(found, _mm512_slli_epi32(other, 16));
    }
    _mm512_storeu_si512(out + i, found);
  }
  for (; i < rest; i += 16) _mm512_storeu_si512(out + i, _mm512_setzero_si512());
}

void short_line(const void* from_, i64 n, i64 before, i64 width, u16* out) {
  auto from = static_cast<const u16*>(from_);
  for (i64 i = 0; i < before; i += 32) _mm512_storeu_si512(out + i, _mm512_setzero_si512());
  out += before;
  i64 i = 0, rest = width - before;
  for (; i < n; i += 32) {
    auto there = static_cast<__mmask32>(n - i >= 32 ? ~u32{0} : (u32{1} << (n - i)) - 1);
    _mm512_storeu_si512(out + i, _mm512_maskz_loadu_epi16(there, from + i));
  }
  for (; i < rest; i += 32) _mm512_storeu_si512(out + i, _mm512_setzero_si512());
}

void pair_columns(const u16* lines, i64 pitch, i64 count_of_lines, i64 count, u32* out) {
  for (i64 i = 0; i < count; i += 16) {
    __m512i x[16];
    unrolled<16>([&](auto c) {
      x[c] = _mm512_setzero_si512();
      if (c < count_of_lines) {
        const u16* from = lines + c * pitch + i;
        __m256i one = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
        __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 1));
        x[c] = _mm512_or_si512(_mm512_cvtepu16_epi32(one), _mm512_slli_epi32(_mm512_cvtepu16_epi32(next), 16));
      }
    });
    transpose(x);
    unrolled<16>([&](auto p) { _mm512_storeu_si512(out + (i + p) * 16, x[p]); });
  }
}

// Of 32 channels, every vector has some elements of each tap: one permutation each.
void pick_taps(const u16* weights, i64 stride, i64 rows, i64 channels, i64 taps, u16* out) {
  constexpr i64 most = 9, each = 32;
  alignas(64) u16 from[most][most][each];
  u32 there[most][most] = {};
  bool in_vectors = taps > 1 && taps <= most;
  for (i64 t = 0; t < taps && in_vectors; ++t)
    for (i64 c = 0; c < each; ++c) {
      i64 at = c * taps + t, v = at / each;
      from[t][v][c] = static_cast<u16>(at % each);
      there[t][v] |= u32{1} << c;
    }
  for (i64 row = 0; row < rows; ++row, weights += stride)
    for (i64 first = 0; first < channels; first += each) {
      const u16* its = weights + first * taps;
      u16* to = out + first * taps * 16 + row * each;
      i64 n = channels - first < each ? channels - first : each;
      if (taps == 1 && n == each) {
        _mm512_storeu_si512(to, _mm512_loadu_si512(its));
        continue;
      }
      if (!in_vectors || n < each) {
        for (i64 t = 0; t < taps; ++t)
          for (i64 c = 0; c < n; ++c) to[t * 512 + c] = its[c * taps + t];
        continue;
      }
      __m512i x[most];
      for (i64 v = 0; v < taps; ++v) x[v] = _mm512_loadu_si512(its + v * each);
      for (i64 t = 0; t < taps; ++t) {
        __m512i found = _mm512_setzero_si512();
        for (i64 v = 0; v < taps; ++v)
          found = _mm512_mask_permutexvar_epi16(found, there[t][v], _mm512_load_si512(from[t][v]), x[v]);
        _mm512_storeu_si512(to + t * 512, found);
      }
    }
}

void store_lines(const f32* sums, i64 pitch, const f32* number, i64 lines, i64 n, u16* out) {
  const __m512 by = _mm512_set1_ps(number ? *number : 0);
  const __m512i half = _mm512_set1_epi32(0x7FFF), one = _mm512_set1_epi32(1), sign = _mm512_set1_epi32(1 << 31);
  for (i64 line = 0; line < lines; ++line, sums += pitch, out += n)
    for (i64 i = 0; i < n; i += 16) {
      __mmask16 there = first_lanes(n - i);
      __m512 x = _mm512_maskz_loadu_ps(there, sums + i);
      if (number) x = _mm512_add_ps(x, by);
      __m512i bits = _mm512_castps_si512(x), odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), one);
      __m512i made = _mm512_add_epi32(bits, _mm512_add_epi32(half, odd));
      __mmask16 none = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
      made = _mm512_mask_or_epi32(made, none, _mm512_and_si512(bits, sign), _mm512_set1_epi32(0x7FC00000));
      _mm256_mask_storeu_epi16(out + i, there, _mm512_cvtepi32_epi16(_mm512_srli_epi32(made, 16)));
    }
}

#endif

// Several vectors at once, also of different lines, so that their sums do not wait for one another. What is missing in
// the last group is the last vector again.
template <class T>
void direct(const void* planes_, const Windows& w, i64 channels, const void* weights_, void* out_) {
  using V = Vector<T>;
  auto planes = static_cast<const T*>(planes_);
  auto weights = static_cast<const T*>(weights_);
  auto out = static_cast<T*>(out_);
  for (i64 piece = 0; piece < w.count; piece += slots) {
    i64 at[slots];
    for (int i = 0; i < slots; ++i) at[i] = piece + i < w.count ? piece + i : w.count - 1;
    V sums[slots];
    unrolled<slots>([&](auto i) { sums[i] = V{}; });
    const T* weight = weights;
    for (i64 c = 0; c < channels; ++c)
      for (i64 q = 0; q < w.lines; ++q) {
        const T* from[slots];
        unrolled<slots>([&](auto i) { from[i] = planes + c * w.plane + w.starts[q * w.count + at[i]]; });
        for (i64 x = 0; x < w.across; ++x, ++weight) {
          V one = all<T>(*weight);
          i64 far = w.shifts[x];
          unrolled<slots>([&](auto i) { sums[i] = add_product(one, load(from[i] + far), sums[i]); });
        }
      }
    unrolled<slots>([&](auto i) { store<T>(sums[i], out + w.pieces[at[i]].to); });
  }
}

// bfloat16 is the upper half of a float.
inline Vector<f32> load_upper(const u16* from, i64 n) {
#if defined(__AVX512F__)
  __m256i some = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(some), 16));
#else
  typedef u32 Bits __attribute__((vector_size(vector_bytes)));
  Bits found{};
  for (i64 i = 0; i < n; ++i) found[i] = u32{from[i]} << 16;
  return reinterpret_cast<Vector<f32>>(found);
#endif
}

template <class T, class S>
void line(const void* from_, i64 n, i64 before, i64 width, void* out_) {
  auto from = static_cast<const S*>(from_);
  auto out = static_cast<T*>(out_);
  for (i64 i = 0; i < before; i += lanes<T>) store<T>(Vector<T>{}, out + i);
  out += before;
  i64 i = 0, rest = width - before;
  for (; i < n; i += lanes<T>) {
    i64 some = n - i < lanes<T> ? n - i : lanes<T>;
    if constexpr (!std::is_same_v<S, T>) store<T>(load_upper(from + i, some), out + i);
    else store<T>(some == lanes<T> ? load(from + i) : load_some(from + i, some), out + i);
  }
  for (; i < rest; i += lanes<T>) store<T>(Vector<T>{}, out + i);
}

template <class T>
void shift(const void* from_, const void* number, void* to_, i64 n) {
  auto from = static_cast<const T*>(from_);
  auto to = static_cast<T*>(to_);
  T by = *static_cast<const T*>(number);
  SUANZI_LOOP
  for (i64 i = 0; i < n; ++i) to[i] = from[i] + by;
}

template <class T>
void add(const void* from_, void* to_, i64 step, i64 n) {
  auto from = static_cast<const T*>(from_);
  auto to = static_cast<T*>(to_);
  if (step == 1) {
    SUANZI_LOOP
    for (i64 i = 0; i < n; ++i) to[i] += from[i];
  } else {
    for (i64 i = 0; i < n; ++i) to[i * step] += from[i];
  }
}

template <class T>
constexpr ConvolutionLoops make() {
  ConvolutionLoops k{};
  k.rows = tile_rows, k.vectors = tile_vectors, k.lanes = lanes<T>;
  unrolled<tile_vectors>([&](auto v) { unrolled<tile_rows>([&](auto r) { k.tile[v][r] = &tile<T, r + 1, v + 1>; }); });
  k.pack = &pack<T>;
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) k.pack_places = &pack_places;
#endif
  k.direct = &direct<T>;
  k.line = &line<T, T>;
  if constexpr (sizeof(T) == 4) k.line_of_bfloat16 = &line<T, u16>;
  k.shift = &shift<T>;
  k.add = &add<T>;
  return k;
}

constexpr UnitLoops unit_loops() {
#if defined(__AVX512F__)
  return {&pair_line, &short_line, &pair_columns, &pick_taps, &store_lines};
#else
  return {};
#endif
}

}  // namespace
}  // namespace suanzi

#include "kernels/nn/convolutions_depthwise.inc"
#include "kernels/nn/convolutions_pixels.inc"

namespace suanzi {

SUANZI_TABLE(ConvolutionKernels, convolution_kernels,
             {{make<f32>(), make<f64>()}, unit_loops(), pixel_loops(), depthwise_loop})

}  // namespace suanzi
