// native/ops/creation_sparse.h: 7.2.1.14: rows of sparse tensors, as the files that work on them read and make them.
#pragma once

#include "calls/arguments.h"
#include "loops/blocks.h"

namespace suanzi {

// The places of a sparse tensor: row r has the columns from pointers[r] up to pointers[r + 1].
struct Places {
  std::int64_t rows, count;
  const std::int64_t *pointers, *columns;
  const Tensor* tensor;  // of the columns

  Places(nb::handle pointers_object, nb::handle columns_object) {
    const Tensor* starts = read_tensor(pointers_object.ptr());
    tensor = read_tensor(columns_object.ptr());
    for (const Tensor* t : {starts, tensor})
      if (!t || t->dtype != Dtype::int64 || t->ndim() != 1 || !t->row_major)
        throw nb::value_error("places are lists of int64");
    if (starts->size < 1) throw nb::value_error("no row pointers");
    rows = starts->size - 1;
    count = tensor->size;
    pointers = reinterpret_cast<const std::int64_t*>(starts->data());
    columns = reinterpret_cast<const std::int64_t*>(tensor->data());
    check(pointers, rows, count);
  }
  // Raises unless the rows are one after the other: nothing below could be trusted.
  static void check(const std::int64_t* pointers, std::int64_t rows, std::int64_t count) {
    bool good = pointers[0] == 0 && pointers[rows] == count;
    for (std::int64_t r = 0; r < rows; ++r) good &= pointers[r] <= pointers[r + 1];
    if (!good) throw nb::value_error("the row pointers do not rise to the number of columns");
  }
};

inline const Tensor& values_of(nb::handle object, std::int64_t count) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || t->ndim() != 1 || !t->row_major || t->size != count) throw nb::value_error("a value for each column");
  return *t;
}

inline nb::object new_list(Dtype dtype, std::int64_t count) {
  PyObject* made = new_dense_tensor(dtype, 1, &count);
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

template <class T>
T* data_of(const nb::object& made) {
  return reinterpret_cast<T*>(tensor_of(made.ptr())->data());
}

}  // namespace suanzi
