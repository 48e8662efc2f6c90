// native/loops/correct_rounding.cpp: see correct_rounding.h.
//
// Ziv's method: a block is computed in float64, with a known error. If one of its results is so near to the middle of
// two float32 that the error counts, the kernel over float64 computes it, whose error is a hundredth of that; what that
// cannot decide is computed with many digits.
#include "loops/correct_rounding.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/by_level.h"
#include "kernels/functions/rounding.h"
#include "loops/many_digits.h"

namespace suanzi {

SUANZI_BY_LEVEL(RoundingKernels, rounding_kernels)

namespace {

constexpr std::size_t block = 512;
constexpr auto in_double = static_cast<std::size_t>(Lane::f64);

struct alignas(64) Floats {
  float at[block];
};
struct alignas(64) Doubles {
  double at[block];
};

// A result of a kernel over float64 in `found`; false where it does not decide. Those kernels err by 3 units at most.
bool decides(double y, float& found) {
  found = static_cast<float>(y * (1 + 0x1p-49));
  auto other = static_cast<float>(y * (1 - 0x1p-49));
  return std::bit_cast<std::uint32_t>(found) == std::bit_cast<std::uint32_t>(other);
}

std::size_t whole_vectors(std::size_t n) { return (n + rounding_width - 1) / rounding_width * rounding_width; }

// The next elements of an operand: those themselves, or as many as a kernel takes, padded with ones.
const float* next(const float* x, std::size_t n, bool is_padded, Floats& room) {
  if (!is_padded) return x;
  std::copy(x, x + n, room.at);
  std::fill(room.at + n, room.at + whole_vectors(n), 1.0f);
  return room.at;
}

void decide(std::size_t row, const float* x, float* found, std::size_t n) {
  Doubles given, wide;
  std::copy(x, x + n, given.at);
  kernels().unary[row][in_double](given.at, wide.at, n);
  for (std::size_t i = 0; i < n; ++i)
    if (!decides(wide.at[i], found[i])) found[i] = correctly_rounded(static_cast<UnaryOp>(row), x[i]);
}

template <std::size_t row>
void each_element(const void* in, void* out, std::size_t n) {
  Rounded kernel = rounding_kernels().unary[row];
  auto* x = static_cast<const float*>(in);
  auto* y = static_cast<float*>(out);
  Floats given, made;
  for (std::size_t start = 0; start < n; start += block) {
    std::size_t count = std::min(block, n - start), whole = whole_vectors(count);
    bool apart = count != whole || x == y;
    const float* from = next(x + start, count, apart, given);
    float* to = apart ? made.at : y + start;
    if (!kernel(from, to, whole)) decide(row, from, to, count);
    if (apart) std::copy(to, to + count, y + start);
  }
}

// A product that is exact in float64, of a number that is a factor so often.
bool exact_power(double x, double y, double& found) {
  if (!(y > 1 && y <= 32) || y != std::rint(y)) return false;
  found = x;
  for (int i = 1; i < static_cast<int>(y); ++i) {
    double next = found * x;
    if (std::fma(found, x, -next) != 0) return false;
    found = next;
  }
  return std::fabs(found) > 0x1p-900;  // else the rest may have vanished
}

float decided_power(float x, float y) {
  double exact;
  if (exact_power(x, y, exact)) return static_cast<float>(exact);
  float found = correctly_rounded_power(std::fabs(x), y);
  return x < 0 && std::fmod(y, 2.0f) != 0 ? -found : found;
}

void decide_powers(const float* x, const float* y, float* found, std::size_t n) {
  Doubles a, b, wide;
  std::copy(x, x + n, a.at);
  std::copy(y, y + n, b.at);
  kernels().binary[static_cast<std::size_t>(BinaryOp::pow)][in_double](a.at, b.at, wide.at, n, Repeat::neither);
  for (std::size_t i = 0; i < n; ++i)
    if (!decides(wide.at[i], found[i])) found[i] = decided_power(x[i], y[i]);
}

template <std::size_t... rows>
constexpr std::array<Unary, unary_count> made_kernels(std::index_sequence<rows...>) {
  return {&each_element<rows>...};
}
constexpr std::array<Unary, unary_count> each_kernel = made_kernels(std::make_index_sequence<unary_count>{});

}  // namespace

Unary correctly_rounded_kernel(std::size_t row) { return rounding_kernels().unary[row] ? each_kernel[row] : nullptr; }

unsigned correctly_rounded_powers(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
  auto *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
  auto* z = static_cast<float*>(out);
  bool one_x = repeat == Repeat::left, one_y = repeat == Repeat::right;
  Floats bases, exponents, made;
  if (one_x) std::fill(bases.at, bases.at + block, *x);
  if (one_y) std::fill(exponents.at, exponents.at + block, *y);
  for (std::size_t start = 0; start < n; start += block) {
    std::size_t count = std::min(block, n - start), whole = whole_vectors(count);
    bool apart = count != whole || x == z || y == z;
    const float* base = one_x ? bases.at : next(x + start, count, apart, bases);
    const float* exponent = one_y ? exponents.at : next(y + start, count, apart, exponents);
    float* to = apart ? made.at : z + start;
    if (!rounding_kernels().pow(base, exponent, to, whole)) decide_powers(base, exponent, to, count);
    if (apart) std::copy(to, to + count, z + start);
  }
  return none;
}

}  // namespace suanzi
