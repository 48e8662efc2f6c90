// native/kernels/reduction/reduction.cpp: 7.2.13.1: sums and means, and the table of all reductions.
//
// A sum is a tree whose shape depends on the number of elements alone (see reduction.h): the bits are the same for any
// level and number of threads. Narrow floats add up in float32 and float32 in float64; means of integers are exact.
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

// ---- sums ---------------------------------------------------------------------------------------

template <class U>
struct SumOfIntegers : Adding, Of<U> {
  static constexpr U identity = 0;
};

// Narrow formats add up in f32. The identity is -0: a sum of such zeros is one.
template <Narrow format, std::size_t n_parts = 1>
struct SumOfNarrow : Adding, OfFormat<format, n_parts> {
  static constexpr f32 identity = -0.0f;
};

// f32 adds up in f64.
template <std::size_t n_parts>
struct SumOfSingle : Adding, Of<f32, f64, n_parts> {
  static constexpr f64 identity = -0.0;
  template <std::size_t count>
  static void vectors(const f32* in, Vector<f64> (&out)[count]) noexcept {
#if defined(__aarch64__)
    for (std::size_t i = 0; i < count; i += 2) {
      float32x4_t x = vld1q_f32(in + 2 * i);
      out[i] = vcvt_f64_f32(vget_low_f32(x));
      out[i + 1] = vcvt_high_f64_f32(x);
    }
#else
    constexpr std::size_t lanes = vector_bytes / 8;
    for (std::size_t i = 0; i < count; ++i) {
      Vector<f32, vector_bytes / 2> x;
      std::memcpy(&x, in + lanes * i, sizeof x);
      out[i] = __builtin_convertvector(x, Vector<f64>);
    }
#endif
  }
#if defined(__aarch64__)
  template <std::size_t count>
  static void accumulate(const f32* in, Vector<f64> (&sums)[count]) noexcept {
    for (std::size_t i = 0; i < count; i += 2) add_widened(sums[i], sums[i + 1], vld1q_f32(in + 2 * i));
  }
#endif
};

template <std::size_t n_parts>
struct SumOfDouble : Adding, Of<f64, f64, n_parts> {
  static constexpr f64 identity = -0.0;
};

// Without wrapping: 2^32 integers of 32 bits fit.
template <class T>
struct WideSum : Adding, Of<T, u64> {
  static constexpr u64 identity = 0;
  static u64 one(T x, std::size_t) noexcept { return static_cast<u64>(static_cast<i64>(x)); }
#if defined(__AVX512F__)
  template <std::size_t count>
  static void vectors(const T* in, Vector<u64> (&out)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i) out[i] = reinterpret_cast<Vector<u64>>(widened(in + 8 * i));
  }
  static __m512i widened(const T* in) noexcept {
    if constexpr (sizeof(T) == 1) {
      __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(in));
      return std::is_signed_v<T> ? _mm512_cvtepi8_epi64(x) : _mm512_cvtepu8_epi64(x);
    } else if constexpr (sizeof(T) == 2) {
      __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
      return std::is_signed_v<T> ? _mm512_cvtepi16_epi64(x) : _mm512_cvtepu16_epi64(x);
    } else {
      __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
      return std::is_signed_v<T> ? _mm512_cvtepi32_epi64(x) : _mm512_cvtepu32_epi64(x);
    }
  }
#elif defined(__aarch64__)
  // By instructions that widen and add at once: compilers widen first, and by way of memory now and then.
  template <std::size_t count>
    requires(sizeof(T) == 1)
  static void accumulate(const T* in, Vector<u64> (&sums)[count]) noexcept {
    static_assert(count == 8);
    add_bytes(vld1q_u8(reinterpret_cast<const u8*>(in)), sums);
  }
  static void add_bytes(uint8x16_t x, Vector<u64> (&sums)[8]) noexcept {
    if constexpr (std::is_signed_v<T>) {
      int8x16_t bytes = vreinterpretq_s8_u8(x);
      int16x8_t words[2] = {vmovl_s8(vget_low_s8(bytes)), vmovl_high_s8(bytes)};
      for (std::size_t i = 0; i < 2; ++i) {
        add_halves(vmovl_s16(vget_low_s16(words[i])), sums[4 * i], sums[4 * i + 1]);
        add_halves(vmovl_high_s16(words[i]), sums[4 * i + 2], sums[4 * i + 3]);
      }
    } else {
      uint16x8_t words[2] = {vmovl_u8(vget_low_u8(x)), vmovl_high_u8(x)};
      for (std::size_t i = 0; i < 2; ++i) {
        add_halves(vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words[i]))), sums[4 * i], sums[4 * i + 1]);
        add_halves(vreinterpretq_s32_u32(vmovl_high_u16(words[i])), sums[4 * i + 2], sums[4 * i + 3]);
      }
    }
  }
  static void add_halves(int32x4_t x, Vector<u64>& low, Vector<u64>& high) noexcept {
    low = (Vector<u64>)vaddw_s32((int64x2_t)low, vget_low_s32(x));
    high = (Vector<u64>)vaddw_high_s32((int64x2_t)high, x);
  }
#endif
};

// How many are true. Memory of others may hold bools that are neither 0 nor 1.
struct CountOfBools : WideSum<u8> {
  static u64 one(u8 x, std::size_t) noexcept { return x != 0; }
#if defined(__AVX512F__)
  template <std::size_t count>
  static void vectors(const u8* in, Vector<u64> (&out)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i)
      out[i] = reinterpret_cast<Vector<u64>>(_mm512_min_epu64(widened(in + 8 * i), _mm512_set1_epi64(1)));
  }
#elif defined(__aarch64__)
  static void accumulate(const u8* in, Vector<u64> (&sums)[8]) noexcept {
    add_bytes(vminq_u8(vld1q_u8(in), vdupq_n_u8(1)), sums);
  }
#endif
};

// 64 bits in two halves; the upper one of a signed integer is made unsigned by adding 2^31.
template <bool is_signed>
struct WideSumOfLong : Adding, Of<u32, u64, 2> {
  static constexpr u64 identity = 0;
  static u64 one(u32 x, std::size_t i) noexcept { return x ^ (is_signed && i % 2 ? 0x80000000u : 0u); }
#if defined(__aarch64__)
  template <std::size_t count>
  static void vectors(const u32* in, Vector<u64> (&out)[count]) noexcept {
    uint32x4_t flip = is_signed ? uint32x4_t{0, 0x80000000u, 0, 0x80000000u} : uint32x4_t{};
    for (std::size_t i = 0; i < count; i += 2) {
      uint32x4_t x = veorq_u32(vld1q_u32(in + 2 * i), flip);
      out[i] = (Vector<u64>)vmovl_u32(vget_low_u32(x));
      out[i + 1] = (Vector<u64>)vmovl_high_u32(x);
    }
  }
#endif
};

// ---- results ------------------------------------------------------------------------------------

template <Narrow format, std::size_t parts>
void mean_narrow(const void* partials, std::int64_t count, std::int64_t n, void* out) {
  auto size = static_cast<f64>(n);
  each<f32, typename Format<format>::bits, parts>(partials, count, out,
                                                  [=](f32 x) { return narrow_one<format>(to_odd_one(x / size)); });
}

template <class T, std::size_t parts>
void mean_wide(const void* partials, std::int64_t count, std::int64_t n, void* out) {
  auto size = static_cast<f64>(n);
  each<f64, T, parts>(partials, count, out, [=](f64 x) { return static_cast<T>(x / size); });
}

inline int leading_zeros(unsigned __int128 x) noexcept {
  auto high = static_cast<u64>(x >> 64), low = static_cast<u64>(x);
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll(low);
}

// The quotient of two integers, rounded once.
inline f32 exact_quotient(__int128 sum, std::int64_t n) noexcept {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (sum < exact && sum > -exact && n < std::int64_t{1} << 28)
    return static_cast<f32>(static_cast<f64>(static_cast<i64>(sum)) / static_cast<f64>(n));
  using Wide = unsigned __int128;
  Wide magnitude = sum < 0 ? Wide{0} - static_cast<Wide>(sum) : static_cast<Wide>(sum), size = static_cast<Wide>(n);
  if (magnitude == 0) return 0;
  // 32 bits of the quotient, more than a float32 has, of which the last says whether there is more.
  int shift = leading_zeros(magnitude);
  magnitude <<= shift;
  Wide quotient = magnitude / size;
  int excess = 96 - leading_zeros(quotient);
  Wide kept = quotient >> excess;
  bool more = kept << excess != quotient || quotient * size != magnitude;
  f32 scale = bit_cast<f32>(static_cast<u32>(127 + excess - shift) << 23);
  f32 found = static_cast<f32>(static_cast<u32>(kept) | more) * scale;
  return sum < 0 ? -found : found;
}

template <bool is_signed>
void mean_of_integers(const void* partials, std::int64_t count, std::int64_t n, void* out) {
  auto* sums = static_cast<const u64*>(partials);
  auto* y = static_cast<f32*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = exact_quotient(is_signed ? __int128{static_cast<i64>(sums[i])} : static_cast<__int128>(sums[i]), n);
}

template <bool is_signed>
void mean_of_long(const void* partials, std::int64_t count, std::int64_t n, void* out) {
  auto* sums = static_cast<const u64*>(partials);
  auto* y = static_cast<f32*>(out);
  for (std::int64_t i = 0; i < count; ++i) {
    __int128 low = static_cast<__int128>(sums[2 * i]), high = static_cast<__int128>(sums[2 * i + 1]);
    if (is_signed) high -= static_cast<__int128>(n) << 31;
    y[i] = exact_quotient(low + high * (__int128{1} << 32), n);
  }
}

// ---- the table ----------------------------------------------------------------------------------

template <class Op>
void fill_float(ReductionKernels& k, Dtype dtype, void (*sum)(const void*, std::int64_t, std::int64_t, void*),
                void (*mean)(const void*, std::int64_t, std::int64_t, void*)) {
  entry(k, ReduceMode::sum, dtype) = reduction_of<Op>(dtype, sum);
  entry(k, ReduceMode::mean, dtype) = entry(k, ReduceMode::sum, dtype);
  entry(k, ReduceMode::mean, dtype).finish = mean;
}

template <Narrow format, std::size_t parts = 1>
void fill_narrow(ReductionKernels& k, Dtype dtype) {
  fill_float<SumOfNarrow<format, parts>>(k, dtype, finish_narrow<format, parts>, mean_narrow<format, parts>);
}

void fill_sums(ReductionKernels& k) {
  for_each_integer([&]<class T>(Dtype dtype) {
    using U = std::make_unsigned_t<T>;
    constexpr bool is_signed = std::is_signed_v<T>;
    entry(k, ReduceMode::sum, dtype) = reduction_of<SumOfIntegers<U>, true>(dtype, keep<U>);
    if constexpr (sizeof(T) < 8)
      entry(k, ReduceMode::mean, dtype) = reduction_of<WideSum<T>, true>(Dtype::float32, mean_of_integers<is_signed>);
    else
      entry(k, ReduceMode::mean, dtype) =
          reduction_of<WideSumOfLong<is_signed>, true>(Dtype::float32, mean_of_long<is_signed>);
  });
  entry(k, ReduceMode::sum, Dtype::boolean) = reduction_of<CountOfBools, true>(Dtype::int64, keep<u64>);
  fill_narrow<Narrow::float8_e4m3fn>(k, Dtype::float8_e4m3fn);
  fill_narrow<Narrow::float8_e5m2>(k, Dtype::float8_e5m2);
  fill_narrow<Narrow::bfloat16>(k, Dtype::bfloat16);
  fill_narrow<Narrow::float16>(k, Dtype::float16);
  fill_narrow<Narrow::float16, 2>(k, Dtype::complex32);
  fill_float<SumOfSingle<1>>(k, Dtype::float32, finish_single<1>, mean_wide<f32, 1>);
  fill_float<SumOfSingle<2>>(k, Dtype::complex64, finish_single<2>, mean_wide<f32, 2>);
  fill_float<SumOfDouble<1>>(k, Dtype::float64, keep<f64>, mean_wide<f64, 1>);
  fill_float<SumOfDouble<2>>(k, Dtype::complex128, keep<f64, 2>, mean_wide<f64, 2>);
}

}  // namespace

void SUANZI_OF_LEVEL(fill_extremes)(ReductionKernels& k);
void SUANZI_OF_LEVEL(fill_norms)(ReductionKernels& k);
void SUANZI_OF_LEVEL(fill_distances)(ReductionKernels& k);
void SUANZI_OF_LEVEL(fill_products)(ReductionKernels& k);
void SUANZI_OF_LEVEL(fill_cumsum)(ReductionKernels& k);

const ReductionKernels& SUANZI_OF_LEVEL(reductions)() noexcept {
  static const ReductionKernels table = [] {
    ReductionKernels k{};
    fill_sums(k);
    SUANZI_OF_LEVEL(fill_extremes)(k);
    SUANZI_OF_LEVEL(fill_norms)(k);
    SUANZI_OF_LEVEL(fill_distances)(k);
    SUANZI_OF_LEVEL(fill_products)(k);
    SUANZI_OF_LEVEL(fill_cumsum)(k);
    return k;
  }();
  return table;
}

}  // namespace suanzi
