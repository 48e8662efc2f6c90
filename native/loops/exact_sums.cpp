// native/loops/exact_sums.cpp: see exact_sums.h.
//
// Significands are added as integers, a bin for each exponent; then the bins are added in fixed point. That is exact,
// and its order does not matter. Sets of bins in turn: numbers of one exponent would wait for one another. To add up
// bins takes as long as some hundred numbers; of fewer, each is added in fixed point.
#include "loops/exact_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace suanzi {
namespace {

using Limb = std::uint64_t;
using Wide = unsigned __int128;

// q 2^exponent and whether there is more, as a float64.
double to_double(bool negative, Limb q, bool more, std::int64_t exponent, bool to_odd) {
  if (!q) return 0;
  int zeros = std::countl_zero(q);
  std::int64_t top = exponent + 63 - zeros;  // of the first bit
  std::int64_t dropped = std::max<std::int64_t>(top - 52, -1074) - exponent;
  if (dropped > 64) return to_odd ? std::copysign(0x1p-1074, negative ? -1.0 : 1.0) : negative ? -0.0 : 0.0;
  Limb kept = q, rest = 0, half = 0;
  if (dropped > 0) {
    kept = dropped == 64 ? 0 : q >> dropped;
    half = Limb{1} << (dropped - 1);
    rest = dropped == 64 ? q : q & ((Limb{1} << dropped) - 1);
  }
  if (to_odd) kept |= rest != 0 || more;
  else if (dropped > 0 && (rest > half || (rest == half && (more || kept & 1)))) ++kept;
  double found = std::ldexp(static_cast<double>(kept), static_cast<int>(exponent + std::max<std::int64_t>(dropped, 0)));
  return negative ? -found : found;
}

// The 64 bits below bit `end` of some limbs, and whether a lower one is set.
template <class Limbs>
Limb bits_below(const Limbs& part, std::size_t end, bool& more) {
  std::size_t begin = end - 64, whole = begin / 64, rest = begin % 64;
  Limb found = part[whole] >> rest;
  if (rest) found |= part[whole + 1] << (64 - rest);
  more = rest && part[whole] << (64 - rest);
  for (std::size_t i = 0; i < whole && !more; ++i) more = part[i] != 0;
  return found;
}

Limb whole_root(Wide x) {
  auto root = static_cast<Limb>(std::min(std::sqrt(static_cast<double>(x)), 0x1.fffffffffffffp+63));
  for (int i = 0; i < 2; ++i) root = static_cast<Limb>((root + x / root) / 2);
  while (Wide{root} * root > x) --root;
  while (root != ~Limb{0} && Wide{root + 1} * (root + 1) <= x) ++root;
  return root;
}

}  // namespace

// ---- fixed point -------------------------------------------------------------------------------------

void ExactSum::add(bool negative, Wide size, int exponent) noexcept {
  auto shift = static_cast<unsigned>(exponent - lowest);
  std::size_t at = shift / 64;
  unsigned rest = shift % 64;
  const Limb added[3] = {static_cast<Limb>(size << rest), static_cast<Limb>((size << rest) >> 64),
                         rest ? static_cast<Limb>(size >> (128 - rest)) : 0};
  Limb carry = 0;
  for (std::size_t i = 0; i < 3 || carry; ++i) {
    if (at + i >= limbs) return;
    Limb next = i < 3 ? added[i] : 0;
    Wide sum = negative ? Wide{part_[at + i]} - next - carry : Wide{part_[at + i]} + next + carry;
    part_[at + i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> 64) & 1;
  }
}

void ExactSum::add(std::int64_t value, int exponent) noexcept {
  add(value < 0, value < 0 ? Limb{0} - static_cast<Limb>(value) : static_cast<Limb>(value), exponent);
}

void ExactSum::add(const ExactSum& other) noexcept {
  Limb carry = 0;
  for (std::size_t i = 0; i < limbs; ++i) {
    Wide sum = Wide{part_[i]} + other.part_[i] + carry;
    part_[i] = static_cast<Limb>(sum);
    carry = static_cast<Limb>(sum >> 64);
  }
  above_ |= other.above_;
  below_ |= other.below_;
}

bool ExactSum::magnitude(Limbs& part) const noexcept {
  part = part_;
  bool negative = part[limbs - 1] >> 63;
  Limb carry = 1;
  for (std::size_t i = 0; negative && i < limbs; ++i) {
    part[i] = ~part[i] + carry;
    carry &= part[i] == 0;
  }
  return negative;
}

bool ExactSum::is_special(double& found) const noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  found = above_ && below_ ? std::numeric_limits<double>::quiet_NaN() : above_ ? infinity : -infinity;
  return above_ || below_;
}

double ExactSum::divided(Limb divisor, bool to_odd) const noexcept {
  double special;
  if (is_special(special)) return special;
  Limbs part;
  bool negative = magnitude(part), more;
  Limb rest = 0;
  for (std::size_t i = limbs; divisor != 1 && i-- > 0;) {
    Wide next = Wide{rest} << 64 | part[i];
    part[i] = static_cast<Limb>(next / divisor);
    rest = static_cast<Limb>(next % divisor);
  }
  std::size_t top = limbs;
  while (top > 1 && part[top - 1] == 0) --top;
  std::size_t end = std::max<std::size_t>(64 * top - static_cast<std::size_t>(std::countl_zero(part[top - 1])), 64);
  Limb q = bits_below(part, end, more);
  return to_double(negative, q, more || rest, lowest + static_cast<std::int64_t>(end) - 64, to_odd);
}

double ExactSum::root(bool to_odd) const noexcept {
  double special;
  if (is_special(special)) return special;
  Limbs part;
  magnitude(part);  // a sum of squares
  std::size_t top = limbs;
  while (top > 2 && part[top - 1] == 0) --top;
  std::size_t end = 64 * top - static_cast<std::size_t>(std::countl_zero(part[top - 1]));
  end = std::max<std::size_t>(end + end % 2, 128);  // so that the exponent of the rest is even
  bool unused, more;
  Wide high = end / 64 < limbs || end % 64 == 0 ? bits_below(part, end, unused) : 0;
  Wide x = high << 64 | bits_below(part, end - 64, more);
  if (!x) return 0;
  Limb q = whole_root(x);
  return to_double(false, q, more || Wide{q} * q != x, (lowest + static_cast<std::int64_t>(end) - 128) / 2, to_odd);
}

// ---- bins ---------------------------------------------------------------------------------------------

namespace {

// As many elements as no bin overflows by.
constexpr std::size_t at_once = std::size_t{1} << 30;

void add_special(ExactSum& sum, double x) {
  if (std::isnan(x)) sum.add_nan();
  else sum.add_infinity(x < 0);
}

class SingleBins {
 public:
  static constexpr std::size_t turns = 4, pays_from = 256;
  void add(float x, std::size_t turn) noexcept {
    auto bits = std::bit_cast<std::uint32_t>(x);
    std::uint32_t e = bits >> 23 & 255;
    auto m = static_cast<std::int64_t>((bits & 0x7FFFFF) | (e ? 0x800000u : 0u));
    auto sign = -static_cast<std::int64_t>(bits >> 31);
    bin_[turn][e] += (m ^ sign) - sign;
  }
  void drain(ExactSum& sum) noexcept {
    for (auto& bins : bin_)
      for (int e = 0; e < 255; ++e)
        if (bins[e]) sum.add(bins[e], std::max(e, 1) - 150);
  }

 private:
  std::int64_t bin_[turns][256] = {};
};

class DoubleBins {
 public:
  static constexpr std::size_t turns = 2, pays_from = 2048;
  void add(double x, std::size_t turn) noexcept {
    auto bits = std::bit_cast<Limb>(x);
    std::size_t e = bits >> 52 & 2047;
    Limb m = (bits & 0xFFFFFFFFFFFFF) | (e ? Limb{1} << 52 : 0);
    auto sign = -static_cast<std::int64_t>(bits >> 63);
    Bin& bin = bin_[turn][e];
    bin.low += (static_cast<std::int64_t>(m & 0xFFFFFFFF) ^ sign) - sign;
    bin.high += (static_cast<std::int64_t>(m >> 32) ^ sign) - sign;
  }
  void drain(ExactSum& sum) noexcept {
    for (auto& bins : bin_)
      for (int e = 0; e < 2047; ++e) {
        if (bins[e].low) sum.add(bins[e].low, std::max(e, 1) - 1075);
        if (bins[e].high) sum.add(bins[e].high, std::max(e, 1) - 1075 + 32);
      }
  }

 private:
  struct Bin {
    std::int64_t low, high;
  };
  Bin bin_[turns][2048] = {};
};

// m 2^e, m an integer.
struct Parts {
  Limb m;
  int e;

  explicit Parts(double x) {
    auto bits = std::bit_cast<Limb>(x);
    int biased = static_cast<int>(bits >> 52 & 2047);
    m = (bits & 0xFFFFFFFFFFFFF) | (biased ? Limb{1} << 52 : 0);
    e = std::max(biased, 1) - 1075;
  }
};

// Each value by `value(i)`, of which all but a few are finite.
template <class Bins, class F>
void add_each(ExactSum& sum, std::size_t n, F value) {
  if (n < Bins::pays_from) {
    for (std::size_t i = 0; i < n; ++i) {
      double x = value(i);
      Parts of(x);
      if (std::isfinite(x)) sum.add(std::signbit(x), of.m, of.e);
      else add_special(sum, x);
    }
    return;
  }
  for (std::size_t start = 0; start < n; start += at_once) {
    std::size_t end = std::min(n, start + at_once);
    Bins bins;
    for (std::size_t i = start; i < end; ++i) {
      auto x = value(i);
      if (std::isfinite(x)) [[likely]]
        bins.add(x, i % Bins::turns);
      else add_special(sum, x);
    }
    bins.drain(sum);
  }
}

// Products of float64: each as a rounded one and its error, or as integers where these would leave the range.
template <class F>
void add_each_product(ExactSum& sum, std::size_t n, F pair) {
  auto add_one = [&sum](double a, double b) {
    Parts x(a), y(b);
    if (std::isfinite(a) && std::isfinite(b)) sum.add(std::signbit(a) != std::signbit(b), Wide{x.m} * y.m, x.e + y.e);
    else add_special(sum, a * b);
  };
  if (n < DoubleBins::pays_from) {
    for (std::size_t i = 0; i < n; ++i) add_one(pair(i).a, pair(i).b);
    return;
  }
  for (std::size_t start = 0; start < n; start += at_once / 2) {
    std::size_t end = std::min(n, start + at_once / 2);
    DoubleBins bins;
    for (std::size_t i = start; i < end; ++i) {
      auto [a, b] = pair(i);
      double p = a * b, size = std::fabs(p);
      if (size > 0x1p-900 && size < 0x1p1000) [[likely]] {
        bins.add(p, 0);
        bins.add(std::fma(a, b, -p), 1);
      } else {
        add_one(a, b);
      }
    }
    bins.drain(sum);
  }
}

}  // namespace

void add_all(ExactSum& sum, Summed what, const float* x, std::size_t n) noexcept {
  if (what == Summed::squares) return add_products(sum, x, x, n);
  if (what == Summed::elements) add_each<SingleBins>(sum, n, [x](std::size_t i) { return x[i]; });
  else add_each<SingleBins>(sum, n, [x](std::size_t i) { return std::fabs(x[i]); });
}
void add_all(ExactSum& sum, Summed what, const double* x, std::size_t n) noexcept {
  if (what == Summed::squares) return add_products(sum, x, x, n);
  if (what == Summed::elements) add_each<DoubleBins>(sum, n, [x](std::size_t i) { return x[i]; });
  else add_each<DoubleBins>(sum, n, [x](std::size_t i) { return std::fabs(x[i]); });
}
void add_products(ExactSum& sum, const float* x, const float* y, std::size_t n) noexcept {
  add_each<DoubleBins>(sum, n, [x, y](std::size_t i) { return static_cast<double>(x[i]) * y[i]; });
}
void add_products(ExactSum& sum, const double* x, const double* y, std::size_t n) noexcept {
  struct Pair {
    double a, b;
  };
  add_each_product(sum, n, [x, y](std::size_t i) { return Pair{x[i], y[i]}; });
}

}  // namespace suanzi
