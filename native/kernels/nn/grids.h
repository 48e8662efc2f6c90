// native/kernels/nn/grids.h: nn 7: the table of the loop of grid_sample, of float32 and of float64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

struct GridKernels {
  // sums[i] += weights[i] * plane[offsets[i]]; what has no weight has no say, be it infinite or NaN.
  void (*add[2])(const void* plane, const std::int64_t* offsets, const void* weights, void* sums, std::size_t n);
};

// The table of the level in use.
const GridKernels& grid_kernels() noexcept;

}  // namespace suanzi
