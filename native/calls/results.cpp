// native/calls/results.cpp: tensors for what is computed along axes of another.
#include "calls/results.h"

#include <algorithm>
#include <cstdlib>

namespace suanzi {

PyObject* new_result(const Tensor& t, std::uint64_t mask, bool keep_dims, Dtype dtype) {
  int ndim = 0, order[max_ndim];
  std::int64_t dims[max_ndim], far[max_ndim], sorted[max_ndim], strides[max_ndim];
  for (int d = 0; d < t.ndim(); ++d) {
    bool is_reduced = mask >> d & 1;
    if (is_reduced && !keep_dims) continue;
    dims[ndim] = is_reduced ? 1 : t.dims()[d];
    far[ndim] = std::abs(t.strides()[d]);
    ++ndim;
  }
  bool in_order = true;
  int count = 0;
  // Axes of one element lie anywhere.
  for (int d = 0; d < ndim; ++d) {
    if (dims[d] == 1) continue;
    int at = count++;
    for (; at > 0 && far[order[at - 1]] < far[d]; --at) order[at] = order[at - 1], in_order = false;
    order[at] = d;
  }
  if (in_order) return new_dense_tensor(dtype, ndim, dims);
  for (int i = 0; i < count; ++i) sorted[i] = dims[order[i]];
  PyObject* dense = new_dense_tensor(dtype, count, sorted);
  if (!dense) return nullptr;
  std::fill_n(strides, ndim, std::int64_t{1});
  for (int i = 0; i < count; ++i) strides[order[i]] = tensor_of(dense)->strides()[i];
  tensor_of(dense)->storage->retain();
  PyObject* made = new_tensor(tensor_of(dense)->storage, 0, ndim, dims, strides);
  Py_DECREF(dense);
  return made;
}

}  // namespace suanzi
