// native/loops/axes.h: axes of arrays that are gone through together: merged, sorted, and where an index is.
#pragma once

#include <cstdlib>

#include "core/tensor.h"

namespace suanzi {

// Merges axes that each of `count` arrays steps through as if they were one, and drops those of size 1.
// Returns how many are left.
inline int merge_axes(int ndim, std::int64_t* dims, std::int64_t* const* strides, int count) noexcept {
  int kept = 0;
  for (int d = 0; d < ndim; ++d) {
    if (dims[d] == 1) continue;
    bool merges = kept > 0;
    for (int i = 0; i < count && merges; ++i) merges = strides[i][kept - 1] == strides[i][d] * dims[d];
    int at = merges ? kept - 1 : kept++;
    dims[at] = merges ? dims[at] * dims[d] : dims[d];
    for (int i = 0; i < count; ++i) strides[i][at] = strides[i][d];
  }
  return kept;
}

// The offset of the element with an index, counted in row-major order, in each of several arrays.
template <class... Strides>
std::array<std::int64_t, sizeof...(Strides)> offsets_of(std::int64_t index, int ndim, const std::int64_t* dims,
                                                        const Strides*... strides) noexcept {
  std::array<std::int64_t, sizeof...(Strides)> found{};
  for (int d = ndim; d-- > 0;) {
    // A division takes longer than all else; of the first axis the index is what is left.
    std::int64_t left = d > 0 ? index / dims[d] : 0, at = index - left * dims[d];
    std::size_t i = 0;
    ((found[i++] += at * strides[d]), ...);
    index = left;
  }
  return found;
}

// Some of the axes of an array, one within the other, the last one the innermost.
struct Axes {
  int count = 0;
  std::int64_t dims[max_ndim], strides[max_ndim];

  void add(std::int64_t dim, std::int64_t stride) noexcept {
    if (dim == 1) return;
    dims[count] = dim;
    strides[count++] = stride;
  }
  std::int64_t inner_dim() const noexcept { return count ? dims[count - 1] : 1; }
  std::int64_t inner_stride() const noexcept { return count ? strides[count - 1] : 0; }
  std::int64_t size() const noexcept {
    std::int64_t found = 1;
    for (int i = 0; i < count; ++i) found *= dims[i];
    return found;
  }
  void merge() noexcept {
    std::int64_t* const all[] = {strides};
    count = merge_axes(count, dims, all, 1);
  }
  // The outermost first, by their strides.
  void sort() noexcept {
    for (int i = 1; i < count; ++i)
      for (int j = i; j > 0 && std::abs(strides[j - 1]) < std::abs(strides[j]); --j) {
        std::swap(dims[j - 1], dims[j]);
        std::swap(strides[j - 1], strides[j]);
      }
  }
  std::int64_t offset(std::int64_t index) const noexcept { return offsets_of(index, count, dims, strides)[0]; }
};

}  // namespace suanzi
