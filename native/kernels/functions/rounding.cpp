// native/kernels/functions/rounding.cpp: functions of float32 in float64, with an error that is known.
//
// One pass in vectors of float64, without tables where a polynomial is faster. Errors are below 2^-41 of the result:
// one of 2^16 results is so near to the middle of two float32 that this counts, and its block is computed again
// elsewhere.
#include "kernels/common.inc"

#include "kernels/functions/rounding.h"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

namespace suanzi {
namespace {
namespace rounding {

#include "kernels/functions/rounding_tables.inc"

using D = Batch<f64>;

constexpr f64 infinite = std::numeric_limits<f64>::infinity();
// The middle of two float32: an element that is not computed.
constexpr f64 undecided = 1 + 0x1p-24;

// ---- float32 to float64 and back ------------------------------------------------------------------------

inline D widened(const f32* x) noexcept {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(x));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm_loadu_ps(x));
#elif defined(__SSE2__)
  return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(x))));
#elif defined(__aarch64__)
  return vcvt_f64_f32(vld1_f32(x));
#else
  alignas(64) f64 wide[D::size];
  for (std::size_t i = 0; i < D::size; ++i) wide[i] = x[i];
  return D::load_aligned(wide);
#endif
}

inline void store_narrowed(D y, f32* out) noexcept {
#if defined(__AVX512F__)
  _mm256_storeu_ps(out, _mm512_cvtpd_ps(y));
#elif defined(__AVX2__)
  _mm_storeu_ps(out, _mm256_cvtpd_ps(y));
#elif defined(__SSE2__)
  _mm_storel_epi64(reinterpret_cast<__m128i*>(out), _mm_castps_si128(_mm_cvtpd_ps(y)));
#elif defined(__aarch64__)
  vst1_f32(out, vcvt_f32_f64(y));
#else
  alignas(64) f64 wide[D::size];
  y.store_aligned(wide);
  for (std::size_t i = 0; i < D::size; ++i) out[i] = static_cast<f32>(wide[i]);
#endif
}

// Whether numbers are as near to the middle of two float32 as their error is large, that is, whether their last 29 bits
// are within 2^12 of 2^28: these and the next ones are moved to the end, and the largest is kept.
class Nearness {
 public:
  void add(D y) noexcept {
    I low = (xs::bitwise_cast<i32>(y) + I(static_cast<i32>(half - near))) &
            xs::bitwise_cast<i32>(Batch<u64>(u64{2 * half - 1}));
    most_ = xs::max(most_, low);
  }
  bool is_decided() const noexcept { return !xs::any(most_ >= I(static_cast<i32>(2 * (half - near)))); }

 private:
  using I = Batch<i32>;
  static constexpr u32 half = u32{1} << 28, near = u32{1} << 12;
  I most_ = I(0);
};

// Two vectors at once: each waits for its polynomials.
template <class F>
SUANZI_FLAT bool rounded(const f32* x, f32* out, std::size_t n) {
  static_assert(rounding_width % (2 * D::size) == 0);
  Nearness nearness;
  for (std::size_t i = 0; i < n; i += 2 * D::size) {
    D first = F::apply(widened(x + i)), second = F::apply(widened(x + i + D::size));
    nearness.add(first);
    nearness.add(second);
    store_narrowed(first, out + i);
    store_narrowed(second, out + i + D::size);
  }
  return nearness.is_decided();
}

// ---- quotients and roots ---------------------------------------------------------------------------------

// Of numbers that are neither 0 nor infinite. AVX-512's instructions for both take four times as long as Newton's
// method.
#if defined(__AVX512F__)
inline D quotient(D a, D b) noexcept {
  D inverse = _mm512_rcp14_pd(b);
  for (int i = 0; i < 2; ++i) inverse = xs::fma(inverse, xs::fnma(b, inverse, D(1.0)), inverse);
  return a * inverse;
}
inline D inverse_root(D x) noexcept {
  D root = _mm512_rsqrt14_pd(x);
  for (int i = 0; i < 2; ++i) root = xs::fma(root * D(0.5), xs::fnma(x * root, root, D(1.0)), root);
  return root;
}
inline D root(D x) noexcept {
  x = xs::max(x, D(0x1p-900));  // which stands for 0
  return x * inverse_root(x);
}
#else
inline D quotient(D a, D b) noexcept { return a / b; }
inline D inverse_root(D x) noexcept { return D(1.0) / xs::sqrt(x); }
inline D root(D x) noexcept { return xs::sqrt(x); }
#endif

// ---- exponentials -------------------------------------------------------------------------------------

// exp(x) = power (1 + part), for x within [-400, 400]. The product with log(2) is off by 2^-47 at most. The part alone
// counts if 1 is taken off, and then has to be exact by itself.
template <bool takes_one_off>
struct Exponential {
  D power, part;

  explicit Exponential(D x) noexcept {
#if defined(__AVX512F__)
    D shifted = xs::fma(x, D(16 * 0x1.71547652b82fep+0), D(whole_magic<f64>)), n = shifted - D(whole_magic<f64>);
    D r = xs::fnma(n, D(0x1.62e42fefa39efp-1 / 16), x);
    power = _mm512_scalef_pd(look_up(power_sixteenth, shifted), n * D(1.0 / 16));
    if constexpr (takes_one_off) part = xs::fma(r * r, polynomial(exponential_less_one_sixteenth, r), r);
    else part = xs::fma(r * r, polynomial(exponential_rounded_sixteenth, r), r);
#else
    D shifted = xs::fma(x, D(0x1.71547652b82fep+0), D(whole_magic<f64>)), n = shifted - D(whole_magic<f64>);
    D r = xs::fnma(n, D(0x1.62e42fefa39efp-1), x);
    power = xs::bitwise_cast<f64>((xs::bitwise_cast<i64>(shifted) + Batch<i64>(1023)) << 52);
    part = xs::fma(r * r, polynomial(exponential_rounded, r), r);
#endif
  }
  D value() const noexcept { return xs::fma(power, part, power); }
  D less_one() const noexcept { return xs::fma(power, part, power - D(1.0)); }
};

inline D within(D x, f64 low, f64 high) noexcept { return xs::min(xs::max(x, D(low)), D(high)); }
inline D keep_nan(D x, D y) noexcept { return xs::select(x == x, y, x); }

struct exp {
  static D apply(D x) noexcept {
    D y = keep_nan(x, Exponential<false>(within(x, -200, 200)).value());
    return xs::select(x < D(-87.3) && x > D(-104.5), D(undecided), y);  // a subnormal number has another middle
  }
};
struct expm1 {
  static D apply(D x) noexcept {
    D y = Exponential<true>(within(x, -200, 200)).less_one();
    return xs::select(x == D(0.0) || x != x, x, y);
  }
};
struct sinh {
  static D apply(D x) noexcept {
    D e = Exponential<true>(xs::min(xs::abs(x), D(200.0))).less_one();
    return keep_nan(x, xs::copysign(D(0.5) * (e + quotient(e, e + D(1.0))), x));
  }
};
struct cosh {
  static D apply(D x) noexcept {
    D e = Exponential<false>(xs::min(xs::abs(x), D(200.0))).value();
    return keep_nan(x, D(0.5) * (e + quotient(D(1.0), e)));
  }
};
struct tanh {
  static D apply(D x) noexcept {
    D e = Exponential<true>(D(2.0) * xs::min(xs::abs(x), D(30.0))).less_one();
    return keep_nan(x, xs::copysign(quotient(e, e + D(2.0)), x));
  }
};

// ---- logarithms ---------------------------------------------------------------------------------------

// x = 2^k z with z within [sqrt(1/2), sqrt(2)], for normal numbers above 0.
struct Parts {
  D k, z;

  explicit Parts(D x) noexcept {
    using U = Batch<u64>;
    U bits = xs::bitwise_cast<u64>(x), offset = bits - U(u64{0x3FE6A09E667F3BCD});
    // The exponent plus 2048 is a small whole number, which the bits of 2^52 turn into a double.
    U biased = (offset ^ U(u64{1} << 63)) >> 52;
    k = xs::bitwise_cast<f64>(biased | U(u64{0x433} << 52)) - D(0x1p52 + 2048);
    z = xs::bitwise_cast<f64>(bits - (offset & U(u64{0xFFF} << 52)));
  }
};

// log((1 + s)/(1 - s)).
inline D log_by_slope(D s) noexcept {
  D t = s * s;
  return xs::fma(s * t, polynomial(logarithm_rounded, t), s + s);
}

// Where there is no finite logarithm, an element is left to others.
[[maybe_unused]] inline D if_positive(D x, D y) noexcept {
  return xs::select(x > D(0.0) && x < D(infinite), y, D(undecided));
}

#if defined(__AVX512F__)
template <class Base>
struct LogOfLevel {
  static D apply(D x) noexcept { return log_of_level<Base>(x); }
};
using log = LogOfLevel<BaseE>;
using log2 = LogOfLevel<Base2>;
using log10 = LogOfLevel<Base10>;
#else
struct log {
  static D apply(D x) noexcept {
    Parts at(x);
    D found = log_by_slope((at.z - D(1.0)) / (at.z + D(1.0)));
    return if_positive(x, xs::fma(at.k, D(0x1.62e42fefa39efp-1), found));
  }
};
struct log2 {
  static D apply(D x) noexcept {
    Parts at(x);
    D found = log_by_slope((at.z - D(1.0)) / (at.z + D(1.0)));
    return if_positive(x, xs::fma(found, D(0x1.71547652b82fep+0), at.k));
  }
};
struct log10 {
  static D apply(D x) noexcept {
    Parts at(x);
    D found = log_by_slope((at.z - D(1.0)) / (at.z + D(1.0)));
    return if_positive(x, xs::fma(at.k, D(0x1.34413509f79ffp-2), found * D(0x1.bcb7b1526e50ep-2)));
  }
};
#endif

// log(1 + x), where that is finite: next to 0 nothing is taken off a rounded sum.
inline D log_of_one_more(D x) noexcept {
  Parts at(x + D(1.0));
  auto near = at.k == D(0.0);
  D numerator = xs::select(near, x, at.z - D(1.0)), denominator = xs::select(near, x + D(2.0), at.z + D(1.0));
  return xs::fma(at.k, D(0x1.62e42fefa39efp-1), log_by_slope(quotient(numerator, denominator)));
}

struct log1p {
  static D apply(D x) noexcept {
    D y = xs::select(x == D(0.0), x, log_of_one_more(x));
    return xs::select(x > D(-1.0) && x < D(infinite), y, D(undecided));
  }
};
struct asinh {
  static D apply(D x) noexcept {
    D size = xs::abs(x), square = size * size;
    D y = log_of_one_more(size + quotient(square, D(1.0) + root(D(1.0) + square)));
    return xs::select(size < D(infinite), xs::copysign(y, x), D(undecided));
  }
};
struct acosh {
  static D apply(D x) noexcept {
    D more = x - D(1.0), y = log_of_one_more(more + root(more * (x + D(1.0))));
    return xs::select(x >= D(1.0) && x < D(infinite), y, D(undecided));
  }
};
struct atanh {
  static D apply(D x) noexcept {
    D size = xs::abs(x), y = D(0.5) * log_of_one_more(quotient(size + size, D(1.0) - size));
    return xs::select(size < D(1.0), xs::copysign(y, x), D(undecided));
  }
};

// ---- sine, cosine, tangent -----------------------------------------------------------------------------

// x = n pi/2 + r: sin(r) and cos(r), n in the low bits of an integer. Every product of the first parts is exact.
struct SineAndCosine {
  D sine, cosine;
  Batch<i64> quadrant;

  explicit SineAndCosine(D x) noexcept {
    D shifted = xs::fma(x, D(0x1.45f306dc9c883p-1), D(whole_magic<f64>)), n = shifted - D(whole_magic<f64>);
    quadrant = xs::bitwise_cast<i64>(shifted);
    D r = xs::fnma(n, D(half_pi[2]), xs::fnma(n, D(half_pi[1]), xs::fnma(n, D(half_pi[0]), x))), t = r * r;
    sine = xs::fma(t * r, polynomial(sine_rounded, t), r);
    cosine = xs::fma(t, xs::fma(t, polynomial(cosine_rounded, t), D(-0.5)), D(1.0));
  }
  auto swaps() const noexcept { return xs::batch_bool_cast<f64>((quadrant & Batch<i64>(1)) != Batch<i64>(0)); }
};

inline D if_near(D x, D y) noexcept { return xs::select(xs::abs(x) < D(0x1p20), y, D(undecided)); }

struct sin {
  static D apply(D x) noexcept {
    SineAndCosine of(x);
    D sign = xs::bitwise_cast<f64>((of.quadrant & Batch<i64>(2)) << 62);
    return if_near(x, xs::select(x == D(0.0), x, xs::select(of.swaps(), of.cosine, of.sine) ^ sign));
  }
};
struct cos {
  static D apply(D x) noexcept {
    SineAndCosine of(x);
    D sign = xs::bitwise_cast<f64>(((of.quadrant + Batch<i64>(1)) & Batch<i64>(2)) << 62);
    return if_near(x, xs::select(of.swaps(), of.sine, of.cosine) ^ sign);
  }
};
struct tan {
  static D apply(D x) noexcept {
    SineAndCosine of(x);
    auto swap = of.swaps();
    D found = quotient(xs::select(swap, of.cosine, of.sine), xs::select(swap, of.sine, of.cosine));
    D sign = xs::bitwise_cast<f64>((of.quadrant & Batch<i64>(1)) << 63);
    return if_near(x, xs::select(x == D(0.0), x, found ^ sign));
  }
};

// ---- their inverses -------------------------------------------------------------------------------------

constexpr f64 right = 0x1.921fb54442d18p+0, right_rest = 0x1.1a62633145c07p-54;

// For |x| > 1/2 both go through asin(sqrt((1 - |x|)/2)).
struct Arcsine {
  D value;
  D::batch_bool_type large;

  explicit Arcsine(D size) noexcept {
    large = size > D(0.5);
    D t = xs::select(large, (D(1.0) - size) * D(0.5), size * size), small = xs::select(large, root(t), size);
    value = xs::fma(small * t, polynomial(arcsine_rounded, t), small);
  }
};

struct asin {
  static D apply(D x) noexcept {
    Arcsine of(xs::abs(x));
    D y = xs::copysign(xs::select(of.large, D(right) - (of.value + of.value), of.value), x);
    return xs::select(xs::abs(x) <= D(1.0), y, D(undecided));
  }
};
struct acos {
  static D apply(D x) noexcept {
    Arcsine of(xs::abs(x));
    D twice = of.value + of.value, far = xs::select(x < D(0.0), D(2 * right) - twice, twice);
    D y = xs::select(of.large, far, D(right) - (xs::copysign(of.value, x) - D(right_rest)));
    return xs::select(xs::abs(x) <= D(1.0), y, D(undecided));
  }
};
struct atan {
  static D apply(D x) noexcept {
    D size = xs::abs(x);
    auto steep = size > D(0x1.3504f333f9de6p+1), middle = size > D(0x1.a827999fcef32p-2);
    D numerator = xs::select(steep, D(-1.0), xs::select(middle, size - D(1.0), size));
    D denominator = xs::select(steep, size, xs::select(middle, size + D(1.0), D(1.0)));
    D t = quotient(numerator, denominator), square = t * t;
    D angle = xs::select(steep, D(right), xs::select(middle, D(right / 2), D(0.0)));
    D y = xs::copysign(angle + xs::fma(t * square, polynomial(arctangent_rounded, square), t), x);
    return xs::select(size < D(infinite), y, D(undecided));
  }
};

// ---- powers ---------------------------------------------------------------------------------------------

struct rsqrt {
  static D apply(D x) noexcept { return xs::select(x > D(0.0) && x < D(infinite), inverse_root(x), D(undecided)); }
};

// 2^(y log2(x)): the error of the logarithm counts as often as the exponent is large.
SUANZI_FLAT bool powers(const f32* x, const f32* y, f32* out, std::size_t n) {
  Nearness nearness;
  for (std::size_t i = 0; i < n; i += D::size) {
    D a = widened(x + i), b = widened(y + i);
    Parts at(a);
    D s = quotient(at.z - D(1.0), at.z + D(1.0)), t = s * s;
    D log = xs::fma(s * t, polynomial(logarithm_for_power, t), s + s);
    D e = within(b * xs::fma(log, D(0x1.71547652b82fep+0), at.k), -300, 300);
    D shifted = e + D(whole_magic<f64>), r = e - (shifted - D(whole_magic<f64>));
    D power = xs::bitwise_cast<f64>((xs::bitwise_cast<i64>(shifted) + Batch<i64>(1023)) << 52);
    D found = xs::fma(power * r, polynomial(power_rounded, r), power);
    auto plain = a > D(0.0) && a < D(infinite) && xs::abs(b) < D(infinite);
    plain = plain && (e > D(-126.0) || e < D(-151.0));  // a subnormal number has another middle
    found = xs::select(plain, found, D(undecided));
    nearness.add(found);
    store_narrowed(found, out + i);
  }
  return nearness.is_decided();
}

RoundingKernels make_table() {
  RoundingKernels k{};
#define SUANZI_ROUNDED(name) k.unary[static_cast<std::size_t>(UnaryOp::name)] = &rounded<name>;
  SUANZI_ROUNDED(rsqrt)
  SUANZI_ROUNDED(sin)
  SUANZI_ROUNDED(cos)
  SUANZI_ROUNDED(tan)
  SUANZI_ROUNDED(asin)
  SUANZI_ROUNDED(acos)
  SUANZI_ROUNDED(atan)
  SUANZI_ROUNDED(sinh)
  SUANZI_ROUNDED(cosh)
  SUANZI_ROUNDED(tanh)
  SUANZI_ROUNDED(asinh)
  SUANZI_ROUNDED(acosh)
  SUANZI_ROUNDED(atanh)
  SUANZI_ROUNDED(exp)
  SUANZI_ROUNDED(expm1)
  SUANZI_ROUNDED(log)
  SUANZI_ROUNDED(log1p)
  SUANZI_ROUNDED(log10)
  SUANZI_ROUNDED(log2)
#undef SUANZI_ROUNDED
  k.pow = &powers;
  return k;
}

}  // namespace rounding
}  // namespace

SUANZI_TABLE(RoundingKernels, rounding_kernels, rounding::make_table())

}  // namespace suanzi
#undef xsimd
