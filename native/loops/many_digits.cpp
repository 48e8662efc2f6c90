// native/loops/many_digits.cpp: see many_digits.h.
//
// Series with 512 bits: slow, some ten microseconds, short, and without a condition that a test could miss. The nearest
// that a function of float32 comes to the middle of two numbers is about 2^-60 of it, and a power 2^-110; what
// is within 2^-440 is the middle itself.
#include "loops/many_digits.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace suanzi {
namespace {

using Limb = std::uint64_t;
using Wide = unsigned __int128;
constexpr int limbs = 8, bits = 64 * limbs;

// A number, its significand within [1/2, 1) and the most significant limb last; cut where it has more bits.
struct Long {
  bool negative = false;
  std::int64_t exponent = 0;
  std::array<Limb, limbs> part{};  // all zero: the number is

  Long() = default;
  Long(double x) {  // NOLINT: numbers are numbers
    int e;
    double m = std::frexp(std::fabs(x), &e);
    negative = std::signbit(x);
    exponent = e;
    part[limbs - 1] = static_cast<Limb>(std::ldexp(m, 64));
  }
  bool is_zero() const { return part[limbs - 1] == 0; }
  double approximate() const {
    double m = std::ldexp(static_cast<double>(part[limbs - 1] >> 11), -53);
    m = std::ldexp(m, static_cast<int>(exponent < -5000 ? -5000 : exponent > 5000 ? 5000 : exponent));
    return negative ? -m : m;
  }
  Long scaled(std::int64_t power) const {
    Long x = *this;
    x.exponent += power;
    return x;
  }
  Long operator-() const {
    Long x = *this;
    x.negative = !negative;
    return x;
  }
};

// Shifts leading zeros out.
void normalise(Long& x) {
  int top = limbs - 1;
  while (top >= 0 && x.part[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return;
  int shift = std::countl_zero(x.part[static_cast<std::size_t>(top)]) + 64 * (limbs - 1 - top);
  int whole = shift / 64, rest = shift % 64;
  for (int i = limbs - 1; i >= 0; --i) {
    Limb high = i - whole >= 0 ? x.part[static_cast<std::size_t>(i - whole)] : 0;
    Limb low = i - whole >= 1 ? x.part[static_cast<std::size_t>(i - whole - 1)] : 0;
    x.part[static_cast<std::size_t>(i)] = rest ? high << rest | low >> (64 - rest) : high;
  }
  x.exponent -= shift;
}

std::array<Limb, limbs> shifted_right(const std::array<Limb, limbs>& part, std::int64_t shift) {
  std::array<Limb, limbs> found{};
  if (shift >= bits) return found;
  auto whole = static_cast<std::size_t>(shift / 64), rest = static_cast<std::size_t>(shift % 64);
  for (std::size_t i = 0; i + whole < limbs; ++i) {
    Limb low = part[i + whole], high = i + whole + 1 < limbs ? part[i + whole + 1] : 0;
    found[i] = rest ? low >> rest | high << (64 - rest) : low;
  }
  return found;
}

// Whether |a| < |b|.
bool is_smaller(const Long& a, const Long& b) {
  if (a.is_zero() || b.is_zero()) return !b.is_zero();
  if (a.exponent != b.exponent) return a.exponent < b.exponent;
  for (std::size_t i = limbs; i-- > 0;)
    if (a.part[i] != b.part[i]) return a.part[i] < b.part[i];
  return false;
}

Long operator+(const Long& a, const Long& b) {
  if (is_smaller(a, b)) return b + a;
  if (b.is_zero()) return a;
  std::array<Limb, limbs> other = shifted_right(b.part, a.exponent - b.exponent);
  Long sum = a;
  bool adds = a.negative == b.negative;
  Limb carry = 0;
  for (std::size_t i = 0; i < limbs; ++i) {
    Wide next = adds ? Wide{a.part[i]} + other[i] + carry : Wide{a.part[i]} - other[i] - carry;
    sum.part[i] = static_cast<Limb>(next);
    carry = static_cast<Limb>(next >> 64) & 1;
  }
  if (adds && carry) {
    sum.part = shifted_right(sum.part, 1);
    sum.part[limbs - 1] |= Limb{1} << 63;
    ++sum.exponent;
  } else {
    normalise(sum);
  }
  return sum;
}
Long operator-(const Long& a, const Long& b) { return a + -b; }

Long operator*(const Long& a, const Long& b) {
  std::array<Limb, 2 * limbs> product{};
  for (std::size_t i = 0; i < limbs; ++i) {
    if (a.part[i] == 0) continue;
    Limb carry = 0;
    for (std::size_t j = 0; j < limbs; ++j) {
      Wide next = Wide{a.part[i]} * b.part[j] + product[i + j] + carry;
      product[i + j] = static_cast<Limb>(next);
      carry = static_cast<Limb>(next >> 64);
    }
    product[i + limbs] = carry;
  }
  Long found;
  found.negative = a.negative != b.negative;
  found.exponent = a.exponent + b.exponent;
  bool is_short = product[2 * limbs - 1] >> 63 == 0;  // by one bit
  for (std::size_t i = 0; i < limbs; ++i)
    found.part[i] = is_short ? product[limbs + i] << 1 | product[limbs + i - 1] >> 63 : product[limbs + i];
  found.exponent -= is_short;
  return found;
}

Long operator/(const Long& a, Limb divisor) {
  Long found = a;
  Limb rest = 0;
  for (std::size_t i = limbs; i-- > 0;) {
    Wide next = Wide{rest} << 64 | a.part[i];
    found.part[i] = static_cast<Limb>(next / divisor);
    rest = static_cast<Limb>(next % divisor);
  }
  normalise(found);
  return found;
}

// Newton's method doubles the bits of a double four times.
Long operator/(const Long& a, const Long& b) {
  Long unit = b.scaled(-b.exponent), inverse(1 / unit.approximate());
  for (int i = 0; i < 4; ++i) inverse = inverse + inverse * (Long(1) - unit * inverse);
  return (a * inverse).scaled(-b.exponent);
}

Long sqrt(const Long& x) {
  if (x.is_zero()) return x;
  std::int64_t half = (x.exponent - (x.exponent & 1)) / 2;
  Long unit = x.scaled(-2 * half), inverse(1 / std::sqrt(unit.approximate()));
  for (int i = 0; i < 4; ++i) inverse = inverse + (inverse * (Long(1) - unit * inverse * inverse)).scaled(-1);
  return (unit * inverse).scaled(half);
}

// ---- series ----------------------------------------------------------------------------------------

bool is_negligible(const Long& term, const Long& sum) {
  return term.is_zero() || (!sum.is_zero() && term.exponent < sum.exponent - bits - 2);
}

// x + s x^3/3 + x^5/5 + s x^7/7 ..., s being 1 or -1: the inverse tangent or hyperbolic one of a small number.
Long odd_series(const Long& x, bool alternates) {
  Long square = x * x, power = x, sum = x;
  if (alternates) square = -square;
  for (Limb n = 3;; n += 2) {
    power = power * square;
    Long term = power / n;
    if (is_negligible(term, sum)) return sum;
    sum = sum + term;
  }
}

const Long& ln2() {
  static const Long found = odd_series(Long(1) / Limb{3}, false).scaled(1);
  return found;
}
const Long& pi() {
  static const Long found =
      (odd_series(Long(1) / Limb{5}, true).scaled(2) - odd_series(Long(1) / Limb{239}, true)).scaled(2);
  return found;
}

Long exp(const Long& x) {
  double n = std::rint(x.approximate() / 0x1.62e42fefa39efp-1);
  constexpr int halvings = 10;
  Long r = (x - Long(n) * ln2()).scaled(-halvings), term = r, sum = r;  // exp(r) - 1
  for (Limb i = 2;; ++i) {
    term = term * r / i;
    if (is_negligible(term, sum)) break;
    sum = sum + term;
  }
  for (int i = 0; i < halvings; ++i) sum = sum.scaled(1) + sum * sum;
  return (sum + Long(1)).scaled(static_cast<std::int64_t>(n));
}

// From the logarithm of a double: the rest is that of a number next to 1.
Long log(const Long& x) {
  Long unit = x.scaled(-x.exponent);
  double near = std::log(unit.approximate());
  Long ratio = unit * exp(Long(-near));
  Long rest = odd_series((ratio - Long(1)) / (ratio + Long(1)), false).scaled(1);
  return Long(static_cast<double>(x.exponent)) * ln2() + Long(near) + rest;
}

struct SineAndCosine {
  Long sine, cosine;

  // The sum of x^k/k! with signs, k from `first` by twos.
  static Long series(const Long& x, Limb first) {
    Long square = -(x * x), term = first ? x : Long(1), sum = term;
    for (Limb k = first + 2;; k += 2) {
      term = term * square / (k * (k - 1));
      if (is_negligible(term, sum)) return sum;
      sum = sum + term;
    }
  }
  explicit SineAndCosine(const Long& x) {
    // x = n pi/2 + r, n rounded to a whole number by way of a sum that has no bits for fractions.
    Long turns = x / pi().scaled(-1), large(1.5);
    large = large.scaled(bits - 1);
    large.negative = x.negative;
    Long moved = turns + large, n = moved - large;
    Long r = x - n * pi().scaled(-1);
    Long s = series(r, 1), c = series(r, 0);
    auto quadrant = static_cast<unsigned>(moved.part[0] & 3);
    if (x.negative) quadrant = (4 - quadrant) & 3;
    sine = quadrant & 1 ? c : s;
    cosine = quadrant & 1 ? s : c;
    if (quadrant & 2) sine = -sine;
    if ((quadrant + 1) & 2) cosine = -cosine;
  }
};

Long atan(const Long& x) {
  double near = std::atan(x.approximate());
  SineAndCosine at{Long(near)};
  return Long(near) + odd_series((x * at.cosine - at.sine) / (at.cosine + x * at.sine), true);
}

// ---- functions -------------------------------------------------------------------------------------

Long value_of(UnaryOp op, const Long& x) {
  const Long one(1);
  auto difference = [&] { return exp(x) - exp(-x); };
  auto sum = [&] { return exp(x) + exp(-x); };
  switch (op) {
    case UnaryOp::rsqrt: return one / sqrt(x);
    case UnaryOp::sin: return SineAndCosine(x).sine;
    case UnaryOp::cos: return SineAndCosine(x).cosine;
    case UnaryOp::tan: {
      SineAndCosine at(x);
      return at.sine / at.cosine;
    }
    case UnaryOp::asin: return atan(x / sqrt((one - x) * (one + x)));
    case UnaryOp::acos: return atan(sqrt((one - x) / (one + x))).scaled(1);
    case UnaryOp::atan: return atan(x);
    case UnaryOp::sinh: return difference().scaled(-1);
    case UnaryOp::cosh: return sum().scaled(-1);
    case UnaryOp::tanh: return difference() / sum();
    case UnaryOp::asinh: {
      Long size = x.negative ? -x : x, found = log(size + sqrt(size * size + one));
      return x.negative ? -found : found;
    }
    case UnaryOp::acosh: return log(x + sqrt((x - one) * (x + one)));
    case UnaryOp::atanh: return log((one + x) / (one - x)).scaled(-1);
    case UnaryOp::exp: return exp(x);
    case UnaryOp::expm1: return exp(x) - one;
    case UnaryOp::log: return log(x);
    case UnaryOp::log1p: return log(one + x);
    case UnaryOp::log10: return log(x) / log(Long(10));
    case UnaryOp::log2: return log(x) / ln2();
    default: return x;
  }
}

// To nearest, ties to even. The last limb is rounding errors.
float rounded(Long x) {
  Limb carry = x.part[0] >> 63;
  for (std::size_t i = 1; i < limbs; ++i) {
    x.part[i] += carry;
    carry &= x.part[i] == 0;
  }
  if (carry) x.part[limbs - 1] = Limb{1} << 63, ++x.exponent;
  // 32 bits, and whether there are more in the last one of a double: so that the float's rounding is the only one.
  Limb top = x.part[limbs - 1], rest = top & 0xFFFFFFFFu;
  for (std::size_t i = 1; i + 1 < limbs; ++i) rest |= x.part[i];
  double found = std::ldexp(static_cast<double>(top >> 32), static_cast<int>(x.exponent) - 32);
  found = std::bit_cast<double>(std::bit_cast<Limb>(found) | (rest != 0));
  return static_cast<float>(x.negative ? -found : found);
}

}  // namespace

float correctly_rounded(UnaryOp op, float x) { return rounded(value_of(op, Long(x))); }

float correctly_rounded_power(float x, float y) { return rounded(exp(Long(y) * log(Long(x)))); }

}  // namespace suanzi
