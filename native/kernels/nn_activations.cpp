// native/kernels/nn_activations.cpp: activations and their gradients, in vectors of float32 and float64.
//
// One pass: every functor takes vectors of its inputs and makes those of its outputs. Where a function has a limit at
// an infinity, that is its value there. A gradient is the product of out_grad, the first input, and a derivative.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/magnitude.inc"
#include "kernels/nn_activations.h"

#include "kernels/arithmetic.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors.inc"

#include "kernels/logarithm.inc"

#include "kernels/exponential.inc"

#include "kernels/nn_gates.inc"

namespace suanzi {
namespace {
namespace activations {

// A function of `in`, vectors of its inputs, to `out`, those of its outputs; `p` are its parameters.
#define SUANZI_ACTIVATION(name) \
  constexpr auto name =         \
      []<class B>([[maybe_unused]] const B* in, B* out, [[maybe_unused]] const f64* p) noexcept -> void

template <class B>
inline B number(f64 x) noexcept {
  return B(static_cast<Element<B>>(x));
}

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
  B unused, one = number<B>(1);
  Pair<B> root = quotient<B>({one, number<B>(0)}, exact_sum(one, xs::abs(in[1])), unused);
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
SUANZI_ACTIVATION(hardsigmoid) { *out = hard_gate(*in).high / number<B>(6); };
SUANZI_ACTIVATION(hardsigmoid_bwd) { *out = if_inside(in[0] / number<B>(6), in[1], number<B>(-3), number<B>(3)); };
SUANZI_ACTIVATION(hardswish) {
  B x = *in;
  B found = times(x, hard_gate(x)) / number<B>(6);
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

// beta x in two parts; the second is nothing where the first says all.
template <class B>
inline Pair<B> with_factor(B x, f64 beta) noexcept {
  Pair<B> z = scaled(x, constant<B>(beta));
  z.low = xs::select(xs::abs(z.high) < number<B>(2000), z.low, number<B>(0));
  return z;
}

// log(1 + exp(z)) = max(z, 0) + log(1 + exp(-|z|)).
template <class B>
inline B log_of_1_and_exp(Pair<B> z) noexcept {
  auto negative = z.high < number<B>(0);
  B tail = xs::select(negative, z.low, -z.low);
  B above = suanzi::log1p::apply(exp_with_tail(-xs::abs(z.high), tail));
  return xs::select(negative, above, z.high + (above + z.low));
}
SUANZI_ACTIVATION(softplus) {
  B x = *in;
  Pair<B> z = with_factor(x, p[0]);
  B found = log_of_1_and_exp(z) / number<B>(p[0]);
  *out = xs::select(z.high > number<B>(p[1]), x, nan_as(x, found));
};
SUANZI_ACTIVATION(softplus_bwd) {
  Pair<B> z = with_factor(in[1], p[0]);
  B found = times(in[0], Logistic<B>::of(z).p);
  *out = xs::select(z.high > number<B>(p[1]), in[0], found);
};
SUANZI_ACTIVATION(log_sigmoid) { *out = -log_of_1_and_exp(Pair<B>{-*in, number<B>(0)}); };
SUANZI_ACTIVATION(log_sigmoid_bwd) { *out = times(in[0], Logistic<B>::of(-in[1]).p); };

// ---- gates: x times what lies between 0 and 1 ----------------------------------------------------------

// x p(x), where p is 0 at -inf, and 1 at inf.
template <class B>
inline B gated(B x, Pair<B> gate) noexcept {
  B large = number<B>(10000);
  return nan_as(x, xs::select(x > large, x, times(xs::max(x, -large), gate)));
}

// Each gate has a value, in two parts, and the derivative of x times it.
struct silu_gate {
  template <class B>
  static Pair<B> value(B x) noexcept {
    return Logistic<B>::of(x).p;
  }
  template <class B>
  static B slope(B x, Pair<B>& gate) noexcept {
    auto found = Logistic<B>::of(x);
    gate = found.p;
    return found.p.high * xs::fma(x, found.rest.high, number<B>(1));
  }
};

struct quick_gate {
  static constexpr f64 factor = 1.702;
  template <class B>
  static Pair<B> value(B x) noexcept {
    return Logistic<B>::of(with_factor(bounded(x), factor)).p;
  }
  template <class B>
  static B slope(B x, Pair<B>& gate) noexcept {
    Pair<B> z = with_factor(x, factor);
    auto found = Logistic<B>::of(z);
    gate = found.p;
    return found.p.high * xs::fma(z.high, found.rest.high, number<B>(1));
  }
};

// (1 + tanh(u)) / 2 is the logistic function of 2 u = a x + b x^3.
struct tanh_gate {
  static constexpr f64 a = 0x1.9884533d43651p+0, a_rest = -0x1.cbc0d30ebfd15p-54;
  static constexpr f64 b = 0x1.2444f2a4d8b4bp-4, b_rest = -0x1.3023b0e5fbc6ep-58;
  template <class B>
  static Pair<B> argument(B x, B& factor) noexcept {
    x = nan_as(x, xs::min(xs::max(x, number<B>(-100)), number<B>(100)));
    Pair<B> square = exact_product(x, x), cubic = constant<B>(b, b_rest), linear = constant<B>(a, a_rest);
    Pair<B> more = scaled(square.high, cubic);
    more.low = xs::fma(square.low, cubic.high, more.low);
    Pair<B> sum = exact_sum(linear.high, more.high);
    sum.low += linear.low + more.low;
    factor = linear.high + number<B>(3) * more.high;  // the derivative
    return scaled(x, sum);
  }
  template <class B>
  static Pair<B> value(B x) noexcept {
    B factor;
    return Logistic<B>::of(argument(x, factor)).p;
  }
  template <class B>
  static B slope(B x, Pair<B>& gate) noexcept {
    B factor;
    auto found = Logistic<B>::of(argument(x, factor));
    gate = found.p;
    return found.p.high * xs::fma(x * factor, found.rest.high, number<B>(1));
  }
};

struct normal_gate {
  template <class B>
  static Pair<B> value(B x) noexcept {
    return Normal<B>(x).p;
  }
  template <class B>
  static B slope(B x, Pair<B>& gate) noexcept {
    Normal<B> found(x);
    gate = found.p;
    return xs::fma(x, found.density, found.p.high);
  }
};

// With a = exp(-|x|), tanh(log(1 + exp(x))) = n / d, where n = 1 + 2 a and d = n + 2 a^2 above 0, and n = 2 a + a^2 and
// d = n + 2 below: sums of positive numbers. Its derivative times x is 4 x a (1 + a) / d^2, above 0 times a.
struct mish_gate {
  template <class B>
  static Pair<B> parts(B x, Pair<B>& d, B& a, B& inverse) noexcept {
    auto negative = x < number<B>(0);
    a = suanzi::exp::apply(-xs::abs(x));
    Pair<B> square = exact_product(a, a);
    B zero = number<B>(0), two = number<B>(2), twice = a + a;
    Pair<B> n = exact_sum(xs::select(negative, twice, number<B>(1)), xs::select(negative, square.high, twice));
    n.low += xs::select(negative, square.low, zero);
    d = exact_sum(n.high, xs::select(negative, two, two * square.high));
    d.low += n.low + xs::select(negative, zero, two * square.low);
    return quotient(n, d, inverse);
  }
  template <class B>
  static Pair<B> value(B x) noexcept {
    Pair<B> d;
    B a, inverse;
    return parts(x, d, a, inverse);
  }
  template <class B>
  static B slope(B x, Pair<B>& gate) noexcept {
    Pair<B> d;
    B a, inverse, one = number<B>(1);
    gate = parts(x, d, a, inverse);
    B part = number<B>(4) * a * (one + a) * xs::select(x < number<B>(0), one, a) * inverse * inverse;
    return xs::fma(x, part, gate.high);
  }
};

template <class Gate>
SUANZI_ACTIVATION(gate) {
  *out = gated(*in, Gate::value(*in));
};
template <class Gate>
SUANZI_ACTIVATION(gate_bwd) {
  Pair<B> unused;
  *out = in[0] * Gate::slope(bounded(in[1]), unused);
};
// x p(x) y
template <class Gate>
SUANZI_ACTIVATION(gated_product) {
  B x = bounded(in[0]);
  Pair<B> found = scaled(x, Gate::value(x));
  found.high = xs::select(in[0] > number<B>(10000), in[0], found.high);
  *out = times(in[1], found);
};
template <class Gate>
SUANZI_ACTIVATION(gated_product_bwd) {
  Pair<B> value;
  B slope = Gate::slope(bounded(in[1]), value);
  out[0] = in[0] * in[2] * slope;
  out[1] = in[0] * gated(in[1], value);
};

constexpr auto silu = gate<silu_gate>;
constexpr auto silu_bwd = gate_bwd<silu_gate>;
constexpr auto quick_gelu = gate<quick_gate>;
constexpr auto quick_gelu_bwd = gate_bwd<quick_gate>;
constexpr auto gelu = gate<normal_gate>;
constexpr auto gelu_bwd = gate_bwd<normal_gate>;
constexpr auto gelu_tanh = gate<tanh_gate>;
constexpr auto gelu_tanh_bwd = gate_bwd<tanh_gate>;
constexpr auto mish = gate<mish_gate>;
constexpr auto mish_bwd = gate_bwd<mish_gate>;
constexpr auto swiglu = gated_product<silu_gate>;
constexpr auto swiglu_bwd = gated_product_bwd<silu_gate>;
constexpr auto geglu = gated_product<normal_gate>;
constexpr auto geglu_bwd = gated_product_bwd<normal_gate>;
constexpr auto geglu_tanh = gated_product<tanh_gate>;
constexpr auto geglu_tanh_bwd = gated_product_bwd<tanh_gate>;

SUANZI_ACTIVATION(sigmoid) { *out = Logistic<B>::of(*in).p.sum(); };
SUANZI_ACTIVATION(sigmoid_bwd) { *out = times(in[0], Logistic<B>::of(in[1]).product()); };
SUANZI_ACTIVATION(glu) { *out = times(in[0], Logistic<B>::of(in[1]).p); };
SUANZI_ACTIVATION(glu_bwd) {
  auto found = Logistic<B>::of(in[2]);
  out[0] = times(in[0], found.p);
  out[1] = in[0] * times(in[1], found.product());
};

// ---- of the error function -------------------------------------------------------------------------

SUANZI_ACTIVATION(erf) {
  B x = *in, size = xs::abs(x);
  B far = xs::copysign(number<B>(1) - erfc_of_size(x), x);
  *out = nan_as(x, xs::select(size < number<B>(0.75), erf_near_0(x), far));
};
SUANZI_ACTIVATION(erfc) {
  B x = *in, tail = erfc_of_size(x);
  B far = xs::select(x < number<B>(0), number<B>(2) - tail, tail);
  auto near = x > number<B>(-0.75) && x < number<B>(0.25);
  *out = nan_as(x, xs::select(near, number<B>(1) - erf_near_0(x), far));
};
template <class B>
inline B bell(B x) noexcept {
  Pair<B> square = exact_product(bounded(x), bounded(x));
  return times(exp_with_tail(-square.high, -square.low), constant<B>(two_over_root_pi, two_over_root_pi_rest));
}
SUANZI_ACTIVATION(erf_bwd) { *out = in[0] * bell(in[1]); };
SUANZI_ACTIVATION(erfc_bwd) { *out = -in[0] * bell(in[1]); };

// ---- the loops ---------------------------------------------------------------------------------------

template <class F, std::size_t inputs, std::size_t outputs, class T>
SUANZI_FLAT void each_batch(const T* const* in, T* const* out, std::size_t n, const f64* parameters) {
  using B = Batch<T>;
  const f64 p[2] = {parameters[0], parameters[1]};  // which no store changes
  for (std::size_t i = 0; i < n; i += B::size) {
    B x[inputs], y[outputs];
    for (std::size_t k = 0; k < inputs; ++k) x[k] = B::load_unaligned(in[k] + i);
    F{}(static_cast<const B*>(x), y, p);
    for (std::size_t k = 0; k < outputs; ++k) y[k].store_unaligned(out[k] + i);
  }
}

template <class F, std::size_t inputs, std::size_t outputs, class T>
void activation_loop(const void* const* in, void* const* out, std::size_t n, const f64* parameters) {
  constexpr std::size_t width = Batch<T>::size;
  const T* x[inputs];
  T* y[outputs];
  for (std::size_t k = 0; k < inputs; ++k) x[k] = static_cast<const T*>(in[k]);
  for (std::size_t k = 0; k < outputs; ++k) y[k] = static_cast<T*>(out[k]);
  std::size_t whole = n / width * width, rest = n - whole;
  each_batch<F, inputs, outputs, T>(x, y, whole, parameters);
  if (!rest) return;
  alignas(64) T padded[inputs][width] = {}, made[outputs][width];
  for (std::size_t k = 0; k < inputs; ++k) {
    std::memcpy(padded[k], x[k] + whole, rest * sizeof(T));
    x[k] = padded[k];
  }
  T* last[outputs];
  for (std::size_t k = 0; k < outputs; ++k) last[k] = made[k];
  each_batch<F, inputs, outputs, T>(x, last, width, parameters);
  for (std::size_t k = 0; k < outputs; ++k) std::memcpy(y[k] + whole, made[k], rest * sizeof(T));
}

// The loop of one input and no parameters, as tables of results are made by it.
template <ActivationLoop loop>
void unary_loop_of(const void* in, void* out, std::size_t n) {
  const f64 unused[2] = {};
  loop(&in, &out, n, unused);
}

template <const auto& functor>
using Functor = std::remove_cvref_t<decltype(functor)>;

ActivationKernels make_table() {
  static FunctionTable tables[activation_count][table_format_count];
  ActivationKernels k{};
  k.tables = &tables;
#define ACTIVATION(name, inputs, outputs, cost, ...)                                                              \
  k.loops[static_cast<std::size_t>(Activation::name)][0] = &activation_loop<Functor<name>, inputs, outputs, f32>; \
  k.loops[static_cast<std::size_t>(Activation::name)][1] = &activation_loop<Functor<name>, inputs, outputs, f64>; \
  if constexpr (inputs == 1 && sizeof(#__VA_ARGS__) == 1)                                                         \
    k.unary[static_cast<std::size_t>(Activation::name)] = &unary_loop_of<&activation_loop<Functor<name>, 1, 1, f32>>;
#include "kernels/nn_activations.def"
#undef ACTIVATION
  return k;
}

}  // namespace activations
}  // namespace

SUANZI_TABLE(ActivationKernels, activation_kernels, activations::make_table())

}  // namespace suanzi
#undef xsimd
