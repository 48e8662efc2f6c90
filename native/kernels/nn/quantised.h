// native/kernels/nn/quantised.h: nn 10: the table of the loops of quantised rows and of their products.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Those of arrays of two read float32 and float64, or sums of int32 and of float32.
struct QuantisedKernels {
  // The bits of the largest magnitude, as those of the dtype: NaN is above infinity.
  std::uint64_t (*largest[2])(const void* x, std::size_t n);
  // x / scale for a finite scale, within `limit`: rounded to the nearest integer, ties to even; and as float64, such
  // that rounding it to at most 8 bits is rounding the quotient.
  void (*to_int8[2])(const void* x, double scale, double limit, std::int8_t* out, std::size_t n);
  void (*quotients[2])(const void* x, double scale, double limit, double* out, std::size_t n);
  // sums[j] += products[j] * (scale * scales[j]).
  void (*add_scaled[2])(const void* products, double scale, const double* scales, double* sums, std::size_t n);
};

// The table of the level in use.
const QuantisedKernels& quantised_kernels() noexcept;

}  // namespace suanzi
