// native/ops/indexing/repeated.h: 7.2.3.25, 7.2.14.5: what is true of elements that a view repeats without end.
#pragma once

#include "core/tensor.h"

namespace suanzi {

// So many elements that to look at all of them takes seconds.
inline constexpr std::int64_t long_walk = std::int64_t{1} << 33;

// A view of each element once, along the axes that repeat them, and how often each is there. An exception is thrown
// where there is no memory.
struct Once {
  explicit Once(const Tensor& t) {
    std::int64_t dims[max_ndim];
    for (int d = 0; d < t.ndim(); ++d) {
      bool repeated = t.strides()[d] == 0;
      dims[d] = repeated ? 1 : t.dims()[d];
      if (repeated) times *= t.dims()[d];
    }
    t.storage->retain();
    view = raise_or(new_tensor(t.storage, t.offset, t.ndim(), dims, t.strides()));
  }
  const Tensor& tensor() const { return *tensor_of(view.ptr()); }

  nb::object view;
  std::int64_t times = 1;
};

// Whether there is memory for so many elements; an exception is set if not.
inline bool has_memory(Dtype dtype, std::int64_t count) {
  PyObject* tried = new_dense_tensor(dtype, 1, &count);
  Py_XDECREF(tried);
  return tried;
}

}  // namespace suanzi
