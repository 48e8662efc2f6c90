// native/kernels/nn/grids.cpp: nn 7: the loop of grid_sample.
//
// The driver computes once per position which elements count, and how much; all channels share that. So this loop is
// gathers, products and sums along positions.
#include "kernels/common.inc"

#include "kernels/nn/grids.h"

namespace suanzi {
namespace {

template <class T>
void add_loop(const void* plane, const i64* offsets, const void* weights, void* sums, std::size_t n) {
  auto *x = static_cast<const T*>(plane), *w = static_cast<const T*>(weights);
  auto* y = static_cast<T*>(sums);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    T product = w[i] * x[offsets[i]];
    y[i] += w[i] == T{0} ? T{0} : product;
  }
}

}  // namespace

SUANZI_TABLE(GridKernels, grid_kernels, {{add_loop<f32>, add_loop<f64>}})

}  // namespace suanzi
