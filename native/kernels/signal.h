// native/kernels/signal.h: 7.2.16: Fourier transforms: what a length needs to know, and the table of the loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace suanzi {

// The largest prime factor that has a pass of its own.
inline constexpr int largest_radix = 127;

// What transforms of n elements need to know, made once. Only lengths without a larger prime factor have a plan.
template <class T>
struct FourierPlan {
  std::int64_t n = 0;
  std::vector<int> factors;  // a pass for each
  // For each pass, for each p below n over the factors so far, exp(-2 pi i p j / (r m)) for j from 1 to r - 1.
  std::vector<T> roots;
  // exp(-2 pi i j / r) for a factor r, j from 0 on.
  std::vector<T> circles[largest_radix + 1];
  // exp(-2 pi i l k / (n lanes)): a vector of real parts over the lanes l, then one of imaginary parts, for each k.
  std::vector<T> lane_roots;
};

// Sequences lie side by side in vectors: the real parts of element k of all, then the imaginary ones. Backwards, real
// and imaginary parts are read and written in the other order, and the transform is the same.
template <class T>
struct FourierKernels {
  std::size_t lanes;
  // Element k of lane l is at 2 (k stride + l lane_stride). Lanes from `count` on are 0.
  void (*read)(const T* in, std::int64_t n, std::int64_t stride, std::int64_t lane_stride, std::size_t count,
               bool forward, T* x);
  void (*write)(const T* x, std::int64_t n, std::int64_t stride, std::int64_t lane_stride, std::size_t count,
                bool forward, T scale, T* out);
  // Transforms all lanes. The result is in `x` or in `work`, which is as large: in what is returned.
  T* (*transform)(const FourierPlan<T>& plan, T* x, T* work);
  // The same for one sequence, of pairs of numbers.
  T* (*transform_one)(const FourierPlan<T>& plan, T* x, T* work);
  // The transform of n lanes elements from those of its n-th parts, which lie side by side: of what is read with a
  // stride of as many elements as there are lanes.
  void (*join)(const FourierPlan<T>& plan, const T* x, bool forward, T scale, T* out);
  // out[k] = x[k] w[k] scale for pairs of numbers in a row; where `in` or `out` is false, real and imaginary parts of
  // what is read or written are exchanged.
  void (*multiply)(const T* x, const T* w, std::int64_t n, bool in, bool out, T scale, T* to);
  // Multiplies element k of lane l by coarse[k / 32] fine[k % 32], vectors as those of `x`.
  void (*turn)(T* x, std::int64_t n, const T* coarse, const T* fine);
  // From the transform of h pairs of real numbers the first h + 1 elements of that of all of them, and back: of these
  // elements k and h - k for k from `begin` to `end`, at most h / 2 + 1. The roots are exp(-2 pi i k / 2h) for k up to
  // h / 2, and `sign` is -1 for the other direction.
  void (*part_halves)(const T* z, T* out, std::int64_t h, const T* roots, T sign, std::int64_t begin, std::int64_t end);
  void (*join_halves)(const T* x, T* z, std::int64_t h, const T* roots, T sign, std::int64_t begin, std::int64_t end);
  // The same of all lanes, the first times a number, the second for a transform backwards.
  void (*part_lanes)(const T* z, T* out, std::int64_t h, const T* roots, T sign, T scale);
  void (*join_lanes)(const T* x, T* z, std::int64_t h, const T* roots, T sign);
};

struct FourierTables {
  FourierKernels<float> f32;
  FourierKernels<double> f64;
};

// The table of the level in use.
const FourierTables& fourier_kernels() noexcept;

}  // namespace suanzi
