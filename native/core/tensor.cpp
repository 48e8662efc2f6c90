// native/core/tensor.cpp: shapes, and tensors as Python objects: their memory.
#include "core/tensor.h"

#include <algorithm>
#include <cmath>
#include <new>

namespace suanzi {

// ---- shapes -----------------------------------------------------------------------------------

bool element_count(int ndim, const std::int64_t* dims, std::int64_t& count) noexcept {
  count = 1;
  bool empty = false;
  for (int i = 0; i < ndim; ++i) {
    if (dims[i] < 0) return false;
    empty |= dims[i] == 0;
  }
  for (int i = 0; i < ndim && !empty; ++i)
    if (__builtin_mul_overflow(count, dims[i], &count)) return false;
  if (empty) count = 0;
  return true;
}

void row_major_strides(int ndim, const std::int64_t* dims, std::int64_t* strides) noexcept {
  std::int64_t stride = 1;
  for (int i = ndim; i-- > 0;) {
    strides[i] = stride;
    // Of an empty tensor no stride is used, and the product of its other dims may overflow.
    if (dims[i] > 0 && __builtin_mul_overflow(stride, dims[i], &stride)) stride = 1;
  }
}

bool is_row_major(int ndim, const std::int64_t* dims, const std::int64_t* strides) noexcept {
  std::int64_t expected = 1;
  for (int i = 0; i < ndim; ++i)
    if (dims[i] == 0) return true;
  for (int i = ndim; i-- > 0;) {
    if (dims[i] != 1 && strides[i] != expected) return false;
    // Axes of which a tensor without elements has more.
    if (__builtin_mul_overflow(expected, dims[i], &expected)) return i == 0;
  }
  return true;
}

// A zero point need not be an integer that is stored: of numbers that are all far above 0 it is not. With
// 2^28 or less, a difference has 29 bits, and its product with a float still fits a double.
constexpr std::int32_t max_zero_point = 1 << 28;

bool is_consistent(const Tensor& t, const Quantization& q) noexcept {
  const DtypeInfo& info = facts(t.dtype);
  if (info.kind != Kind::Quantized) return false;
  bool symmetric = info.code != 7 && info.code != 8;
  if (symmetric ? q.zero_point != 0 : q.zero_point < -max_zero_point || q.zero_point > max_zero_point) return false;
  if (q.channel_axis < -1 || q.channel_axis >= t.ndim()) return false;
  std::int64_t count = q.channel_axis < 0 ? 1 : t.dims()[q.channel_axis];
  return static_cast<std::int64_t>(q.scale.size()) == count &&
         std::all_of(q.scale.begin(), q.scale.end(), [](float s) { return s > 0 && std::isfinite(s); });
}

void take_quantization(Tensor& made, const Tensor& source) {
  if (source.quantization && made.dtype == source.dtype && is_consistent(made, *source.quantization))
    made.quantization = new Quantization(*source.quantization);
}

// ---- the object -------------------------------------------------------------------------------

PyTypeObject* the_type = nullptr;

namespace {

// Objects that are free to be used again; guarded by the GIL.
#if defined(__SANITIZE_ADDRESS__)
constexpr int max_spare = 0;  // so that use after free is seen
#else
constexpr int max_spare = 32;
#endif
PyTensor* spare[max_spare + 1];
int spare_count = 0;

PyTensor* allocate_object() {
  PyTensor* object;
  if (spare_count > 0) {
    object = spare[--spare_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), the_type);
    object->weak_references = nullptr;
  } else {
    object = reinterpret_cast<PyTensor*>(the_type->tp_alloc(the_type, 0));
  }
  if (object) new (&object->tensor) Tensor;
  return object;
}

PyObject* out_of_memory(Dtype dtype, int ndim, const std::int64_t* dims) {
  nb::object error = nb::module_::import_("suanzi.base.status").attr("AllocFailed");
  nb::list shape;
  for (int i = 0; i < ndim; ++i) {
    if (dims[i] < 0)  // a size that was too large to be counted
      shape.append("2**63 or more");
    else shape.append(dims[i]);
  }
  PyErr_Format(error.ptr(), "not enough memory for a tensor of %s with shape %S; use smaller ones.", facts(dtype).name,
               nb::tuple(shape).ptr());
  return nullptr;
}

// A new tensor with room for dims and strides, which are not set.
PyTensor* new_object(Storage* storage, std::int64_t offset, int ndim, const std::int64_t* dims) {
  PyTensor* object = allocate_object();
  if (!object) {
    release_storage(storage);
    return nullptr;
  }
  Tensor& t = object->tensor;
  t.storage = storage;
  t.dtype = storage->dtype;
  t.offset = offset;
  if (!t.extents.resize(ndim)) {
    Dtype dtype = t.dtype;
    Py_DECREF(object);
    out_of_memory(dtype, ndim, dims);
    return nullptr;
  }
  return object;
}

// A tensor on the same elements; null and an exception if there is no memory.
PyObject* same_view(const Tensor& t) {
  t.storage->retain();
  PyObject* made = new_tensor(t.storage, t.offset, t.ndim(), t.dims(), t.strides());
  if (made) take_quantization(*tensor_of(made), t);
  return made;
}

}  // namespace

void deallocate_tensor(PyObject* self) {
  auto* object = reinterpret_cast<PyTensor*>(self);
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  if (object->tensor.storage) release_storage(object->tensor.storage);
  delete object->tensor.quantization;
  object->tensor.~Tensor();
  if (spare_count < max_spare) spare[spare_count++] = object;
  else the_type->tp_free(self);
  Py_DECREF(the_type);
}

PyObject* new_tensor(Storage* storage, std::int64_t offset, int ndim, const std::int64_t* dims,
                     const std::int64_t* strides) {
  PyTensor* object = new_object(storage, offset, ndim, dims);
  if (!object) return nullptr;
  Tensor& t = object->tensor;
  std::copy(dims, dims + ndim, t.extents.dims());
  std::copy(strides, strides + ndim, t.extents.strides());
  element_count(ndim, dims, t.size);
  t.row_major = is_row_major(ndim, dims, strides);
  return reinterpret_cast<PyObject*>(object);
}

PyObject* new_dense_tensor(Dtype dtype, int ndim, const std::int64_t* dims) {
  std::int64_t count;
  Storage* storage = element_count(ndim, dims, count) ? allocate_storage(dtype, count) : nullptr;
  if (!storage) return out_of_memory(dtype, ndim, dims);
  PyTensor* object = new_object(storage, 0, ndim, dims);
  if (!object) return nullptr;
  Tensor& t = object->tensor;
  for (int i = 0; i < ndim; ++i) t.extents.dims()[i] = dims[i];
  row_major_strides(ndim, dims, t.extents.strides());
  t.size = count;
  return reinterpret_cast<PyObject*>(object);
}

PyObject* as_array_api(PyObject* made) {
  if (!made || is_array_api(made)) return made;
  if (Tensor* t = tensor_of(made); t && t->storage) {
    if (Py_REFCNT(made) > 1) {
      Py_SETREF(made, same_view(*t));
      if (!made) return nullptr;
    }
    tensor_of(made)->array_api = true;
  } else if (Py_REFCNT(made) == 1 && (PyTuple_Check(made) || PyList_Check(made))) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(made); ++i) {
      PyObject*& item = PySequence_Fast_ITEMS(made)[i];
      item = as_array_api(item);
      if (item) continue;
      item = Py_NewRef(Py_None);
      Py_DECREF(made);
      return nullptr;
    }
  }
  return made;
}

}  // namespace suanzi
