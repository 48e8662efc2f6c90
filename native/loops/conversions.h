// native/loops/conversions.h: conversions between dtypes, as steps through buffers in the first-level cache.
#pragma once

#include "kernels/vectors/lanes.h"

namespace suanzi {

// How the elements of a stored dtype get to the values a kernel computes with, or back: a few
// conversions through buffers in the first-level cache.
struct Path {
  static constexpr int max_steps = 8;
  Convert steps[max_steps];
  std::uint8_t out_size[max_steps];  // bytes per element after each step
  std::uint8_t multiple[max_steps];  // 2 for a step over the parts of complex elements
  int count = 0;
};

// The dtype of the parts of a complex dtype; of any other, itself.
Dtype part_of(Dtype dtype);

// From `source` as stored to `target` as stored.
Path cast_path(const Kernels& k, Dtype source, Dtype target, bool saturate);
// From `source` as stored to the compute lane of `promoted`, rounded to `promoted` on the way.
Path load_path(const Kernels& k, Dtype source, Dtype promoted);
// From `source` as stored to a byte, 0 or 1: whether it is true once it is converted to `promoted`.
Path truth_path(const Kernels& k, Dtype source, Dtype promoted);
// From what a kernel computes for `promoted` to `dtype`, its result, as stored.
Path store_path(const Kernels& k, Dtype promoted, Dtype dtype);
// The same for a narrow dtype whose function is computed in float64: what comes back is rounded once.
Path load_path_in_double(const Kernels& k, Dtype source, Dtype promoted);
Path store_path_from_double(const Kernels& k, Dtype promoted);

}  // namespace suanzi
