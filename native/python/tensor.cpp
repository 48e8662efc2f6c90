// native/python/tensor.cpp: the Python type of tensors: its attributes, its storage, and what makes tensors.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include <algorithm>

#include "core/room.h"
#include "core/status.h"
#include "ops/transformation/views.h"
#include "python/slots.h"

namespace suanzi {
namespace {

// The tensor, or null and UninitializedObject if it was destroyed.
Tensor* alive(PyObject* self) {
  Tensor& t = reinterpret_cast<PyTensor*>(self)->tensor;
  if (t.storage) return &t;
  set_status("UninitializedObject", "the tensor was destroyed.");
  return nullptr;
}

PyObject* integers(int count, const std::int64_t* values) {
  PyObject* tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    if (!value) Py_CLEAR(tuple);
    else PyTuple_SET_ITEM(tuple, i, value);
  }
  return tuple;
}

template <PyObject* (*get)(const Tensor&)>
PyObject* attribute(PyObject* self, void*) {
  const Tensor* t = alive(self);
  return t ? get(*t) : nullptr;
}

PyObject* get_dtype(const Tensor& t) { return Py_NewRef(dtype_object(static_cast<std::size_t>(t.dtype))); }
PyObject* get_shape(const Tensor& t) { return integers(t.ndim(), t.dims()); }
PyObject* get_strides(const Tensor& t) { return integers(t.ndim(), t.strides()); }
PyObject* get_ndim(const Tensor& t) { return PyLong_FromLong(t.ndim()); }
PyObject* get_size(const Tensor& t) { return PyLong_FromLongLong(t.size); }
PyObject* get_offset(const Tensor& t) { return PyLong_FromLongLong(t.offset); }
PyObject* get_transposed(const Tensor& t) {
  PyObject* made = reversed_axes(t);
  return t.array_api ? as_array_api(made) : made;
}
PyObject* get_array_api(const Tensor& t) { return PyBool_FromLong(t.array_api); }
PyObject* get_zero_point(const Tensor& t) {
  return t.quantization ? PyLong_FromLong(t.quantization->zero_point) : Py_NewRef(Py_None);
}
PyObject* get_channel_axis(const Tensor& t) {
  bool per_channel = t.quantization && t.quantization->channel_axis >= 0;
  return per_channel ? PyLong_FromLong(t.quantization->channel_axis) : Py_NewRef(Py_None);
}
PyObject* get_scale(const Tensor& t) {
  if (!t.quantization) return Py_NewRef(Py_None);
  const auto& scale = t.quantization->scale;
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(scale.size()));
  for (std::size_t i = 0; tuple && i < scale.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyFloat_FromDouble(scale[i]));
  return tuple;
}

PyGetSetDef attributes[] = {
    {"dtype", attribute<get_dtype>, nullptr, "The type of the elements.", nullptr},
    {"shape", attribute<get_shape>, nullptr, "The size along each axis.", nullptr},
    {"strides", attribute<get_strides>, nullptr, "Elements from one index to the next, per axis.", nullptr},
    {"ndim", attribute<get_ndim>, nullptr, "The number of axes.", nullptr},
    {"size", attribute<get_size>, nullptr, "The number of elements.", nullptr},
    {"offset", attribute<get_offset>, nullptr, "The offset of the first element in the storage.", nullptr},
    {"scale", attribute<get_scale>, nullptr, "The scales of a quantised tensor, else None.", nullptr},
    {"zero_point", attribute<get_zero_point>, nullptr, "The zero point of a quantised tensor, else None.", nullptr},
    {"channel_axis", attribute<get_channel_axis>, nullptr, "The axis of per-channel scales, else None.", nullptr},
    {"T", attribute<get_transposed>, nullptr, "A view with the axes in reverse order.", nullptr},
    {"is_array_api", attribute<get_array_api>, nullptr,
     "Whether suanzi.array_api created it: then x + y is its add, whatever rule set is in force.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {{"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

// ---- what Python makes tensors with -----------------------------------------------------------

Tensor& checked(nb::handle object) {
  Tensor* t = tensor_of(object.ptr());
  if (!t) throw nb::type_error("not a Tensor");
  if (!alive(object.ptr())) throw nb::python_error();
  return *t;
}

void check_ndim(std::size_t ndim) {
  if (ndim > max_ndim) throw nb::value_error("a tensor has at most 64 axes");
}

struct Owner {
  PyObject* object;
};

void release_owner(void* owner) {
  auto* kept = static_cast<Owner*>(owner);
  // The last tensor may be dropped by a thread that Python does not know, or as Python shuts down.
  run_with_gil([](void* object) { Py_DECREF(static_cast<PyObject*>(object)); }, kept->object);
  delete kept;
}

nb::object wrap_memory(std::uintptr_t address, std::int64_t size, const DtypeInfo& dtype,
                       const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides,
                       std::int64_t offset, bool read_only, nb::object owner) {
  check_ndim(shape.size());
  if (shape.size() != strides.size()) throw nb::value_error("shape and strides differ in length");
  auto* kept = new Owner{owner.inc_ref().ptr()};
  Storage* storage =
      adopt_storage(dtype_of(dtype), size, reinterpret_cast<void*>(address), read_only, release_owner, kept);
  if (!storage) {
    release_owner(kept);
    throw std::bad_alloc();
  }
  return raise_or(new_tensor(storage, offset, static_cast<int>(shape.size()), shape.data(), strides.data()));
}

nb::object view(nb::handle base, std::int64_t offset, const std::vector<std::int64_t>& shape,
                const std::vector<std::int64_t>& strides) {
  Tensor& t = checked(base);
  check_ndim(shape.size());
  if (shape.size() != strides.size()) throw nb::value_error("shape and strides differ in length");
  std::int64_t count, low = offset, high = offset;
  if (!element_count(static_cast<int>(shape.size()), shape.data(), count)) throw nb::value_error("bad shape");
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t span;
    if (shape[i] <= 1 || count == 0) continue;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &span)) throw nb::value_error("bad strides");
    if (__builtin_add_overflow(span < 0 ? low : high, span, span < 0 ? &low : &high))
      throw nb::value_error("bad strides");
  }
  if (count > 0 && (low < 0 || high >= t.storage->size)) throw nb::index_error("the view leaves its storage");
  // An empty view reads nothing, so that it may begin anywhere; its offset stays a place in the storage.
  if (count == 0) offset = std::clamp<std::int64_t>(offset, 0, t.storage->size);
  t.storage->retain();
  nb::object made =
      raise_or(new_tensor(t.storage, offset, static_cast<int>(shape.size()), shape.data(), strides.data()));
  // One scale holds for every view; where the channels went, only who made the view knows.
  Tensor& viewed = *tensor_of(made.ptr());
  bool same = offset == t.offset && std::equal(shape.begin(), shape.end(), t.dims(), t.dims() + t.ndim()) &&
              std::equal(strides.begin(), strides.end(), t.strides());
  if (t.quantization && (same || t.quantization->channel_axis < 0))
    viewed.quantization = new Quantization(*t.quantization);
  return made;
}

void set_quantization(nb::handle object, std::vector<float> scale, std::int32_t zero_point, int channel_axis) {
  Tensor& t = checked(object);
  Quantization given{std::move(scale), zero_point, channel_axis};
  if (!is_consistent(t, given))
    throw_status("InvalidArgument",
                 "the quantisation does not match the tensor: a quantised dtype takes one positive, finite scale, or "
                 "one for each index along the channel axis, and a zero point that it can store (0 if symmetric).");
  auto* made = new Quantization(std::move(given));
  delete t.quantization;
  t.quantization = made;
}

void destroy(nb::handle object) {
  Tensor& t = checked(object);
  release_storage(t.storage);
  t.storage = nullptr;
}

struct StorageHandle {
  Storage* storage;
  explicit StorageHandle(Storage* s) : storage(s) { s->retain(); }
  StorageHandle(const StorageHandle& other) : StorageHandle(other.storage) {}
  ~StorageHandle() { release_storage(storage); }
};

// The bytes of a storage, as memoryview() and NumPy take them.
int storage_buffer(PyObject* self, Py_buffer* view, int flags) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_BufferError, "the storage was never made");
    return -1;
  }
  const Storage& s = *nb::inst_ptr<StorageHandle>(self)->storage;
  return PyBuffer_FillInfo(view, self, s.data, static_cast<Py_ssize_t>(s.bytes), s.read_only, flags);
}

PyType_Slot storage_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(storage_buffer)}, {0, nullptr}};

// A type of suanzi with the methods of a Python class. Deriving from that class would make tensors
// objects of the garbage collector, which costs every one of them, and they hold no Python objects.
nb::object make_tensor_type(nb::type_object methods) {
  if (the_type) throw nb::value_error("the tensor type exists already");
  std::vector<PyType_Slot> slots{{Py_tp_dealloc, reinterpret_cast<void*>(deallocate_tensor)},
                                 {Py_tp_getset, attributes},
                                 {Py_tp_members, members}};
  add_symbol_slots(slots);
  add_subscript_slots(slots);
  slots.push_back({0, nullptr});
  static PyType_Spec spec = {"suanzi.Tensor", sizeof(PyTensor), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, nullptr};
  spec.slots = slots.data();
  PyObject* type = PyType_FromSpec(&spec);
  if (!type) throw nb::python_error();
  the_type = reinterpret_cast<PyTypeObject*>(type);
  nb::object dict = nb::module_::import_("builtins").attr("dict");
  auto classes = nb::cast<nb::tuple>(methods.attr("__mro__"));
  for (std::size_t i = classes.size() - 1; i-- > 0;) {  // from the last base on; the very last is object
    for (auto [name, value] : nb::cast<nb::dict>(dict(classes[i].attr("__dict__")))) {
      std::string text = nb::cast<std::string>(name);
      if (text != "__dict__" && text != "__weakref__" && text != "__slots__") nb::setattr(type, name, value);
    }
  }
  return nb::borrow(type);
}

}  // namespace

void init_tensor(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<StorageHandle>(m, "Storage", nb::type_slots(storage_slots),
                            "Memory that tensors share; its elements are of one dtype.")
      .def_prop_ro(
          "device", [](const StorageHandle&) { return nb::module_::import_("suanzi.base.device").attr("CPU"); },
          nb::sig("def device(self) -> Any"), "The device it is on.")
      .def_prop_ro(
          "dtype",
          [](const StorageHandle& s) { return nb::borrow(dtype_object(static_cast<std::size_t>(s.storage->dtype))); },
          nb::sig("def dtype(self) -> DType"), "The type of the elements.")
      .def_prop_ro(
          "size", [](const StorageHandle& s) { return s.storage->size; }, "Elements.")
      .def_prop_ro(
          "nbytes", [](const StorageHandle& s) { return s.storage->bytes; }, "Bytes.")
      .def_prop_ro(
          "data", [](const StorageHandle& s) { return reinterpret_cast<std::uintptr_t>(s.storage->data); },
          "The address of the first element.")
      .def_prop_ro(
          "read_only", [](const StorageHandle& s) { return s.storage->read_only; },
          "Whether the memory must not be written to.")
      .def(
          "__eq__",
          [](const StorageHandle& a, nb::handle b) {
            StorageHandle* other;
            return nb::try_cast(b, other) && other && other->storage == a.storage;
          },
          "other"_a.none(), nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const StorageHandle& s) { return std::hash<Storage*>()(s.storage); })
      .def_prop_ro(
          "memory", [](nb::handle s) { return raise_or(PyMemoryView_FromObject(s.ptr())); },
          nb::sig("def memory(self) -> memoryview"), "The bytes.");

  define(m, "def make_tensor_type(methods: F) -> F",
         "Makes the type Tensor, with the methods of a Python class and its bases.", make_tensor_type);
  define(m, "def empty(shape: Sequence[int], dtype: DType) -> Tensor",
         "A new tensor in row-major order, its elements not set.",
         [](const std::vector<std::int64_t>& shape, const DtypeInfo& dtype) {
           check_ndim(shape.size());
           return raise_or(new_dense_tensor(dtype_of(dtype), static_cast<int>(shape.size()), shape.data()));
         });
  define(m,
         "def wrap_memory(address: int, size: int, dtype: DType, shape: Sequence[int], "
         "strides: Sequence[int], offset: int, read_only: bool, owner: object) -> Tensor",
         "A tensor over memory that `owner` keeps alive.", wrap_memory);
  define(m, "def view(base: Any, offset: int, shape: Sequence[int], strides: Sequence[int]) -> Tensor",
         "Another tensor on the storage of `base`; offset and strides count elements. It has the scale of `base`, "
         "but scales of channels only if it is the same elements: else set_quantization is to follow.",
         view);
  define(
      m, "def as_array_api(made: F, like: Any = None) -> F",
      "A new tensor as one of the array API's; with `like`, only if that is one.",
      [](nb::handle made, nb::handle like) {
        Tensor* t = tensor_of(made.ptr());
        if (!t || made.is(like) || (!like.is_none() && !is_array_api(like.ptr()))) return nb::borrow(made);
        if (Py_REFCNT(made.ptr()) == 1) t->array_api = true;  // the caller's reference
        return raise_or(as_array_api(made.inc_ref().ptr()));
      },
      nb::none());
  define(m, "def set_quantization(tensor: Any, scale: Sequence[float], zero_point: int, channel_axis: int) -> None",
         "Sets the scales and zero points of a tensor of integers.", set_quantization);
  define(m, "def destroy(tensor: Any) -> None", "Releases the storage; the tensor cannot be used afterwards.", destroy);
  define(m, "def storage(tensor: Any) -> Storage", "The storage of a tensor.",
         [](nb::handle object) { return StorageHandle(checked(object).storage); });
  m.def("blas_buffer", [] { return blas_buffer; }, "What OpenBLAS takes for each call at the same time as others.");
  m.def("memory_is_limited", &memory_is_limited, "Whether this process may exhaust its address space before memory.");
  m.def("has_room", &has_room, "bytes"_a, "Whether so many bytes fit within the memory limit, if there is one.");
  define(m, "def pool_info() -> dict[str, int]", "Bytes in use, cached, the most that is cached; storages alive.", [] {
    PoolInfo info = pool_info();
    nb::dict found;
    found["in_use"] = info.in_use;
    found["cached"] = info.cached;
    found["bound"] = info.bound;
    found["storages"] = info.allocations;
    return found;
  });
  m.def("trim_pool", &trim_pool, "Returns all cached memory to the system.");
  m.def("bound_pool", &bound_pool, "nbytes"_a, "Sets how many bytes are kept for reuse.");
}

}  // namespace suanzi
