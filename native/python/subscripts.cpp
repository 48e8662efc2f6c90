// native/python/subscripts.cpp: x[...] with integers, slices, None and Ellipsis.
//
// Such a subscript is a view. Everything else, masks and tensors of indices and all that is wrong,
// is left to Python functions.
#include <cstring>

#include "ops/transformation/views.h"
#include "python/slots.h"

namespace suanzi {
namespace {

PyObject *get_slowly = nullptr, *set_slowly = nullptr;

// The view a subscript asks for. Null without an exception: it asks for something else.
PyObject* basic_view(const Tensor& t, PyObject* key) {
  bool is_tuple = PyTuple_CheckExact(key);
  Py_ssize_t count = is_tuple ? PyTuple_GET_SIZE(key) : 1;
  auto part = [&](Py_ssize_t i) { return is_tuple ? PyTuple_GET_ITEM(key, i) : key; };
  int taken = 0, added = 0, dots = 0;
  if (count > 2 * max_ndim) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* one = part(i);
    if (one == Py_None) ++added;
    else if (one == Py_Ellipsis) ++dots;
    else if (PyLong_CheckExact(one) || PySlice_Check(one)) ++taken;
    else return nullptr;
  }
  if (taken > t.ndim() || dots > 1 || t.ndim() + added > max_ndim) return nullptr;
  View view(t);
  int axis = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* one = part(i);
    if (one == Py_None) {
      view.step(1, 1, false);
    } else if (one == Py_Ellipsis) {
      for (int end = axis + t.ndim() - taken; axis < end; ++axis) view.keep(axis);
    } else if (PySlice_Check(one)) {
      Py_ssize_t start, stop, step;
      if (PySlice_Unpack(one, &start, &stop, &step) < 0) {
        PyErr_Clear();
        return nullptr;
      }
      Py_ssize_t n = PySlice_AdjustIndices(t.dims()[axis], &start, &stop, step);
      // A step that is never taken may be of any size; the stride must not overflow.
      view.cut(axis++, start, n > 1 ? step : 1, n);
    } else {
      std::int64_t dim = t.dims()[axis];
      int overflow = 0;
      std::int64_t index = PyLong_AsLongLongAndOverflow(one, &overflow);
      if (overflow || index < -dim || index >= dim) return nullptr;
      view.pick(axis++, index < 0 ? index + dim : index);
    }
  }
  for (; axis < t.ndim(); ++axis) view.keep(axis);
  return view.make();
}

PyObject* subscript(PyObject* self, PyObject* key) {
  const Tensor* t = tensor_of(self);
  PyObject* made = t->storage ? basic_view(*t, key) : nullptr;
  if (!made && !PyErr_Occurred()) {
    PyObject* args[2] = {self, key};
    made = PyObject_Vectorcall(get_slowly, args, 2, nullptr);
  }
  return t->array_api ? as_array_api(made) : made;
}

// Writes a number or a tensor into a view, if nothing about it is to be asked: that it is a number of
// the kind of the elements, or a tensor of their dtype, that it fits, and that it is other memory.
bool assign(const Tensor& target, PyObject* value) {
  Operand operand;
  const DtypeInfo& info = facts(target.dtype);
  if (target.storage->read_only || info.kind == Kind::Quantized || !read_operand(value, operand)) return false;
  if (operand.tensor) {
    if (operand.dtype != target.dtype || operand.tensor->storage == target.storage ||
        operand.tensor->storage->release || target.storage->release)
      return false;
  } else if (operand.dtype == Dtype::int64) {
    std::int64_t number;
    std::memcpy(&number, operand.number, sizeof number);
    if (number < 0 || number > 127 || info.bits < 8 || info.kind == Kind::Char) return false;
  } else if (operand.dtype != Dtype::float64 || info.exponent_bits == 0) {
    return false;
  }
  Move move;
  if (!broadcast_move(target, operand, move)) return false;
  for (int d = 0; d < target.ndim(); ++d)
    if (target.strides()[d] == 0 && target.dims()[d] > 1) return false;
  Operand both[2];
  both[0].tensor = &target;
  both[1] = operand;
  run_loop(target.size, both, 2, [&] { run_move(move); });
  return true;
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  const Tensor* t = tensor_of(self);
  if (t->storage && value) {
    PyObject* view = basic_view(*t, key);
    bool done = view && assign(*tensor_of(view), value);
    Py_XDECREF(view);
    if (done) return 0;
    if (PyErr_Occurred()) return -1;
  }
  PyObject* args[3] = {self, key, value ? value : Py_None};
  PyObject* made = value ? PyObject_Vectorcall(set_slowly, args, 3, nullptr) : nullptr;
  if (!value) PyErr_SetString(PyExc_TypeError, "elements of a tensor cannot be deleted");
  Py_XDECREF(made);
  return made ? 0 : -1;
}

}  // namespace

void add_subscript_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(subscript)});
  slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)});
}

void init_subscripts(nb::module_& m) {
  using namespace nb::literals;
  define(m, "def declare_indexing(get: object, set: object) -> None",
         "Names the functions that x[key] and x[key] = value are left to where they are no plain views.",
         [](nb::object get, nb::object set) {
           get_slowly = get.release().ptr();
           set_slowly = set.release().ptr();
         });
  m.def(
      "basic_view",
      [](nb::handle object, nb::handle key) {
        const Tensor* t = tensor_of(object.ptr());
        PyObject* made = t && t->storage ? basic_view(*t, key.ptr()) : nullptr;
        if (!made && PyErr_Occurred()) throw nb::python_error();
        return made ? nb::steal(made) : nb::none();
      },
      "tensor"_a, "key"_a.none(), nb::sig("def basic_view(tensor: Any, key: Any) -> Tensor | None"),
      "The view that integers, slices, None and Ellipsis ask for; None for any other key.");
}

}  // namespace suanzi
