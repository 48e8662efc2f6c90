// native/loops/narrow_pairs.cpp: see narrow_pairs.h.
#include "loops/narrow_pairs.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

namespace suanzi {
namespace {

// m 2^e with an odd m, of a finite number above 0.
struct Parts {
  std::uint64_t m;
  std::int64_t e;

  explicit Parts(double x) {
    int exponent;
    m = static_cast<std::uint64_t>(std::frexp(x, &exponent) * 0x1p53);
    int zeros = std::countr_zero(m);
    m >>= zeros;
    e = exponent - 53 + zeros;
  }
};

std::optional<std::uint64_t> exact_root(std::uint64_t square) {
  auto root = static_cast<std::uint64_t>(std::llround(std::sqrt(static_cast<double>(square))));
  if (root * root != square) return std::nullopt;
  return root;
}

// Whether x^y is `power`, all of them above 0 but y, which is not 0.
bool is_power(double x, double y, double power) {
  Parts base(x), exponent(std::fabs(y)), result(power);
  for (std::int64_t e = exponent.e; e < 0; ++e) {  // y is a fraction: take square roots of x
    std::optional<std::uint64_t> root = exact_root(base.m);
    if (!root || base.e % 2 || (base.m == 1 && base.e == 0)) return base.m == 1 && base.e == 0 && power == 1;
    base.m = *root;
    base.e /= 2;
  }
  double whole = std::ldexp(static_cast<double>(exponent.m), exponent.e < 0 ? 0 : static_cast<int>(exponent.e));
  if (std::copysign(whole, y) * static_cast<double>(base.e) != static_cast<double>(result.e)) return false;
  if (base.m == 1) return result.m == 1;
  if (y < 0 || whole > 8) return false;  // more than 12 bits
  std::uint64_t product = 1;
  for (int i = 0; i < static_cast<int>(whole) && product <= 1 << 12; ++i) product *= base.m;
  return product == result.m;
}

constexpr int dropped_bits = 40;  // 13 are left

}  // namespace

void settle_powers(const NumberPairs& of, double* powers, std::size_t n) {
  constexpr std::uint64_t last = std::uint64_t{1} << dropped_bits, near = 1 << 8;
  for (std::size_t i = 0; i < n; ++i) {
    auto bits = std::bit_cast<std::uint64_t>(powers[i]) + near;
    if ((bits & (last - 1)) > 2 * near || powers[i] == 0 || !std::isfinite(powers[i])) continue;
    double x = of.x[i * of.step_x], y = of.y[i * of.step_y];
    double found = std::bit_cast<double>(bits & ~(last - 1));
    if (found == 0 || y == 0 || x == 0 || !std::isfinite(x) || !std::isfinite(y)) continue;
    if (is_power(std::fabs(x), y, std::fabs(found))) powers[i] = found;
  }
}

void settle_angles(double* angles, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    auto bits = std::bit_cast<std::uint64_t>(angles[i]);
    if (angles[i] != 0 && std::fabs(angles[i]) < 0x1p-20) angles[i] = std::bit_cast<double>(bits - 1);
  }
}

}  // namespace suanzi
