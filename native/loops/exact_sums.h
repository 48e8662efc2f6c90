// native/loops/exact_sums.h: sums of floats and of products without any rounding, and the roundings of their results.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace suanzi {

// A sum in fixed point, from below the square of the smallest float64 to above that of the largest.
class ExactSum {
 public:
  // Adds value 2^exponent.
  void add(std::int64_t value, int exponent) noexcept;
  void add(bool negative, unsigned __int128 size, int exponent) noexcept;
  void add(const ExactSum& other) noexcept;

  // What is not finite.
  void add_infinity(bool negative) noexcept { (negative ? below_ : above_) = true; }
  void add_nan() noexcept { above_ = below_ = true; }

  // The nearest float64 to the sum, to the sum over a divisor, to its root. With `to_odd` what is left out is in the
  // last bit, so that a second rounding, to a narrower format, is the only one.
  double rounded(bool to_odd) const noexcept { return divided(1, to_odd); }
  double divided(std::uint64_t divisor, bool to_odd) const noexcept;
  double root(bool to_odd) const noexcept;

 private:
  static constexpr std::size_t limbs = 70;
  static constexpr int lowest = -2240;  // the exponent of the first bit
  using Limbs = std::array<std::uint64_t, limbs>;
  Limbs part_{};  // in two's complement
  bool above_ = false, below_ = false;

  bool magnitude(Limbs& part) const noexcept;  // returns whether it is negative
  bool is_special(double& found) const noexcept;
};

enum class Summed : std::uint8_t { elements, magnitudes, squares };

// Adds n elements, or products of pairs of them.
void add_all(ExactSum& sum, Summed what, const float* x, std::size_t n) noexcept;
void add_all(ExactSum& sum, Summed what, const double* x, std::size_t n) noexcept;
void add_products(ExactSum& sum, const float* x, const float* y, std::size_t n) noexcept;
void add_products(ExactSum& sum, const double* x, const double* y, std::size_t n) noexcept;

}  // namespace suanzi
