// native/kernels/reduction/products.cpp: 7.2.13.1: products.
//
// A tree as that of sums (see reduction.h), so that the bits do not depend on the level or the threads. Narrow floats
// multiply in float32 and float32 in float64; integers wrap.
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

struct Multiplying {
  // Of numbers narrower than int, which they would become; and of all others.
  template <class T>
  static T combine(T a, T b) noexcept {
    if constexpr (std::is_same_v<T, u16>) return static_cast<u16>(u32{a} * b);
    else return static_cast<T>(a * b);
  }
};

template <class U>
struct ProductOfIntegers : Multiplying, Of<U> {
  static constexpr U identity = 1;
};

// Narrow formats in f32, f32 in f64.
template <class T, class P>
struct ProductOfFloats : Multiplying, Of<T, P> {
  static constexpr P identity = 1;
  static P one(T x, std::size_t) noexcept { return x; }
#if defined(__aarch64__)
  template <std::size_t count>
  static void accumulate(const T* in, Vector<P> (&products)[count]) noexcept
    requires(sizeof(T) == 4)
  {
    for (std::size_t i = 0; i < count; i += 2) multiply_widened(products[i], products[i + 1], vld1q_f32(in + 2 * i));
  }
#endif
};

template <Narrow format>
struct ProductOfNarrow : Multiplying, OfFormat<format> {
  static constexpr f32 identity = 1;
};

template <Narrow format>
void fill_narrow(ReductionKernels& k, Dtype dtype) {
  entry(k, ReduceMode::prod, dtype) = reduction_of<ProductOfNarrow<format>>(dtype, finish_narrow<format, 1>);
}

// ---- complex numbers ----------------------------------------------------------------------------

// In f64 but for complex32, as numbers of two parts, which vectors are not made for.
template <class S, class P>
struct ProductOfComplex {
  using Number = Complex<P>;

  static Number load(const std::byte* at) noexcept {
    S re, im;
    std::memcpy(&re, at, sizeof re);
    std::memcpy(&im, at + sizeof re, sizeof im);
    if constexpr (std::is_same_v<S, u16>) return {widen_one<Narrow::float16>(re), widen_one<Narrow::float16>(im)};
    else return {static_cast<P>(re), static_cast<P>(im)};
  }
  static Number times(Number a, Number b) noexcept {
    return {rounded(a.re * b.re) - rounded(a.im * b.im), rounded(a.re * b.im) + rounded(a.im * b.re)};
  }
  // A block at most, of elements that `at(i)` finds.
  template <class At>
  static Number block(std::int64_t n, At&& at) noexcept {
    Number lanes[16];
    std::int64_t left = n < 16 ? n : 16;
    for (std::int64_t lane = 0; lane < left; ++lane) {
      lanes[lane] = load(at(lane));
      for (std::int64_t i = lane + 16; i < n; i += 16) lanes[lane] = times(lanes[lane], load(at(i)));
    }
    for (std::int64_t half = 8; half > 0; half /= 2) {
      for (std::int64_t lane = half; lane < left; ++lane) lanes[lane - half] = times(lanes[lane - half], lanes[lane]);
      left = left < half ? left : half;
    }
    return lanes[0];
  }
  static void combine(void* a, const void* b, std::int64_t count) {
    auto* x = static_cast<Number*>(a);
    auto* y = static_cast<const Number*>(b);
    for (std::int64_t i = 0; i < count; ++i) x[i] = times(x[i], y[i]);
  }
  static void rows(const void* in, std::ptrdiff_t pitch, std::int64_t count, std::int64_t n, const void*,
                   void* partials) {
    auto* row = static_cast<const std::byte*>(in);
    auto* out = static_cast<Number*>(partials);
    for (; count > 0; --count, row += pitch, ++out) {
      Number levels[16];
      std::int64_t blocks = 0;
      for (std::int64_t done = 0; done < n; done += block_rows, ++blocks) {
        Number carried = block(n - done < block_rows ? n - done : block_rows, [&](std::int64_t i) {
          return row + (done + i) * 2 * static_cast<std::int64_t>(sizeof(S));
        });
        int level = 0;
        for (std::int64_t left = blocks; left & 1; left >>= 1) carried = times(levels[level++], carried);
        levels[level] = carried;
      }
      bool found = false;
      for (int level = 0; blocks; blocks >>= 1, ++level) {
        if (!(blocks & 1)) continue;
        *out = found ? times(levels[level], *out) : levels[level];
        found = true;
      }
    }
  }
  static void columns(const std::byte* const* rows, std::int64_t n, std::int64_t width, const void*, void* partials,
                      ColumnRoom) {
    auto* out = static_cast<Number*>(partials);
    for (std::int64_t c = 0; c < width; ++c)
      out[c] = block(n, [&](std::int64_t i) { return rows[i] + c * 2 * static_cast<std::int64_t>(sizeof(S)); });
  }
  static void finish(const void* partials, std::int64_t count, std::int64_t, void* out) {
    each<P, S, 2>(partials, count, out, [](P x) {
      if constexpr (std::is_same_v<S, u16>) return narrow_one<Narrow::float16>(x);
      else return static_cast<S>(x);
    });
  }
  static Reduction made(Dtype dtype) { return {rows, columns, combine, finish, sizeof(Number), false, dtype}; }
};

}  // namespace

void SUANZI_OF_LEVEL(fill_products)(ReductionKernels& k) {
  for_each_integer([&]<class T>(Dtype dtype) {
    using U = std::make_unsigned_t<T>;
    entry(k, ReduceMode::prod, dtype) = reduction_of<ProductOfIntegers<U>, true>(dtype, keep<U>);
  });
  fill_narrow<Narrow::float8_e4m3fn>(k, Dtype::float8_e4m3fn);
  fill_narrow<Narrow::float8_e5m2>(k, Dtype::float8_e5m2);
  fill_narrow<Narrow::float16>(k, Dtype::float16);
  fill_narrow<Narrow::bfloat16>(k, Dtype::bfloat16);
  entry(k, ReduceMode::prod, Dtype::float32) =
      reduction_of<ProductOfFloats<f32, f64>>(Dtype::float32, finish_single<1>);
  entry(k, ReduceMode::prod, Dtype::float64) = reduction_of<ProductOfFloats<f64, f64>>(Dtype::float64, keep<f64>);
  entry(k, ReduceMode::prod, Dtype::complex32) = ProductOfComplex<u16, f32>::made(Dtype::complex32);
  entry(k, ReduceMode::prod, Dtype::complex64) = ProductOfComplex<f32, f64>::made(Dtype::complex64);
  entry(k, ReduceMode::prod, Dtype::complex128) = ProductOfComplex<f64, f64>::made(Dtype::complex128);
}

}  // namespace suanzi
