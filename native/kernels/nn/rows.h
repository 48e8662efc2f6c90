// native/kernels/nn/rows.h: nn 2, 3: softmaxes and norms: loops over parts of rows.
#pragma once

#include <cstddef>

namespace suanzi {

// How the elements of a row are stored: each loop has a form for each.
enum class RowFormat : unsigned { float32, float64, float16, bfloat16, count };
inline constexpr std::size_t row_formats = static_cast<std::size_t>(RowFormat::count);

// The loops for one format. `e`, weights and biases are float32, or float64 for rows of float64. Those with `streams`
// can write past the caches. Sums are float64, of parts of at most `row_block` elements.
struct RowLoops {
  // The largest number, -inf if there is none; NaN is passed over.
  double (*largest)(const void* x, std::size_t n);
  // e = exp(x - centre), not stored if null; returns its sum.
  double (*exponentials)(const void* x, double centre, void* e, std::size_t n);
  // The sum over the elements that are not `centre`, which is the largest.
  double (*exponentials_below)(const void* x, double centre, std::size_t n);
  void (*scale)(const void* e, double factor, void* out, std::size_t n, bool streams);             // e * factor
  void (*shift)(const void* x, double centre, double by, void* out, std::size_t n, bool streams);  // x - centre - by
  double (*product)(const void* e, const void* g, std::size_t n);                                  // the sum of e * g
  void (*softmax_bwd)(const void* e, const void* g, double factor, double mean, void* out, std::size_t n);
  void (*log_softmax_bwd)(const void* e, const void* g, double factor, void* out, std::size_t n);
  // One element of each of n rows that lie side by side; what belongs to a row is an array.
  void (*column_largest)(const void* x, void* most, std::size_t n);
  void (*column_exponentials)(const void* x, const void* centres, void* e, double* sums, std::size_t n);
  // The sums over the elements that are not the largest, and how many are.
  void (*column_exponentials_below)(const void* x, const void* centres, void* equal, double* sums, std::size_t n);
  void (*column_scale)(const void* e, const void* factors, void* out, std::size_t n);
  void (*column_shift)(const void* x, const void* centres, const void* logs, void* out, std::size_t n);
  double (*sum)(const void* x, std::size_t n);
  // The sum of (x - centre)^2; `wide`: in float64 throughout.
  double (*squares)(const void* x, double centre, std::size_t n, bool wide);
  // (x - centre) * factor * weight + bias. Without weights they are `one_weight` and `one_bias` for all.
  void (*affine)(const void* x, double centre, double factor, const void* weight, const void* bias, double one_weight,
                 double one_bias, void* out, std::size_t n, bool streams);
  // The sums of g * weight and of g * weight * (x - centre); without weights these are 1.
  void (*norm_sums)(const void* x, const void* g, const void* weight, double centre, std::size_t n, double* sums);
  // (g * weight - mean - (x - centre) * slope) * factor, the gradient of a norm; or its weights are `one_weight`.
  void (*norm_bwd)(const void* x, const void* g, const void* weight, double one_weight, double centre, double factor,
                   double mean, double slope, void* out, std::size_t n);
  // Adds g * (x - centre) * factor to `weight_sums`, and g to `bias_sums`, both float64 or null.
  void (*norm_weights)(const void* x, const void* g, double centre, double factor, double* weight_sums,
                       double* bias_sums, std::size_t n);
  // The sums of x * y, x^2 and y^2; `wide`: in float64 throughout.
  void (*pair_sums)(const void* x, const void* y, std::size_t n, bool wide, double* sums);
  void (*combine)(const void* x, const void* y, double a, double b, void* out, std::size_t n);  // a x + b y
  // The largest magnitude, NaN if there is one; the sum of (|x| / scale)^p.
  double (*magnitude)(const void* x, std::size_t n);
  double (*powers)(const void* x, double scale, double p, std::size_t n);
};

struct RowKernels {
  RowLoops loops[row_formats];
};

inline constexpr std::size_t row_block = 4096;

}  // namespace suanzi
