// native/kernels/functions/functions.cpp: element-wise kernels of real numbers that T/AI 131.1 has no operator for.
//
// Functions of two numbers compute in vectors of float64, for float32 too, which is rounded at the end. Integers have
// loops of their own where the array API asks for another result than the standard.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/functions/functions.h"
#include "kernels/functions/magnitude.inc"

#include "kernels/arithmetic/arithmetic.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"

#include "kernels/functions/tools.inc"
#undef xsimd

namespace suanzi {

void SUANZI_OF_LEVEL(fill_complex_functions)(FunctionKernels& k);

namespace {
namespace real_functions {

// ---- functions of two float64 --------------------------------------------------------------------

constexpr std::size_t pairs_at_once = 256;

// Applies F to pairs of numbers as float64, and rounds; dx and dy are 0 for an operand that is one value.
template <class F, class T>
unsigned pair_loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
  using B = Batch<f64>;
  constexpr std::size_t size = pairs_at_once;
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  auto* z = static_cast<T*>(out);
  std::size_t dx = repeat != Repeat::left, dy = repeat != Repeat::right;
  alignas(64) f64 p[size], q[size];
  for (std::size_t start = 0; start < n; start += size, x += size * dx, y += size * dy, z += size) {
    std::size_t count = n - start < size ? n - start : size, i;
    for (i = 0; i < count; ++i) p[i] = x[i * dx];
    for (i = 0; i < count; ++i) q[i] = y[i * dy];
    for (; i % B::size; ++i) p[i] = q[i] = 1;
    F::apply_all(p, q, count);
    for (i = 0; i < count; ++i) z[i] = static_cast<T>(p[i]);
  }
  return none;
}

// p[i] = f(p[i], q[i]), whole vectors of them.
template <class F>
inline void each_batch(f64* p, const f64* q, std::size_t count, F f) {
  using B = Batch<f64>;
  for (std::size_t i = 0; i < count; i += B::size)
    f(B::load_aligned(p + i), B::load_aligned(q + i)).store_aligned(p + i);
}

#define SUANZI_PAIR_LOOP(name)                                                                  \
  template <class T>                                                                            \
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) { \
    return pair_loop<name, T>(a, b, out, n, repeat);                                            \
  }

struct atan2 {
  static void apply_all(f64* p, const f64* q, std::size_t count) noexcept {
    each_batch(p, q, count, [](auto y, auto x) { return angle_of(y, x); });
  }
  SUANZI_PAIR_LOOP(atan2)
};

struct hypot {
  static void apply_all(f64* p, const f64* q, std::size_t count) noexcept {
    each_batch(p, q, count, []<class B>(B x, B y) {
      auto is_infinite = xs::abs(x) == B(infinite) || xs::abs(y) == B(infinite);
      return xs::select(is_infinite, B(infinite), magnitude_of(x, y));
    });
  }
  SUANZI_PAIR_LOOP(hypot)
};

// log(exp(x) + exp(y)) = max + log1p(exp(-|x - y|)). Each function in a loop of its own: a processor does not see as
// far as to the next number while one waits for both.
struct logaddexp {
  static void apply_all(f64* p, const f64* q, std::size_t count) noexcept {
    using B = Batch<f64>;
    alignas(64) f64 above[pairs_at_once];
    for (std::size_t i = 0; i < count; i += B::size) {
      B apart = xs::abs(B::load_aligned(p + i) - B::load_aligned(q + i));
      suanzi::exp::apply(-apart).store_aligned(above + i);
    }
    for (std::size_t i = 0; i < count; i += B::size)
      suanzi::log1p::apply(B::load_aligned(above + i)).store_aligned(above + i);
    for (std::size_t i = 0; i < count; i += B::size) {
      B x = B::load_aligned(p + i), y = B::load_aligned(q + i), found = xs::max(x, y) + B::load_aligned(above + i);
      found = xs::select(x == y, x + B(ln2), found);  // also of two infinities, whose difference is NaN
      xs::select(x == x && y == y, found, x + y).store_aligned(p + i);
    }
  }
  SUANZI_PAIR_LOOP(logaddexp)
};

// ---- signs and neighbours --------------------------------------------------------------------------

// f of pairs, of which one may be one value.
template <class T, class F>
inline unsigned each_pair(const void* a, const void* b, void* out, std::size_t n, Repeat repeat, F f) {
  auto *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  auto* z = static_cast<T*>(out);
  unsigned trouble = none;
  if (repeat == Repeat::left) {
    T left = *x;
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[i] = f(left, y[i], trouble);
  } else if (repeat == Repeat::right) {
    T right = *y;
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[i] = f(x[i], right, trouble);
  } else {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[i] = f(x[i], y[i], trouble);
  }
  return trouble;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, u32, u64>;

struct copysign {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    using U = BitsOf<T>;
    constexpr U sign = U{1} << (8 * sizeof(U) - 1);
    return each_pair<U>(a, b, out, n, repeat, [](U x, U y, unsigned&) { return (x & ~sign) | (y & sign); });
  }
};

struct signbit {
  template <class T>
  static void loop(const void* in, void* out, std::size_t n) {
    using U = BitsOf<T>;
    each_element<U, u8>(in, out, n, [](U x) { return static_cast<u8>(x >> (8 * sizeof(U) - 1)); });
  }
};

// The neighbour of x towards y, as bits of a format whose largest magnitude that is no NaN is `last`.
template <class U, U last>
inline U next_towards(U x, U y) noexcept {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1)), rest = static_cast<U>(sign - 1);
  U a = x & rest, b = y & rest;
  // Signs and magnitudes in one order, in which both zeros are the same.
  auto order = [](U bits, U size) { return bits & sign ? static_cast<U>(sign - size) : static_cast<U>(sign + size); };
  U from = order(x, a), to = order(y, b);
  bool outwards = (to > from) == !(x & sign);
  U found = static_cast<U>(outwards ? x + 1 : x - 1);
  if (a == 0) found = static_cast<U>((y & sign) | 1);
  if (from == to) found = y;
  if (a > last || b > last) found = a > last ? x : y;
  return found;
}

struct nextafter {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    using U = BitsOf<T>;
    constexpr U last = sizeof(T) == 4 ? static_cast<U>(0x7F800000u) : static_cast<U>(u64{0x7FF0000000000000u});
    return each_pair<U>(a, b, out, n, repeat, [](U x, U y, unsigned&) { return next_towards<U, last>(x, y); });
  }
  // The neighbours in a narrow format are its own.
  template <Narrow format>
  static unsigned narrow_loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    using F = Format<format>;
    using U = typename F::bits;
    constexpr int all = (1 << (F::exponent + F::mantissa)) - 1, infinity = ((1 << F::exponent) - 1) << F::mantissa;
    constexpr U last = static_cast<U>(F::infinity ? infinity : all - 1);  // without infinities, all ones are NaN
    return each_pair<U>(a, b, out, n, repeat, [](U x, U y, unsigned&) { return next_towards<U, last>(x, y); });
  }
};

// ---- arithmetic ------------------------------------------------------------------------------------

// As the standard's, but the quotient of a number and infinity is a zero whatever their signs are.
struct floordiv {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    return each_pair<T>(a, b, out, n, repeat,
                        [](T x, T y, unsigned&) { return std::isinf(y) ? x / y : floor_quotient(x, y); });
  }
};

// Products modulo 2^n; there is none of an exponent below 0.
struct pow {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    return each_pair<T>(a, b, out, n, repeat, [](T x, T y, unsigned& trouble) {
      if constexpr (std::is_signed_v<T>)
        if (y < 0) trouble |= negative_exponent;
      auto square = static_cast<u64>(x);
      u64 found = 1;
      for (auto rest = static_cast<u64>(static_cast<Bits<T>>(y < 0 ? T{0} : y)); rest; rest >>= 1) {
        if (rest & 1) found *= square;
        square *= square;
      }
      return static_cast<T>(static_cast<Bits<T>>(found));
    });
  }
};

struct square {
  template <class T>
  static void loop(const void* in, void* out, std::size_t n) {
    unsigned trouble = none;
    each_element<T, T>(in, out, n, [&](T x) { return mul::apply(x, x, trouble); });
  }
};

// Integers are whole already.
struct round {
  template <class T>
  static void loop(const void* in, void* out, std::size_t n) {
    std::memcpy(out, in, n * sizeof(T));
  }
};
using floor = round;
using ceil = round;
using trunc = round;

// ---- shifts ----------------------------------------------------------------------------------------

template <class T>
inline bool is_negative(T amount) noexcept {
  if constexpr (std::is_signed_v<T>) return amount < 0;
  else return false;
}

// By as many bits as there are, or more, to the left nothing is left, and to the right the sign.
struct bitwise_left_shift {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    return each_pair<T>(a, b, out, n, repeat, [](T x, T y, unsigned& trouble) {
      trouble |= is_negative(y) ? bad_shift : none;
      T shifted = static_cast<T>(static_cast<u64>(x) << (static_cast<u64>(y) & (8 * sizeof(T) - 1)));
      return shift_is_bad(y) ? T{0} : shifted;
    });
  }
};

struct bitwise_right_shift {
  template <class T>
  static unsigned loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
    return each_pair<T>(a, b, out, n, repeat, [](T x, T y, unsigned& trouble) {
      trouble |= is_negative(y) ? bad_shift : none;
      T shifted = static_cast<T>(x >> (static_cast<u64>(y) & (8 * sizeof(T) - 1)));
      return shift_is_bad(y) ? static_cast<T>(x < 0 ? -1 : 0) : shifted;
    });
  }
};

}  // namespace real_functions

// ---- the table -------------------------------------------------------------------------------------

FunctionKernels make_functions() {
  FunctionKernels k{};
  // What is complex alone has no functor here, whose name could be looked up.
#define SUANZI_FILL_COMPLEX(row, name)
#define SUANZI_FILL_FLOATS(row, name) \
  if constexpr (is_float<T>) row[lane] = &real_functions::name::loop<T>;
#define SUANZI_FILL_INTEGERS(row, name) \
  if constexpr (is_integer<T>) row[lane] = &real_functions::name::loop<T>;
#define SUANZI_FILL_BOTH(row, name) SUANZI_FILL_INTEGERS(row, name)
#define SUANZI_FILL(lanes, row, name) SUANZI_FILL_##lanes(row, name)
#define BINARY(name, lanes, result, ...) \
  __VA_OPT__(SUANZI_FILL(__VA_ARGS__, k.binary[static_cast<std::size_t>(BinaryOp::name)], name))
#define UNARY(name, lanes, result, ...) \
  __VA_OPT__(SUANZI_FILL(__VA_ARGS__, k.unary[static_cast<std::size_t>(UnaryOp::name)], name))
  for_each_real_lane([&]<class T>(std::size_t lane) {
    static_cast<void>(lane);
#include "kernels/ops.def"
  });
#undef BINARY
#undef UNARY
  auto& next = k.fused[static_cast<std::size_t>(BinaryOp::nextafter)];
  using real_functions::nextafter;
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    ((next[i] = &nextafter::narrow_loop<static_cast<Narrow>(i)>), ...);
  }(std::make_index_sequence<narrow_count>{});
  SUANZI_OF_LEVEL(fill_complex_functions)(k);
  return k;
}

}  // namespace

SUANZI_TABLE(FunctionKernels, function_kernels, make_functions())

}  // namespace suanzi
