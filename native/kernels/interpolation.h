// native/kernels/interpolation.h: 7.2.18: the table of the loops of interpolate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Those with two forms are for f32 and f64. Places count elements from the start of a row.
struct InterpolationKernels {
  // out[i] = row[places[i]], by the logarithm of the element size.
  void (*pick[4])(const void* row, const std::int32_t* places, void* out, std::size_t n);
  // Between two elements of a row, or of two rows: where the second weight is 0, the first as it is.
  void (*across[2])(const void* row, const std::int32_t* low, const std::int32_t* high, const void* low_weights,
                    const void* high_weights, void* out, std::size_t n);
  void (*mix[2])(const void* low, const void* high, const void* low_weights, const void* high_weights, void* out,
                 std::size_t n);
  // Between two rows, with one weight each.
  void (*blend[2])(const void* low, const void* high, double low_weight, double high_weight, void* out, std::size_t n);
  // Adds a row to sums; of f64, `errors` has what they have lost. The first row begins them.
  void (*add[2])(const void* row, bool is_first, double* sums, double* errors, std::size_t n);
  // Adds to sums what they have lost.
  void (*settle)(double* sums, const double* errors, std::size_t n);
  double (*total)(const double* sums, std::size_t n);
  // The means over windows [first, last) of columns, each of which is the sum of `rows` elements.
  void (*means[2])(const double* sums, const std::int32_t* first, const std::int32_t* last, double rows, void* out,
                   std::size_t n);
};

}  // namespace suanzi
