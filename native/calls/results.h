// native/calls/results.h: tensors for what is computed along axes of another.
#pragma once

#include "core/tensor.h"

namespace suanzi {

// A new tensor without the axes of a mask, or with one element along them. Its axes lie in memory in
// the order of those of the input. Null and an exception if memory runs out.
PyObject* new_result(const Tensor& t, std::uint64_t mask, bool keep_dims, Dtype dtype);

}  // namespace suanzi
