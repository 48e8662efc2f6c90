// native/kernels/reduction/norms.cpp: 7.2.13.1, 7.2.17.11: magnitudes and squares combined, for norms.
//
// Squares add up in a type that they do not overflow, in the same tree as sums. Those of float64 may overflow or
// vanish: then the loops run again over elements scaled by a power of two, so that the common case pays for nothing.
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/functions/magnitude.inc"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

// What is done to an element before it is added to others. Squares scaled by a power of two before
// are of numbers whose own squares overflow or vanish.
enum class Map { magnitude, square, square_of_large, square_of_small };

template <Map map, class V>
inline V mapped(V x) noexcept {
  if constexpr (map == Map::magnitude) {
    if constexpr (std::is_floating_point_v<V>) return std::fabs(x);
    else if constexpr (sizeof(x[0]) == 8)
      return reinterpret_cast<V>(reinterpret_cast<Vector<i64, sizeof(V)>>(x) & std::numeric_limits<i64>::max());
    else return reinterpret_cast<V>(reinterpret_cast<Vector<i32, sizeof(V)>>(x) & std::numeric_limits<i32>::max());
  } else if constexpr (map == Map::square) {
    return x * x;
  } else {
    V scaled = x * (map == Map::square_of_large ? large_scale : small_scale);
    return scaled * scaled;
  }
}

// Narrow formats add up in P: no square of float16 or float8 overflows f32, as those of bfloat16 do.
template <Narrow format, Map map, class P = f32, std::size_t n_parts = 1>
struct OfNarrow : Adding, Of<typename Format<format>::bits, P, n_parts> {
  using Bits = typename Format<format>::bits;
  static constexpr P identity = 0;
  static P one(Bits x, std::size_t) noexcept { return mapped<map>(static_cast<P>(widen_one<format>(x))); }
  template <std::size_t count>
    requires(widens_vectors<format> && std::is_same_v<P, f32>)
  static void vectors(const Bits* in, Vector<f32> (&out)[count]) noexcept {
    OfFormat<format>::vectors(in, out);
    for (Vector<f32>& x : out) x = mapped<map>(x);
  }
};

// f32 and f64 add up in f64, where squares of f32 are exact: fused or not, a sum is the same.
template <class T, Map map, std::size_t n_parts = 1>
struct OfWide : Adding, Of<T, f64, n_parts> {
  static constexpr f64 identity = 0;
  template <std::size_t count>
  static void vectors(const T* in, Vector<f64> (&out)[count]) noexcept {
    constexpr std::size_t lanes = vector_bytes / 8;
#if defined(__aarch64__)
    if constexpr (sizeof(T) == 4) {
      for (std::size_t i = 0; i < count; i += 2) {
        float32x4_t x = vld1q_f32(in + lanes * i);
        if constexpr (map == Map::magnitude) x = vabsq_f32(x);
        out[i] = vcvt_f64_f32(vget_low_f32(x));
        out[i + 1] = vcvt_high_f64_f32(x);
        if constexpr (map != Map::magnitude) out[i] = mapped<map>(out[i]), out[i + 1] = mapped<map>(out[i + 1]);
      }
      return;
    }
#endif
    for (std::size_t i = 0; i < count; ++i) {
      Vector<T, lanes * sizeof(T)> x;
      std::memcpy(&x, in + lanes * i, sizeof x);
      out[i] = mapped<map>(__builtin_convertvector(x, Vector<f64>));
    }
  }
#if defined(__aarch64__)
  template <std::size_t count>
  static void accumulate(const T* in, Vector<f64> (&sums)[count]) noexcept
    requires(sizeof(T) == 4 && (map == Map::square || map == Map::magnitude))
  {
    for (std::size_t i = 0; i < count; i += 2) {
      float32x4_t x = vld1q_f32(in + 2 * i);
      if constexpr (map == Map::square) add_squares_widened(sums[i], sums[i + 1], x);
      else add_widened(sums[i], sums[i + 1], vabsq_f32(x));
    }
  }
#endif
};

// ---- magnitudes of complex numbers --------------------------------------------------------------

template <class S>
struct Pair {
  S re, im;
};

inline f32 magnitude(Pair<u16> z) noexcept {
  f32 re = widen_one<Narrow::float16>(z.re), im = widen_one<Narrow::float16>(z.im);
  return std::sqrt(re * re + im * im);
}
inline f64 magnitude(Pair<f32> z) noexcept {
  f64 re = z.re, im = z.im;
  return std::sqrt(re * re + im * im);
}
inline f64 magnitude(Pair<f64> z) noexcept { return magnitude(z.re, z.im); }

template <class S>
struct MagnitudesOfComplex : Adding, Of<Pair<S>, decltype(magnitude(Pair<S>{}))> {
  static constexpr decltype(magnitude(Pair<S>{})) identity = 0;
  static auto one(Pair<S> z, std::size_t) noexcept { return magnitude(z); }
};

// ---- the largest --------------------------------------------------------------------------------

// As integers, magnitudes are in the same order, and NaN is beyond all others.
template <class I, I infinity>
struct Largest : Larger, Of<I> {
  static constexpr I identity = 0, rest = std::numeric_limits<I>::max();
  template <std::size_t count>
  static void vectors(const I* in, Vector<I> (&out)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      Vector<I> x;
      std::memcpy(&x, in + i * vector_bytes / sizeof(I), sizeof x);
      out[i] = x & rest;
    }
  }
  static void finish(const void* partials, std::int64_t count, std::int64_t, void* out) {
    each<I, I, 1>(partials, count, out, [](I x) { return x > infinity ? rest : x; });
  }
};

template <class S>
using BitsOfMagnitude = std::conditional_t<sizeof(magnitude(Pair<S>{})) == 8, i64, i32>;
template <class S>
struct LargestOfComplex : Larger, Of<Pair<S>, BitsOfMagnitude<S>> {
  static constexpr BitsOfMagnitude<S> identity = 0;
  static BitsOfMagnitude<S> one(Pair<S> z, std::size_t) noexcept {
    return bit_cast<BitsOfMagnitude<S>>(magnitude(z)) & std::numeric_limits<BitsOfMagnitude<S>>::max();
  }
};

// ---- results ------------------------------------------------------------------------------------

// To an element, of a number that is wider.
template <Narrow format>
struct ToNarrow {
  using Stored = typename Format<format>::bits;
  static Stored made(f64 x) noexcept { return narrow_one<format>(to_odd_one(x)); }
};
template <class T>
struct ToWide {
  using Stored = T;
  static T made(f64 x) noexcept { return static_cast<T>(x); }
};

template <class To, class P>
void finish_sum(const void* partials, std::int64_t count, std::int64_t, void* out) {
  each<P, typename To::Stored, 1>(partials, count, out, [](P x) { return To::made(x); });
}

template <class To, class I>
void finish_largest(const void* partials, std::int64_t count, std::int64_t, void* out) {
  using P = std::conditional_t<sizeof(I) == 8, f64, f32>;
  each<I, typename To::Stored, 1>(partials, count, out, [](I x) { return To::made(bit_cast<P>(x)); });
}

template <class P, std::size_t parts>
inline f64 total(const P* sums, std::int64_t i) noexcept {
  if constexpr (parts == 1) return sums[i];
  else return static_cast<f64>(sums[2 * i]) + static_cast<f64>(sums[2 * i + 1]);
}

template <class To, class P, std::size_t parts>
void finish_squares(const void* partials, std::int64_t count, std::int64_t, void* out) {
  auto* x = static_cast<const P*>(partials);
  auto* y = static_cast<typename To::Stored*>(out);
  SUANZI_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = To::made(std::sqrt(total<P, parts>(x, i)));
}

// Below the least sum, squares have lost digits.
template <std::size_t parts>
void finish_squares_of_double(const void* partials, std::int64_t count, std::int64_t, void* out) {
  constexpr f64 least = 0x1p-900, most = std::numeric_limits<f64>::max();
  auto* x = static_cast<const f64*>(partials);
  auto* y = static_cast<f64*>(out);
  SUANZI_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    f64 sum = total<f64, parts>(x, i), root = std::sqrt(sum);
    y[i] = sum > most ? squares_overflow : sum < least ? squares_vanish : root;
  }
}

template <Map map, std::size_t parts>
void finish_scaled(const void* partials, std::int64_t count, std::int64_t, void* out) {
  auto* x = static_cast<const f64*>(partials);
  auto* y = static_cast<f64*>(out);
  for (std::int64_t i = 0; i < count; ++i)
    y[i] = std::sqrt(total<f64, parts>(x, i)) * (map == Map::square_of_large ? small_scale : large_scale);
}

// ---- the table ----------------------------------------------------------------------------------

Reduction& part(ReductionKernels& k, NormPart what, Dtype dtype) {
  return k.norms[static_cast<std::size_t>(what)][static_cast<std::size_t>(dtype)];
}

template <class Sum, class Squares, class To, class I, I infinity>
void fill(ReductionKernels& k, Dtype dtype) {
  using Max = Largest<I, infinity>;
  part(k, NormPart::magnitudes, dtype) = reduction_of<Sum>(dtype, finish_sum<To, typename Sum::Partial>);
  part(k, NormPart::largest, dtype) = reduction_of<Max, true>(dtype, Max::finish);
  part(k, NormPart::squares, dtype) = reduction_of<Squares>(dtype, finish_squares<To, typename Squares::Partial, 1>);
}

template <Narrow format, class I, I infinity, class P>
void fill_narrow(ReductionKernels& k, Dtype dtype) {
  fill<OfNarrow<format, Map::magnitude, f32>, OfNarrow<format, Map::square, P>, ToNarrow<format>, I, infinity>(k,
                                                                                                               dtype);
}

template <class S, class Squares, class To>
void fill_complex(ReductionKernels& k, Dtype dtype, Dtype result) {
  using Sum = MagnitudesOfComplex<S>;
  using Max = LargestOfComplex<S>;
  part(k, NormPart::magnitudes, dtype) = reduction_of<Sum>(result, finish_sum<To, typename Sum::Partial>);
  part(k, NormPart::largest, dtype) = reduction_of<Max, true>(result, finish_largest<To, typename Max::Partial>);
  part(k, NormPart::squares, dtype) = reduction_of<Squares>(result, finish_squares<To, typename Squares::Partial, 2>);
}

template <std::size_t parts>
void fill_scaled(ReductionKernels& k, Dtype dtype) {
  part(k, NormPart::squares, dtype).finish = finish_squares_of_double<parts>;
  part(k, NormPart::squares_of_large, dtype) = reduction_of<OfWide<f64, Map::square_of_large, parts>>(
      Dtype::float64, finish_scaled<Map::square_of_large, parts>);
  part(k, NormPart::squares_of_small, dtype) = reduction_of<OfWide<f64, Map::square_of_small, parts>>(
      Dtype::float64, finish_scaled<Map::square_of_small, parts>);
}

}  // namespace

void SUANZI_OF_LEVEL(fill_norms)(ReductionKernels& k) {
  constexpr auto half = Narrow::float16;
  fill_narrow<Narrow::float8_e4m3fn, i8, 0x7E, f32>(k, Dtype::float8_e4m3fn);  // has no infinity
  fill_narrow<Narrow::float8_e5m2, i8, 0x7C, f32>(k, Dtype::float8_e5m2);
  fill_narrow<Narrow::bfloat16, i16, 0x7F80, f64>(k, Dtype::bfloat16);
  fill_narrow<half, i16, 0x7C00, f32>(k, Dtype::float16);
  fill<OfWide<f32, Map::magnitude>, OfWide<f32, Map::square>, ToWide<f32>, i32, 0x7F800000>(k, Dtype::float32);
  fill<OfWide<f64, Map::magnitude>, OfWide<f64, Map::square>, ToWide<f64>, i64, 0x7FF0000000000000>(k, Dtype::float64);
  fill_complex<u16, OfNarrow<half, Map::square, f32, 2>, ToNarrow<half>>(k, Dtype::complex32, Dtype::float16);
  fill_complex<f32, OfWide<f32, Map::square, 2>, ToWide<f32>>(k, Dtype::complex64, Dtype::float32);
  fill_complex<f64, OfWide<f64, Map::square, 2>, ToWide<f64>>(k, Dtype::complex128, Dtype::float64);
  fill_scaled<1>(k, Dtype::float64);
  fill_scaled<2>(k, Dtype::complex128);
}

}  // namespace suanzi
