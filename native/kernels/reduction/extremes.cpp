// native/kernels/reduction/extremes.cpp: 7.2.13.1: the largest and the smallest, and the bits.
//
// Floats are compared as integers in the same order, so that -0 is below +0 and NaN beyond all others without a
// branch. The order of combination cannot be seen in the result: rows are combined as they lie.
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

struct Smaller {
  template <class T>
  static T combine(T a, T b) noexcept {
    return a < b ? a : b;
  }
};

template <class T, bool largest>
struct ExtremeInteger : std::conditional_t<largest, Larger, Smaller>, Of<T> {
  static constexpr T identity = largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
};

// Floats are compared as integers in the same order, -0 below +0. NaN is beyond all others, on the
// side that wins. `infinity` is the last pattern that is none, without the sign.
template <class I, I infinity, bool largest>
struct ExtremeFloat : std::conditional_t<largest, Larger, Smaller>, Of<I> {
  static constexpr I rest = std::numeric_limits<I>::max();  // all bits but the sign
  static constexpr I nan = largest ? rest : std::numeric_limits<I>::min();
  static constexpr I identity = largest ? std::numeric_limits<I>::min() : rest;

  template <class V>
  static V key(V x) noexcept {
    V ordered = x ^ ((x >> (8 * sizeof(I) - 1)) & rest);
    return (x & rest) > infinity ? V{} + nan : ordered;
  }
  template <std::size_t count>
  static void vectors(const I* in, Vector<I> (&out)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      Vector<I> x;
      std::memcpy(&x, in + i * vector_bytes / sizeof(I), sizeof x);
      out[i] = key(x);
    }
  }
  static void finish(const void* partials, std::int64_t count, std::int64_t, void* out) {
    each<I, I, 1>(partials, count, out, [](I key) {
      // Beyond infinity only NaN is; as a pattern of its own it must not be turned back.
      I magnitude = static_cast<I>(key ^ ((key >> (8 * sizeof(I) - 1)) & rest));
      return key == nan ? rest : magnitude;
    });
  }
};

#if defined(__aarch64__)
// The processor's own comparison has the same order, and NaN wins.
template <class T, bool largest>
struct ExtremeNumber : Of<T> {
  static constexpr T identity = largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  static T combine(T a, T b) noexcept { return extreme<largest>(a, b); }
  static Vector<T> combine(Vector<T> a, Vector<T> b) noexcept {
    using Machine = std::conditional_t<sizeof(T) == 4, float32x4_t, float64x2_t>;
    return (Vector<T>)extreme<largest>((Machine)a, (Machine)b);
  }
  static void finish(const void* partials, std::int64_t count, std::int64_t, void* out) {
    using I = std::conditional_t<sizeof(T) == 4, i32, i64>;
    each<T, I, 1>(partials, count, out, [](T x) { return x == x ? bit_cast<I>(x) : std::numeric_limits<I>::max(); });
  }
};
#endif

template <class Max, class Min>
void fill_extremes(ReductionKernels& k, Dtype dtype) {
  entry(k, ReduceMode::max, dtype) = reduction_of<Max, true>(dtype, Max::finish);
  entry(k, ReduceMode::min, dtype) = reduction_of<Min, true>(dtype, Min::finish);
}
template <class I, I infinity>
void fill_float(ReductionKernels& k, Dtype dtype) {
  fill_extremes<ExtremeFloat<I, infinity, true>, ExtremeFloat<I, infinity, false>>(k, dtype);
}

// ---- bits ---------------------------------------------------------------------------------------

template <class U, ReduceMode mode>
struct BitsOf : Of<U> {
  static constexpr U identity = mode == ReduceMode::band ? static_cast<U>(~U{0}) : U{0};
  template <class T>
  static T combine(T a, T b) noexcept {
    if constexpr (mode == ReduceMode::band) return static_cast<T>(a & b);
    else if constexpr (mode == ReduceMode::bor) return static_cast<T>(a | b);
    else return static_cast<T>(a ^ b);
  }
};

// Memory of others may hold bools that are neither 0 nor 1.
template <ReduceMode mode>
struct BoolsOf : BitsOf<u8, mode> {
  static bool decides(u8 x) noexcept
    requires(mode != ReduceMode::bxor)
  {
    return x == (mode == ReduceMode::bor);
  }
  template <std::size_t count>
  static void vectors(const u8* in, Vector<u8> (&out)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      Vector<u8> x;
      std::memcpy(&x, in + i * vector_bytes, sizeof x);
      out[i] = x != 0 ? Vector<u8>{} + u8{1} : Vector<u8>{};
    }
  }
};

void fill_bool(ReductionKernels& k) {
  auto fill = [&]<ReduceMode mode>(std::integral_constant<ReduceMode, mode>) {
    entry(k, mode, Dtype::boolean) = reduction_of<BoolsOf<mode>, true>(Dtype::boolean, keep<u8>);
  };
  fill(std::integral_constant<ReduceMode, ReduceMode::band>{});
  fill(std::integral_constant<ReduceMode, ReduceMode::bor>{});
  fill(std::integral_constant<ReduceMode, ReduceMode::bxor>{});
  auto copy = [&](ReduceMode to, ReduceMode from) { entry(k, to, Dtype::boolean) = entry(k, from, Dtype::boolean); };
  copy(ReduceMode::land, ReduceMode::band);
  copy(ReduceMode::lor, ReduceMode::bor);
  copy(ReduceMode::lxor, ReduceMode::bxor);
  copy(ReduceMode::max, ReduceMode::bor);
  copy(ReduceMode::min, ReduceMode::band);
  copy(ReduceMode::prod, ReduceMode::band);
  entry(k, ReduceMode::prod, Dtype::boolean).result = Dtype::int64;
  entry(k, ReduceMode::prod, Dtype::boolean).finish = [](const void* partials, std::int64_t count, std::int64_t,
                                                         void* out) {
    each<u8, i64, 1>(partials, count, out, [](u8 x) { return i64{x}; });
  };
}

}  // namespace

void SUANZI_OF_LEVEL(fill_extremes)(ReductionKernels& k) {
  for_each_integer([&]<class T>(Dtype dtype) {
    using U = std::make_unsigned_t<T>;
    entry(k, ReduceMode::max, dtype) = reduction_of<ExtremeInteger<T, true>, true>(dtype, keep<T>);
    entry(k, ReduceMode::min, dtype) = reduction_of<ExtremeInteger<T, false>, true>(dtype, keep<T>);
    entry(k, ReduceMode::band, dtype) = reduction_of<BitsOf<U, ReduceMode::band>, true>(dtype, keep<U>);
    entry(k, ReduceMode::bor, dtype) = reduction_of<BitsOf<U, ReduceMode::bor>, true>(dtype, keep<U>);
    entry(k, ReduceMode::bxor, dtype) = reduction_of<BitsOf<U, ReduceMode::bxor>, true>(dtype, keep<U>);
  });
  fill_float<i8, 0x7E>(k, Dtype::float8_e4m3fn);  // has no infinity
  fill_float<i8, 0x7C>(k, Dtype::float8_e5m2);
  fill_float<i16, 0x7C00>(k, Dtype::float16);
  fill_float<i16, 0x7F80>(k, Dtype::bfloat16);
#if defined(__aarch64__)
  fill_extremes<ExtremeNumber<f32, true>, ExtremeNumber<f32, false>>(k, Dtype::float32);
  fill_extremes<ExtremeNumber<f64, true>, ExtremeNumber<f64, false>>(k, Dtype::float64);
#else
  fill_float<i32, 0x7F800000>(k, Dtype::float32);
  fill_float<i64, 0x7FF0000000000000>(k, Dtype::float64);
#endif
  fill_bool(k);
}

}  // namespace suanzi
