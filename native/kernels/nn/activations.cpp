// native/kernels/nn/activations.cpp: activations and their gradients, in vectors of float32 and float64.
//
// One pass: every functor takes vectors of its inputs and makes those of its outputs. Where a function has a limit at
// an infinity, that is its value there. A gradient is the product of out_grad, the first input, and a derivative.
#include "kernels/common.inc"

#include <string_view>

#include "kernels/formats.inc"
#include "kernels/functions/magnitude.inc"
#include "kernels/nn/activations.h"

#include "kernels/arithmetic/arithmetic.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"

#include "kernels/nn/gates.inc"

#include "kernels/nn/gates_avx512.inc"

#include "kernels/nn/staged.inc"

#include "kernels/nn/activation_loops.inc"

namespace suanzi {
namespace {
namespace activations {

// A function of `in`, vectors of its inputs, to `out`, those of its outputs; `p` are its parameters.
#define SUANZI_ACTIVATION(name) \
  constexpr auto name =         \
      []<class B>([[maybe_unused]] const B* in, B* out, [[maybe_unused]] const f64* p) noexcept -> void

// ---- of pieces -------------------------------------------------------------------------------------

SUANZI_ACTIVATION(relu) { *out = xs::select(*in <= number<B>(0), number<B>(0), *in); };
SUANZI_ACTIVATION(relu_bwd) { *out = nan_as(in[1], xs::select(in[1] > number<B>(0), in[0], number<B>(0))); };

// Between two numbers; NaN stays.
template <class B>
inline B clamped(B x, B low, B high) noexcept {
  return xs::select(x <= low, low, xs::select(x >= high, high, x));
}
template <class B>
inline B if_inside(B grad, B x, B low, B high) noexcept {
  return nan_as(x, xs::select(x > low && x < high, grad, number<B>(0)));
}

SUANZI_ACTIVATION(relu6) { *out = clamped(*in, number<B>(0), number<B>(6)); };
SUANZI_ACTIVATION(relu6_bwd) { *out = if_inside(in[0], in[1], number<B>(0), number<B>(6)); };
SUANZI_ACTIVATION(hardtanh) { *out = clamped(*in, number<B>(p[0]), number<B>(p[1])); };
SUANZI_ACTIVATION(hardtanh_bwd) { *out = if_inside(in[0], in[1], number<B>(p[0]), number<B>(p[1])); };

SUANZI_ACTIVATION(relu_squared) { *out = xs::select(*in <= number<B>(0), number<B>(0), *in * *in); };
SUANZI_ACTIVATION(relu_squared_bwd) {
  *out = xs::select(in[1] <= number<B>(0), number<B>(0), in[0] * (in[1] + in[1]));
};

SUANZI_ACTIVATION(leaky_relu) { *out = xs::select(*in > number<B>(0), *in, *in * number<B>(p[0])); };
SUANZI_ACTIVATION(leaky_relu_bwd) {
  *out = nan_as(in[1], xs::select(in[1] > number<B>(0), in[0], in[0] * number<B>(p[0])));
};
SUANZI_ACTIVATION(prelu) { *out = xs::select(in[0] > number<B>(0), in[0], in[0] * in[1]); };
SUANZI_ACTIVATION(prelu_bwd) {
  auto positive = in[1] > number<B>(0);
  out[0] = nan_as(in[1], xs::select(positive, in[0], in[0] * in[2]));
  out[1] = xs::select(positive, number<B>(0), in[0] * in[1]);
};

// x times a scale where the mask is not 0.
SUANZI_ACTIVATION(dropout) { *out = xs::select(in[1] == number<B>(0), number<B>(0), times(in[0], constant<B>(p[0]))); };

SUANZI_ACTIVATION(softsign) {
  B x = *in, size = xs::abs(x), one = number<B>(1);
  B found = x / (one + size);
  *out = xs::select(size == number<B>(std::numeric_limits<f64>::infinity()), xs::copysign(one, x), found);
};
SUANZI_ACTIVATION(softsign_bwd) {
  Pair<B> root = inverse_of(exact_sum(number<B>(1), xs::abs(in[1])));
  Pair<B> square = exact_product(root.high, root.high);
  square.low += number<B>(2) * root.high * root.low;
  B infinity = number<B>(std::numeric_limits<f64>::infinity());
  *out = in[0] * xs::select(xs::abs(in[1]) == infinity, number<B>(0), square.sum());
};

// x + 3 between 0 and 6.
template <class B>
inline Pair<B> hard_gate(B x) noexcept {
  Pair<B> found = exact_sum(x, number<B>(3));
  auto low = x <= number<B>(-3), high = x >= number<B>(3);
  found.high = xs::select(low, number<B>(0), xs::select(high, number<B>(6), found.high));
  found.low = xs::select(low || high, number<B>(0), found.low);
  return found;
}
// A finite number over 6.
template <class B>
inline B sixth(B x) noexcept {
  Pair<B> factor = constant<B>(0x1.5555555555555p-3, 0x1.5555555555555p-57);
  return xs::fma(x, factor.high, x * factor.low);
}
SUANZI_ACTIVATION(hardsigmoid) { *out = sixth(hard_gate(*in).high); };
SUANZI_ACTIVATION(hardsigmoid_bwd) { *out = if_inside(in[0] / number<B>(6), in[1], number<B>(-3), number<B>(3)); };
SUANZI_ACTIVATION(hardswish) {
  B x = *in;
  Pair<B> gate = hard_gate(x);
  B found = sixth(xs::fma(x, gate.high, x * gate.low));
  *out = xs::select(x <= number<B>(-3), number<B>(0), xs::select(x >= number<B>(3), x, found));
};
SUANZI_ACTIVATION(hardswish_bwd) {
  B x = in[1], slope = (x + x + number<B>(3)) / number<B>(6);
  slope = xs::select(x <= number<B>(-3), number<B>(0), xs::select(x >= number<B>(3), number<B>(1), slope));
  *out = in[0] * slope;
};

// ---- of exponentials -------------------------------------------------------------------------------

// a (exp(x / b) - 1) below 0, c x above.
template <class B>
inline B exponential_below_0(B x, Pair<B> a, B scaled_x, Pair<B> c) noexcept {
  return xs::select(x > number<B>(0), times(x, c), times(suanzi::expm1::apply(scaled_x), a));
}
template <class B>
inline B exponential_slope(B grad, B x, Pair<B> a, B scaled_x, Pair<B> c) noexcept {
  B negative = times(suanzi::exp::apply(xs::min(scaled_x, number<B>(0))), a);
  return nan_as(x, xs::select(x > number<B>(0), times(grad, c), grad * negative));
}

constexpr f64 selu_scale = 0x1.0cfabd6a91132p+0, selu_scale_rest = 0x1.6fc7d272f2695p-55;
constexpr f64 selu_below = 0x1.c212cc640f031p+0, selu_below_rest = 0x1.05161b045a1fep-56;

SUANZI_ACTIVATION(elu) { *out = exponential_below_0(*in, constant<B>(p[0]), *in, constant<B>(1)); };
SUANZI_ACTIVATION(elu_bwd) { *out = exponential_slope(in[0], in[1], constant<B>(p[0]), in[1], constant<B>(1)); };
SUANZI_ACTIVATION(selu) {
  *out =
      exponential_below_0(*in, constant<B>(selu_below, selu_below_rest), *in, constant<B>(selu_scale, selu_scale_rest));
};
SUANZI_ACTIVATION(selu_bwd) {
  *out = exponential_slope(in[0], in[1], constant<B>(selu_below, selu_below_rest), in[1],
                           constant<B>(selu_scale, selu_scale_rest));
};
SUANZI_ACTIVATION(celu) { *out = exponential_below_0(*in, constant<B>(p[0]), *in / number<B>(p[0]), constant<B>(1)); };
SUANZI_ACTIVATION(celu_bwd) {
  *out = exponential_slope(in[0], in[1], constant<B>(1), in[1] / number<B>(p[0]), constant<B>(1));
};

// log(1 + exp(z)) = max(z, 0) + log(1 + exp(-|z|)), the last of which is e.
template <class B>
inline B log_of_1_and_exp(Pair<B> z, B e) noexcept {
  B above = suanzi::log1p::apply(e);
  return xs::select(z.high < number<B>(0), above, z.high + (above + z.low));
}
template <std::size_t at>
constexpr auto scaled_exponent = SUANZI_EXPONENT {
  return negative_size(with_factor(in[at], p[0]));
};
constexpr auto softplus = staged(
    scaled_exponent<0>, SUANZI_REST {
      B x = *in;
      Pair<B> z = with_factor(x, p[0]);
      B log = log_of_1_and_exp(z, e), found;
      if constexpr (is_single<B>) found = times(log, constant<B>(1 / p[0]));  // beta has no rounding of its own
      else found = log / number<B>(p[0]);
      *out = xs::select(z.high > number<B>(p[1]), x, nan_as(x, found));
    });
constexpr auto softplus_bwd = staged(
    scaled_exponent<1>, SUANZI_REST {
      B z = with_factor(in[1], p[0]).high;
      *out = xs::select(z > number<B>(p[1]), in[0], times(in[0], Logistic<B>::of_z(z, e).p));
    });

// -|x| of one of the inputs.
template <std::size_t at>
constexpr auto plain_exponent = SUANZI_EXPONENT {
  return -xs::abs(in[at]);
};
constexpr auto log_sigmoid =
    staged(plain_exponent<0>, SUANZI_REST { *out = -log_of_1_and_exp(Pair<B>{-*in, number<B>(0)}, e); });
constexpr auto log_sigmoid_bwd =
    staged(plain_exponent<1>, SUANZI_REST { *out = times(in[0], Logistic<B>::of_z(-in[1], e).p); });

// ---- gates: x times what lies between 0 and 1 ----------------------------------------------------------

// x p(x), where p is 0 at -inf, 1 at inf and NaN where x is.
template <class B>
inline B gated(B x, Pair<B> gate) noexcept {
  B large = number<B>(10000), finite = xs::max(x, -large);
  B found = xs::select(x > large, x, xs::fma(finite, gate.high, finite * gate.low));
  return xs::copysign(found, x);  // -0 plus 0 * low may be 0
}

// Each gate has an exponent, and by e, its exponential, a value in two parts and the derivative of x times it.
struct silu_gate {
  using level = SiluOfLevel;
  template <class B>
  static B exponent(B x) noexcept {
    return -xs::abs(x);
  }
  template <class B>
  static Pair<B> value(B x, B e) noexcept {
    return Logistic<B>::of_z(x, e).p;
  }
  template <class B>
  static B slope(B x, B e, Pair<B>& gate) noexcept {
    auto found = Logistic<B>::of_z(x, e);
    gate = found.p;
    return found.p.high * xs::fma(x, found.rest.high, number<B>(1));
  }
};

struct quick_gate {
  using level = void;
  static constexpr f64 factor = 1.702;
  template <class B>
  static Pair<B> exponent(B x) noexcept {
    return negative_size(with_factor(x, factor));
  }
  template <class B>
  static Pair<B> value(B x, B e) noexcept {
    return Logistic<B>::of_z(x, e).p;
  }
  template <class B>
  static B slope(B x, B e, Pair<B>& gate) noexcept {
    auto found = Logistic<B>::of_z(x, e);
    gate = found.p;
    return found.p.high * xs::fma(number<B>(factor) * x, found.rest.high, number<B>(1));
  }
};

// (1 + tanh(u)) / 2 is the logistic function of 2 u = a x + b x^3.
struct tanh_gate {
  using level = void;
  static constexpr f64 a = 0x1.9884533d43651p+0, a_rest = -0x1.cbc0d30ebfd15p-54;
  static constexpr f64 b = 0x1.2444f2a4d8b4bp-4, b_rest = -0x1.3023b0e5fbc6ep-58;
  template <class B>
  static Pair<B> exponent(B x) noexcept {
    x = xs::min(xs::abs(x), number<B>(100));
    Pair<B> square = exact_product(x, x), cubic = constant<B>(b, b_rest), linear = constant<B>(a, a_rest);
    Pair<B> more = scaled(square.high, cubic);
    more.low = xs::fma(square.low, cubic.high, more.low);
    Pair<B> sum = exact_sum(linear.high, more.high);
    sum.low += linear.low + more.low;
    return negative_size(scaled(x, sum));
  }
  template <class B>
  static Pair<B> value(B x, B e) noexcept {
    return Logistic<B>::of_z(x, e).p;
  }
  template <class B>
  static B slope(B x, B e, Pair<B>& gate) noexcept {
    auto found = Logistic<B>::of_z(x, e);
    gate = found.p;
    B factor = xs::fma(number<B>(3 * b) * x, x, number<B>(a));
    return found.p.high * xs::fma(x * factor, found.rest.high, number<B>(1));
  }
};

struct normal_gate {
  using level = GeluOfLevel;
  template <class B>
  static Pair<B> exponent(B x) noexcept {
    B t = size_for_tail(x), minus_half = number<B>(-0.5);
    Pair<B> square = exact_product(t, t);
    return {minus_half * square.high, minus_half * square.low};
  }
  template <class B>
  static Pair<B> value(B x, B e) noexcept {
    return distribution(x, e);
  }
  template <class B>
  static B slope(B x, B e, Pair<B>& gate) noexcept {
    gate = distribution(x, e);
    return xs::fma(x * number<B>(density_at_0), e, gate.high);
  }
};

// With a = exp(-|x|), tanh(log(1 + exp(x))) = n / d, where n = 1 + 2 a and d = n + 2 a^2 above 0, and n = 2 a + a^2 and
// d = n + 2 below: sums of positive numbers. Its derivative times x is 4 x a (1 + a) / d^2, above 0 times a.
struct mish_gate : silu_gate {
  using level = void;
  template <class B>
  static Pair<B> parts(B x, B a, B& inverse) noexcept {
    auto negative = x < number<B>(0);
    Pair<B> square = exact_product(a, a);
    B zero = number<B>(0), two = number<B>(2), twice = a + a;
    Pair<B> n = exact_sum(xs::select(negative, twice, number<B>(1)), xs::select(negative, square.high, twice));
    n.low += xs::select(negative, square.low, zero);
    Pair<B> d = exact_sum(n.high, xs::select(negative, two, two * square.high));
    d.low += n.low + xs::select(negative, zero, two * square.low);
    return quotient(n, d, inverse);
  }
  template <class B>
  static Pair<B> value(B x, B e) noexcept {
    B inverse;
    return parts(x, e, inverse);
  }
  template <class B>
  static B slope(B x, B e, Pair<B>& gate) noexcept {
    B inverse, one = number<B>(1);
    gate = parts(x, e, inverse);
    B part = number<B>(4) * e * (one + e) * xs::select(x < number<B>(0), one, e) * inverse * inverse;
    return xs::fma(x, part, gate.high);
  }
};

template <class Gate, std::size_t at>
constexpr auto gate_exponent = SUANZI_EXPONENT {
  return Gate::exponent(bounded(in[at]));
};
template <class Gate>
constexpr auto gate = staged<OfLevel<typename Gate::level, value_of>>(
    gate_exponent<Gate, 0>, SUANZI_REST { *out = gated(*in, Gate::value(*in, e)); });
template <class Gate>
constexpr auto gate_bwd = staged<OfLevel<typename Gate::level, slope_of>>(
    gate_exponent<Gate, 1>, SUANZI_REST {
      Pair<B> unused;
      *out = in[0] * Gate::slope(bounded(in[1]), e, unused);
    });
// x p(x) y
template <class Gate>
constexpr auto gated_product = staged<OfLevel<typename Gate::level, product_of>>(
    gate_exponent<Gate, 0>, SUANZI_REST {
      B x = bounded(in[0]);
      Pair<B> found = scaled(x, Gate::value(x, e));
      found.high = xs::select(in[0] > number<B>(10000), in[0], found.high);
      *out = times(in[1], found);
    });
template <class Gate>
constexpr auto gated_product_bwd = staged<OfLevel<typename Gate::level, product_slopes_of>>(
    gate_exponent<Gate, 1>, SUANZI_REST {
      Pair<B> value;
      B slope = Gate::slope(bounded(in[1]), e, value);
      out[0] = in[0] * in[2] * slope;
      out[1] = in[0] * gated(in[1], value);
    });

#define SUANZI_GATE(name, product, gate_type)        \
  constexpr auto name = gate<gate_type>;             \
  constexpr auto name##_bwd = gate_bwd<gate_type>;   \
  constexpr auto product = gated_product<gate_type>; \
  constexpr auto product##_bwd = gated_product_bwd<gate_type>;
SUANZI_GATE(silu, swiglu, silu_gate)
SUANZI_GATE(gelu, geglu, normal_gate)
SUANZI_GATE(gelu_tanh, geglu_tanh, tanh_gate)
constexpr auto quick_gelu = gate<quick_gate>;
constexpr auto quick_gelu_bwd = gate_bwd<quick_gate>;
constexpr auto mish = gate<mish_gate>;
constexpr auto mish_bwd = gate_bwd<mish_gate>;

constexpr auto sigmoid = staged<OfLevel<SigmoidOfLevel, value_of>>(
    plain_exponent<0>, SUANZI_REST { *out = Logistic<B>::of_z(*in, e).p.sum(); });
constexpr auto sigmoid_bwd =
    staged(plain_exponent<1>, SUANZI_REST { *out = times(in[0], Logistic<B>::of_z(in[1], e).product()); });
constexpr auto glu = staged(plain_exponent<1>, SUANZI_REST { *out = times(in[0], Logistic<B>::of_z(in[1], e).p); });
constexpr auto glu_bwd = staged(
    plain_exponent<2>, SUANZI_REST {
      auto found = Logistic<B>::of_z(in[2], e);
      out[0] = times(in[0], found.p);
      out[1] = in[0] * times(in[1], found.product());
    });

// ---- of the error function -------------------------------------------------------------------------

template <std::size_t at>
constexpr auto square_exponent = SUANZI_EXPONENT {
  B x = size_for_tail(in[at]);
  Pair<B> square = exact_product(x, x);
  return Pair<B>{-square.high, -square.low};
};
constexpr auto erf = staged(
    square_exponent<0>, SUANZI_REST {
      B x = *in, far = number<B>(1) - erfc_of_size(x, e);
      B size = xs::select(xs::abs(x) < number<B>(0.75), erf_near_0(x), far);
      *out = nan_as(x, xs::copysign(size, x));  // of -0, too
    });
constexpr auto erfc = staged(
    square_exponent<0>, SUANZI_REST {
      B x = *in, tail = erfc_of_size(x, e);
      B far = xs::select(x < number<B>(0), number<B>(2) - tail, tail);
      auto near = x > number<B>(-0.75) && x < number<B>(0.25);
      *out = nan_as(x, xs::select(near, number<B>(1) - erf_near_0(x), far));
    });
template <class B>
inline B bell(B x, B e) noexcept {
  return nan_as(x, times(e, constant<B>(two_over_root_pi, two_over_root_pi_rest)));
}
constexpr auto erf_bwd = staged(square_exponent<1>, SUANZI_REST { *out = in[0] * bell(in[1], e); });
constexpr auto erfc_bwd = staged(square_exponent<1>, SUANZI_REST { *out = -in[0] * bell(in[1], e); });

template <const auto& functor>
using Functor = std::remove_cvref_t<decltype(functor)>;

ActivationKernels make_table() {
  static FunctionTable tables[activation_count][table_format_count];
  ActivationKernels k{};
  k.tables = &tables;
#define ACTIVATION(name, inputs, outputs, cost, ...)                                                              \
  k.loops[static_cast<std::size_t>(Activation::name)][0] = &activation_loop<Functor<name>, inputs, outputs, f32>; \
  k.loops[static_cast<std::size_t>(Activation::name)][1] = &activation_loop<Functor<name>, inputs, outputs, f64>; \
  k.of_bfloats[static_cast<std::size_t>(Activation::name)] = loop_of_bfloats<Functor<name>, inputs, outputs>();   \
  if constexpr (inputs == 1)                                                                                      \
    k.unary[static_cast<std::size_t>(Activation::name)] = [](const void* in, void* out, std::size_t n) {          \
      const ActivationParameters defaults = {__VA_ARGS__};                                                        \
      unary_loop_of<&activation_loop<Functor<name>, 1, 1, f64>, is_half_near_0(#name)>(in, out, n, defaults);     \
    };
#include "kernels/nn/activations.def"
#undef ACTIVATION
  return k;
}

}  // namespace activations
}  // namespace

SUANZI_TABLE(ActivationKernels, activation_kernels, activations::make_table())

}  // namespace suanzi
#undef xsimd
