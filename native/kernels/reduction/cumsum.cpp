// native/kernels/reduction/cumsum.cpp: 7.2.13.2: cumulative sums.
//
// Groups of 16 are summed in registers by doubling the distance, then on top of the sums of earlier groups, level by
// level (see reduction.h): errors grow with the logarithm, and the bits do not depend on threads.
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/vectors/bfloat_neon.inc"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

using State = CumulativeSum::State;
using V = Vector<f64>;
constexpr std::size_t lanes = vector_bytes / sizeof(f64), group = 16, group_vectors = group / lanes;

// ---- a vector of elements, and back -------------------------------------------------------------

struct Double {
  using Stored = f64;
  static void load(const f64* in, V& out) noexcept { std::memcpy(&out, in, sizeof out); }
  static void store(V x, f64* out) noexcept { std::memcpy(out, &x, sizeof x); }
};

struct Single {
  using Stored = f32;
  using Half = Vector<f32, vector_bytes / 2>;
  static void load(const f32* in, V& out) noexcept {
    Half x;
    std::memcpy(&x, in, sizeof x);
    out = __builtin_convertvector(x, V);
  }
  static void store(V x, f32* out) noexcept {
    Half made = __builtin_convertvector(x, Half);
    std::memcpy(out, &made, sizeof made);
  }
};

// As to_odd_one.
inline Single::Half to_odd(V x) noexcept {
#if defined(__aarch64__)
  return (Single::Half)vcvtx_f32_f64(x);
#else
  using Mask = Vector<i32, vector_bytes / 2>;
  Single::Half nearest = __builtin_convertvector(x, Single::Half);
  V back = __builtin_convertvector(nearest, V), size = x < 0 ? -x : x, size_back = back < 0 ? -back : back;
  Mask inexact = __builtin_convertvector((back != x) & (x == x), Mask);
  Mask beyond = __builtin_convertvector(size_back > size, Mask);
  Mask bits = reinterpret_cast<Mask>(nearest);
  return reinterpret_cast<Single::Half>((bits + (beyond & inexact)) | (inexact & 1));
#endif
}

#if defined(__AVX512F__)
// The formats of 16 bits, as vectors: the compiler does not find them in loops this short.
inline void load_half(const u16* in, V& out) noexcept {
  out = _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in))));
}
inline void store_half(V x, u16* out) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtps_ph(to_odd(x), _MM_FROUND_TO_NEAREST_INT));
}
inline void load_brain(const u16* in, V& out) noexcept {
  __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in)));
  out = _mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32(wide, 16)));
}
inline void store_brain(V x, u16* out) noexcept {
  using Bits = Vector<u32, 32>;
  Bits bits = reinterpret_cast<Bits>(to_odd(x));
  Bits rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16, nan = ((bits >> 16) & 0x8000) | 0x7FC0;
  Bits made = (bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_cvtepi32_epi16(reinterpret_cast<__m256i>(made)));
}
#endif

#if defined(__aarch64__)
// Two at a time; the instruction that narrows to float32 rounds to odd by itself.
inline void load_half(const u16* in, V& out) noexcept {
  u16 some[4] = {in[0], in[1]};
  out = vcvt_f64_f32(vget_low_f32(widen_half(some)));
}
inline void store_half(V x, u16* out) noexcept {
  u16 some[4];
  narrow_half(vcombine_f32(vcvtx_f32_f64(x), vdup_n_f32(0)), some);
  std::memcpy(out, some, 2 * sizeof *out);
}

// A group: four float32 at a time go to two vectors and come back.
inline void widen(float32x4_t x, V* out) noexcept {
  out[0] = vcvt_f64_f32(vget_low_f32(x));
  out[1] = vcvt_high_f64_f32(x);
}
inline float32x4_t odd(const V* x) noexcept { return vcvtx_high_f32_f64(vcvtx_f32_f64(x[0]), x[1]); }

inline void load_group(const f32* in, V (&out)[group_vectors], Single) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 2) widen(vld1q_f32(in + 2 * i), out + i);
}
inline void store_group(const V (&x)[group_vectors], f32* out, Single) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 2)
    vst1q_f32(out + 2 * i, vcvt_high_f32_f64(vcvt_f32_f64(x[i]), x[i + 1]));
}
#endif

template <Narrow format>
struct Small {
  using Stored = typename Format<format>::bits;
  static void load(const Stored* in, V& out) noexcept {
    alignas(64) f32 found[lanes];
#if defined(__AVX512F__)
    if constexpr (format == Narrow::float16) return load_half(in, out);
    if constexpr (format == Narrow::bfloat16) return load_brain(in, out);
#elif defined(__aarch64__)
    if constexpr (format == Narrow::float16) return load_half(in, out);
#endif
    for (std::size_t i = 0; i < lanes; ++i) found[i] = widen_one<format>(in[i]);
    Single::load(found, out);
  }
  static void store(V x, Stored* out) noexcept {
#if defined(__AVX512F__)
    if constexpr (format == Narrow::float16) return store_half(x, out);
    if constexpr (format == Narrow::bfloat16) return store_brain(x, out);
#elif defined(__aarch64__)
    if constexpr (format == Narrow::float16) return store_half(x, out);
#endif
    Single::Half made = to_odd(x);
    alignas(64) f32 found[lanes];
    std::memcpy(found, &made, sizeof made);
    for (std::size_t i = 0; i < lanes; ++i) out[i] = narrow_one<format>(found[i]);
  }
};

#if defined(__aarch64__)
using Half = Small<Narrow::float16>;
using Brain = Small<Narrow::bfloat16>;

inline void load_group(const u16* in, V (&out)[group_vectors], Half) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 2) widen(widen_half(in + 2 * i), out + i);
}
inline void store_group(const V (&x)[group_vectors], u16* out, Half) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 2) narrow_half(odd(x + i), out + 2 * i);
}
inline void load_group(const u16* in, V (&out)[group_vectors], Brain) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 4) {
    uint16x8_t x = vld1q_u16(in + 2 * i), zeros = vdupq_n_u16(0);
    widen(vreinterpretq_f32_u16(vzip1q_u16(zeros, x)), out + i);
    widen(vreinterpretq_f32_u16(vzip2q_u16(zeros, x)), out + i + 2);
  }
}
// Of NaN the lower half is 0, as the elements are bfloat16, and narrow_numbers keeps it.
inline void store_group(const V (&x)[group_vectors], u16* out, Brain) noexcept {
  for (std::size_t i = 0; i < group_vectors; i += 4) vst1q_u16(out + 2 * i, narrow_numbers(odd(x + i), odd(x + i + 2)));
}
#endif

template <class C>
inline void load_group(const typename C::Stored* in, V (&out)[group_vectors], C) noexcept {
  for (std::size_t i = 0; i < group_vectors; ++i) C::load(in + i * lanes, out[i]);
}
template <class C>
inline void store_group(const V (&x)[group_vectors], typename C::Stored* out, C) noexcept {
  for (std::size_t i = 0; i < group_vectors; ++i) C::store(x[i], out + i * lanes);
}

// One number in all lanes; the others are -0, which changes no sum.
inline V spread(f64 x) noexcept { return x - V{}; }

// ---- sums of floats -----------------------------------------------------------------------------

// `by` lanes of the vector before, then the first ones of this.
template <std::size_t by, std::size_t... i>
inline V moved(V before, V x, std::index_sequence<i...>) noexcept {
  return shuffled<(lanes - by + i)...>(before, x);
}

template <std::size_t by, std::size_t i>
inline void add_earlier_to(V (&x)[group_vectors]) noexcept {
  if constexpr (by < lanes) x[i] += moved<by>(i > 0 ? x[i - 1] : spread(-0.0), x[i], std::make_index_sequence<lanes>{});
  else if constexpr (i >= by / lanes) x[i] += x[i - by / lanes];
}

// Adds to each number the one `by` before it, the last one first; without a loop, which would keep them in memory.
template <std::size_t by, std::size_t... i>
inline void add_earlier(V (&x)[group_vectors], std::index_sequence<i...>) noexcept {
  (add_earlier_to<by, group_vectors - 1 - i>(x), ...);
}

inline void add_up(V (&x)[group_vectors]) noexcept {
  constexpr auto all = std::make_index_sequence<group_vectors>{};
  add_earlier<1>(x, all), add_earlier<2>(x, all), add_earlier<4>(x, all), add_earlier<8>(x, all);
}

// A level is complete with 16 of what is below it.
inline void carry(f64* sums, std::int64_t pitch, std::int64_t groups) noexcept {
  for (int level = 0; level + 1 < CumulativeSum::level_count && groups % 16 == 0; ++level, groups /= 16) {
    sums[(level + 1) * pitch] += sums[level * pitch];
    sums[level * pitch] = -0.0;
  }
}

inline f64 above(const f64* sums) noexcept {
  f64 found = -0.0;
  for (int level = CumulativeSum::level_count; level-- > 1;) found += sums[level];
  return found;
}

// Writes the sums of a group, all with a base added, and returns its last one without.
template <class C>
inline f64 add_group(const typename C::Stored* from, typename C::Stored* to, f64 base, C) noexcept {
  V sums[group_vectors];
  load_group(from, sums, C{});
  add_up(sums);
  f64 last = sums[group_vectors - 1][lanes - 1];
  if (to) {
    for (V& one : sums) one = spread(base) + one;
    store_group(sums, to, C{});
  }
  return last;
}

#if defined(__aarch64__)
// Two groups of float16 side by side. Sums of 16, whole multiples of 2^-24 below 2^16, are exact in f64, so that no
// order can be seen: one after the other takes half of the additions, and none across a vector.
inline void load_two_groups(const u16* from, V (&sums)[group]) noexcept {
  for (std::size_t i = 0; i < group; i += 8) {
    uint16x8_t a = vld1q_u16(from + i), b = vld1q_u16(from + group + i);
    float16x8_t first = vreinterpretq_f16_u16(vzip1q_u16(a, b)), second = vreinterpretq_f16_u16(vzip2q_u16(a, b));
    widen(vcvt_f32_f16(vget_low_f16(first)), sums + i);
    widen(vcvt_high_f32_f16(first), sums + i + 2);
    widen(vcvt_f32_f16(vget_low_f16(second)), sums + i + 4);
    widen(vcvt_high_f32_f16(second), sums + i + 6);
  }
  for (std::size_t i = 1; i < 8; ++i) sums[i] += sums[i - 1], sums[8 + i] += sums[7 + i];
  for (std::size_t i = 8; i < group; ++i) sums[i] += sums[7];
}
inline void store_two_groups(const V (&sums)[group], u16* to) noexcept {
  for (std::size_t i = 0; i < group; i += 8) {
    float16x8_t x = vcvt_high_f16_f32(vcvt_f16_f32(odd(sums + i)), odd(sums + i + 2));
    float16x8_t y = vcvt_high_f16_f32(vcvt_f16_f32(odd(sums + i + 4)), odd(sums + i + 6));
    vst1q_u16(to + i, vuzp1q_u16(vreinterpretq_u16_f16(x), vreinterpretq_u16_f16(y)));
    vst1q_u16(to + group + i, vuzp2q_u16(vreinterpretq_u16_f16(x), vreinterpretq_u16_f16(y)));
  }
}
#endif

template <class C>
void float_line(const void* in, void* out, std::int64_t n, State& state) {
  using S = typename C::Stored;
  constexpr auto whole = static_cast<std::int64_t>(group);
  auto* x = static_cast<const S*>(in);
  auto* y = static_cast<S*>(out);
  f64 upper = above(state.sums), sum = state.sums[0];
  auto advance = [&](f64 last) __attribute__((always_inline)) {
    sum += last;
    if (++state.groups % 16 == 0) {
      state.sums[0] = sum;
      carry(state.sums, 1, state.groups);
      sum = state.sums[0];
      upper = above(state.sums);
    }
  };
  auto next = [&](const S* from, S* to)
                  __attribute__((always_inline)) { advance(add_group(from, to, upper + sum, C{})); };
#if defined(__aarch64__)
  if constexpr (std::is_same_v<C, Half>)
    for (; y && n >= 2 * whole; n -= 2 * whole, x += 2 * group, y += 2 * group) {
      V sums[group], base;
      load_two_groups(x, sums);
      V last = sums[group - 1];
      base[0] = upper + sum;
      advance(last[0]);
      base[1] = upper + sum;
      advance(last[1]);
      for (V& one : sums) one += base;
      store_two_groups(sums, y);
    }
#endif
  for (; n >= whole; n -= whole, x += group) {
    next(x, y);
    if (y) y += group;
  }
  if (n > 0) {
    S some[group] = {};
    std::memcpy(some, x, static_cast<std::size_t>(n) * sizeof *x);
    next(some, y ? some : nullptr);
    if (y) std::memcpy(y, some, static_cast<std::size_t>(n) * sizeof *y);
  }
  state.sums[0] = sum;
}

template <class C>
void float_rows(const std::byte* const* in, std::byte* const* out, std::int64_t n, std::int64_t width, f64* sums,
                std::int64_t pitch, std::int64_t groups) {
  using S = typename C::Stored;
  int used = 1;
  for (std::int64_t left = groups; left > 0; left /= 16) ++used;
  used = used < CumulativeSum::level_count ? used : CumulativeSum::level_count;
  for (std::int64_t c = 0; c < width; c += lanes) {
    std::size_t count = width - c < static_cast<std::int64_t>(lanes) ? static_cast<std::size_t>(width - c) : lanes;
    V x[group];
    S some[lanes] = {};
    for (std::int64_t row = 0; row < static_cast<std::int64_t>(group); ++row) {
      if (row >= n) {
        x[row] = spread(-0.0);
        continue;
      }
      auto* from = reinterpret_cast<const S*>(in[row]) + c;
      if (count < lanes) from = static_cast<const S*>(std::memcpy(some, from, count * sizeof(S)));
      C::load(from, x[row]);
    }
    for (std::size_t by = 1; by < group; by *= 2)
      for (std::size_t row = group; row-- > by;) x[row] += x[row - by];
    V base = spread(-0.0), first = base, level;
    for (int i = used; i-- > 0;) {
      std::memcpy(&level, sums + i * pitch + c, sizeof level);
      base += level;
      first = level;
    }
    first += x[group - 1];
    std::memcpy(sums + c, &first, sizeof first);
    for (std::int64_t row = 0; row < n; ++row) {
      auto* to = reinterpret_cast<S*>(out[row]) + c;
      if (count == lanes) {
        C::store(base + x[row], to);
      } else {
        C::store(base + x[row], some);
        std::memcpy(to, some, count * sizeof(S));
      }
    }
  }
  if ((groups + 1) % 16 == 0)
    for (std::int64_t c = 0; c < width; ++c) carry(sums + c, pitch, groups + 1);
}

// ---- sums of integers ---------------------------------------------------------------------------

// Small integers are added up in a vector first, so that only one sum waits for the one before.
template <class U>
struct Row {
  using W = Vector<U, 16>;
  static constexpr std::size_t count = 16 / sizeof(U);

  template <std::size_t by, std::size_t... i>
  static W moved(W x, std::index_sequence<i...>) noexcept {
    return shuffled<(count - by + i)...>(W{}, x);
  }
  template <std::size_t by>
  static void add_earlier(W& x) noexcept {
    if constexpr (by < count) {
      x += moved<by>(x, std::make_index_sequence<count>{});
      add_earlier<2 * by>(x);
    }
  }
  // Returns how many elements it did, all but a few.
  static std::int64_t run(const U* x, U* y, std::int64_t n, U& sum) noexcept {
    W base = W{} + sum;
    std::int64_t at = 0;
    for (; at + static_cast<std::int64_t>(count) <= n; at += count) {
      W sums;
      std::memcpy(&sums, x + at, sizeof sums);
      add_earlier<1>(sums);
      W made = sums + base;
      std::memcpy(y + at, &made, sizeof made);
      base += W{} + sums[count - 1];
    }
    sum = base[0];
    return at;
  }
};

template <class U>
void integer_line(const void* in, void* out, std::int64_t n, State& state) {
  auto* x = static_cast<const U*>(in);
  auto* y = static_cast<U*>(out);
  U sum;
  std::memcpy(&sum, state.sums, sizeof sum);
  std::int64_t at = 0;
  if constexpr (sizeof(U) <= 2)
    if (y) at = Row<U>::run(x, y, n, sum);
  if (y)
    for (std::int64_t i = at; i < n; ++i) y[i] = sum = static_cast<U>(sum + x[i]);
  else
    for (std::int64_t i = 0; i < n; ++i) sum = static_cast<U>(sum + x[i]);
  std::memcpy(state.sums, &sum, sizeof sum);
}

template <class U>
void integer_rows(const std::byte* const* in, std::byte* const* out, std::int64_t n, std::int64_t width, f64* sums,
                  std::int64_t, std::int64_t groups) {
  auto* sum = reinterpret_cast<U*>(sums);
  if (groups == 0) std::memset(sum, 0, static_cast<std::size_t>(width) * sizeof(U));
  for (std::int64_t row = 0; row < n; ++row) {
    auto* x = reinterpret_cast<const U*>(in[row]);
    auto* y = reinterpret_cast<U*>(out[row]);
    SUANZI_LOOP
    for (std::int64_t c = 0; c < width; ++c) y[c] = sum[c] = static_cast<U>(sum[c] + x[c]);
  }
}

template <class C>
CumulativeSum of_floats() {
  return {float_line<C>, float_rows<C>};
}

}  // namespace

void SUANZI_OF_LEVEL(fill_cumsum)(ReductionKernels& k) {
  auto set = [&](Dtype dtype, CumulativeSum kernels) { k.cumulative[static_cast<std::size_t>(dtype)] = kernels; };
  for_each_integer([&]<class T>(Dtype dtype) {
    using U = std::make_unsigned_t<T>;
    set(dtype, {integer_line<U>, integer_rows<U>});
  });
  set(Dtype::float8_e4m3fn, of_floats<Small<Narrow::float8_e4m3fn>>());
  set(Dtype::float8_e5m2, of_floats<Small<Narrow::float8_e5m2>>());
  set(Dtype::float16, of_floats<Small<Narrow::float16>>());
  set(Dtype::bfloat16, of_floats<Small<Narrow::bfloat16>>());
  set(Dtype::float32, of_floats<Single>());
  set(Dtype::float64, of_floats<Double>());
  // Complex numbers are rows of two parts, along whichever axis.
  CumulativeSum half = of_floats<Small<Narrow::float16>>(), single = of_floats<Single>(), twice = of_floats<Double>();
  half.line = single.line = twice.line = nullptr;
  set(Dtype::complex32, half);
  set(Dtype::complex64, single);
  set(Dtype::complex128, twice);
}

}  // namespace suanzi
