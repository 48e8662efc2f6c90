// native/ops/creation/sparse.h: 7.2.1.14: rows of sparse tensors, as the files that work on them read and make them.
#pragma once

#include <new>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "loops/blocks.h"

namespace suanzi {

// Where rows begin, and where the last one ends: a copy, for another thread may change or destroy what was checked.
class RowPointers {
 public:
  // Raises unless the rows are one after the other, up to `count` elements: nothing below could be trusted.
  RowPointers(nb::handle object, std::int64_t count) {
    const Tensor* starts = read_tensor(object.ptr());
    if (!starts || starts->dtype != Dtype::int64 || starts->ndim() != 1 || !starts->row_major)
      throw nb::value_error("row pointers are a list of int64");
    if (starts->size < 1) throw nb::value_error("no row pointers");
    rows_ = starts->size - 1;
    if (!memory_.take(Dtype::int64, starts->size)) throw std::bad_alloc();
    std::memcpy(memory_.data(), starts->data(), static_cast<std::size_t>(starts->size) * 8);
    const RowPointers& at = *this;
    bool good = at[0] == 0 && at[rows_] == count;
    for (std::int64_t r = 0; r < rows_; ++r) good &= at[r] <= at[r + 1];
    if (!good) throw nb::value_error("the row pointers do not rise to the number of columns");
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t operator[](std::int64_t row) const { return reinterpret_cast<const std::int64_t*>(memory_.data())[row]; }

 private:
  std::int64_t rows_;
  Scratch memory_;
};

// The places of a sparse tensor: row r has the columns from pointers[r] up to pointers[r + 1].
struct Places {
  const Tensor* tensor;  // of the columns
  std::int64_t count;
  RowPointers pointers;
  std::int64_t rows;
  const std::int64_t* columns;

  Places(nb::handle pointers_object, nb::handle columns_object)
      : tensor(list_of_columns(columns_object)), count(tensor->size), pointers(pointers_object, count),
        rows(pointers.rows()), columns(reinterpret_cast<const std::int64_t*>(tensor->data())) {}

 private:
  static const Tensor* list_of_columns(nb::handle object) {
    const Tensor* t = read_tensor(object.ptr());
    if (!t || t->dtype != Dtype::int64 || t->ndim() != 1 || !t->row_major)
      throw nb::value_error("columns are a list of int64");
    return t;
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

// The first elements of a list, on its memory.
inline nb::object shortened(const nb::object& list, std::int64_t count) {
  Storage* storage = tensor_of(list.ptr())->storage;
  std::int64_t stride = 1;
  storage->retain();
  return raise_or(new_tensor(storage, 0, 1, &count, &stride));
}

template <class T>
T* data_of(const nb::object& made) {
  return reinterpret_cast<T*>(tensor_of(made.ptr())->data());
}

}  // namespace suanzi
