// native/kernels/nn/quantised.cpp: nn 10: the loops of quantised rows and of their products.
//
// A quotient of float32 is a product with the reciprocal in float64, which is cheaper than to divide. What is exactly
// between two results must stay there: the product is rounded to some 40 bits, far fewer than its error leaves right,
// and more than the 32 that every other quotient of numbers of 24 bits is away from there.
#include <bit>

#include "kernels/common.inc"

#include "kernels/nn/quantised.h"

namespace suanzi {
namespace {

template <class T, class Bits>
std::uint64_t largest_loop(const void* x_, std::size_t n) {
  auto x = static_cast<const T*>(x_);
  constexpr Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits found = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Bits bits = std::bit_cast<Bits>(x[i]) & magnitude;
    found = bits > found ? bits : found;
  }
  return found;
}

inline double within(double y, double limit) noexcept {
  y = y > limit ? limit : y;
  return y < -limit ? -limit : y;
}

// To the next integer while |y| < 2^51: adding 1.5 * 2^52 leaves no bits for fractions.
inline double to_integer(double y) noexcept {
  constexpr double unit = 6755399441055744.0;
  return (y + unit) - unit;
}

// To a multiple of 2^-40, for |y| < 2^11.
inline double to_grid(double y) noexcept {
  constexpr double unit = 6144.0;
  return (y + unit) - unit;
}

// To 41 bits, by Dekker's and Veltkamp's splitting.
inline double to_few_bits(double y) noexcept {
  double c = y * 4097.0;
  return c - (c - y);
}

void float32_to_int8(const void* x_, double scale, double limit, std::int8_t* out, std::size_t n) {
  auto x = static_cast<const float*>(x_);
  const double by = 1 / scale;
  for (std::size_t i = 0; i < n; ++i) {
    double y = to_integer(to_grid(within(static_cast<double>(x[i]) * by, limit)));
    out[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(y));
  }
}

void float64_to_int8(const void* x_, double scale, double limit, std::int8_t* out, std::size_t n) {
  auto x = static_cast<const double*>(x_);
  for (std::size_t i = 0; i < n; ++i) {
    double y = to_integer(within(x[i] / scale, limit));
    out[i] = static_cast<std::int8_t>(static_cast<std::int32_t>(y));
  }
}

void float32_quotients(const void* x_, double scale, double limit, double* out, std::size_t n) {
  auto x = static_cast<const float*>(x_);
  const double by = 1 / scale;
  for (std::size_t i = 0; i < n; ++i) out[i] = within(to_few_bits(static_cast<double>(x[i]) * by), limit);
}

void float64_quotients(const void* x_, double scale, double limit, double* out, std::size_t n) {
  auto x = static_cast<const double*>(x_);
  for (std::size_t i = 0; i < n; ++i) out[i] = within(x[i] / scale, limit);
}

template <class T>
void add_scaled_loop(const void* products_, double scale, const double* scales, double* sums, std::size_t n) {
  auto products = static_cast<const T*>(products_);
  for (std::size_t j = 0; j < n; ++j) sums[j] += static_cast<double>(products[j]) * (scale * scales[j]);
}

QuantisedKernels make() {
  QuantisedKernels k{};
  k.largest[0] = largest_loop<float, std::uint32_t>;
  k.largest[1] = largest_loop<double, std::uint64_t>;
  k.to_int8[0] = float32_to_int8;
  k.to_int8[1] = float64_to_int8;
  k.quotients[0] = float32_quotients;
  k.quotients[1] = float64_quotients;
  k.add_scaled[0] = add_scaled_loop<std::int32_t>;
  k.add_scaled[1] = add_scaled_loop<float>;
  return k;
}

}  // namespace

SUANZI_TABLE(QuantisedKernels, quantised_kernels, make())

}  // namespace suanzi
