// native/core/tensor.h: a tensor: a shape and strides over a storage.
#pragma once

#include "core/python.h"
#include "core/storage.h"

namespace suanzi {

inline constexpr int max_ndim = 64;

// How integers stand for real numbers: real = (integer - zero_point) * scale.
struct Quantization {
  std::vector<float> scale;  // one, or one per channel
  std::int32_t zero_point = 0;
  int channel_axis = -1;  // -1: one scale for all
};

// The dims and strides of a tensor; few of them need no allocation.
class Extents {
 public:
  Extents() = default;
  Extents(const Extents&) = delete;
  Extents& operator=(const Extents&) = delete;
  ~Extents() {
    if (data_ != inline_) delete[] data_;
  }

  // Makes room for ndim dims and strides; false when there is no memory.
  bool resize(int ndim) noexcept {
    if (ndim > inline_ndim && ndim > ndim_) {
      auto* larger = new (std::nothrow) std::int64_t[2 * static_cast<std::size_t>(ndim)];
      if (!larger) return false;
      if (data_ != inline_) delete[] data_;
      data_ = larger;
    }
    ndim_ = ndim;
    return true;
  }

  int ndim() const noexcept { return ndim_; }
  std::int64_t* dims() noexcept { return data_; }
  const std::int64_t* dims() const noexcept { return data_; }
  std::int64_t* strides() noexcept { return data_ + ndim_; }
  const std::int64_t* strides() const noexcept { return data_ + ndim_; }

 private:
  static constexpr int inline_ndim = 5;
  int ndim_ = 0;
  std::int64_t* data_ = inline_;
  std::int64_t inline_[2 * inline_ndim];
};

struct Tensor {
  Storage* storage = nullptr;  // null once destroyed
  Dtype dtype = Dtype::float32;
  bool row_major = true;    // dense, in row-major order
  bool array_api = false;   // its symbols mean the functions of that namespace, which made it
  std::int64_t offset = 0;  // elements
  std::int64_t size = 0;
  Extents extents;
  Quantization* quantization = nullptr;  // owned

  int ndim() const noexcept { return extents.ndim(); }
  const std::int64_t* dims() const noexcept { return extents.dims(); }
  const std::int64_t* strides() const noexcept { return extents.strides(); }
  std::size_t itemsize() const noexcept { return facts(dtype).itemsize; }
  std::byte* data() const noexcept { return storage->data + offset * static_cast<std::int64_t>(itemsize()); }
};

// The number of elements of a shape; false if it does not fit 63 bits, or a dim is negative.
bool element_count(int ndim, const std::int64_t* dims, std::int64_t& count) noexcept;
// Fills in the strides of a dense tensor in row-major order.
void row_major_strides(int ndim, const std::int64_t* dims, std::int64_t* strides) noexcept;
// Whether strides are those of row-major order, axes of size 1 aside.
bool is_row_major(int ndim, const std::int64_t* dims, const std::int64_t* strides) noexcept;

// Whether a quantisation can be that of a tensor: by its dtype, and as many scales as there are channels.
bool is_consistent(const Tensor& t, const Quantization& q) noexcept;
// Lets a new tensor stand for numbers as another does, if they are of one dtype and it can: where the
// channels are now, only the maker knows.
void take_quantization(Tensor& made, const Tensor& source);

// ---- the Python object ------------------------------------------------------------------------

struct PyTensor {
  PyObject_HEAD
  PyObject* weak_references;
  Tensor tensor;
};

// The Python type, made by make_tensor_type.
extern PyTypeObject* the_type;

// The tensor in an object of exactly that type, else null.
inline Tensor* tensor_of(PyObject* object) {
  return Py_TYPE(object) == the_type ? &reinterpret_cast<PyTensor*>(object)->tensor : nullptr;
}

// Whether an object is a tensor that the array API's namespace made.
inline bool is_array_api(PyObject* object) {
  const Tensor* t = tensor_of(object);
  return t && t->array_api;
}
// Makes a result, or each tensor in a tuple or list, one of the array API's: a new tensor itself, a view of
// one that others hold. It takes over a reference and returns one; null stays null.
PyObject* as_array_api(PyObject* made);

// Frees an object of that type, or keeps it to be used again.
void deallocate_tensor(PyObject* self);

// A new Python tensor over a storage, whose reference it takes over, also when it fails. Null and
// a MemoryError when there is no memory.
PyObject* new_tensor(Storage* storage, std::int64_t offset, int ndim, const std::int64_t* dims,
                     const std::int64_t* strides);

// A new, uninitialised, row-major tensor; null and an exception if memory runs out.
PyObject* new_dense_tensor(Dtype dtype, int ndim, const std::int64_t* dims);

}  // namespace suanzi
