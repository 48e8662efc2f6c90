// native/core/dtypes.cpp: binds the dtype list: one immutable singleton of class DType per entry.
#include <nanobind/stl/string.h>

#include <cstring>

#include "core/python.h"

namespace suanzi {
namespace {
PyTypeObject* the_type = nullptr;
std::array<PyObject*, dtype_count> the_objects{};

// Every dtype is one object; a name or another library's dtype is read as suanzi.dtype reads it.
PyObject* compare_dtypes(PyObject* a, PyObject* b, int how) {
  if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  if (a == b || Py_TYPE(b) == the_type || b == Py_None) return PyBool_FromLong((a == b) == (how == Py_EQ));
  static PyObject* is_named = nullptr;
  if (!is_named) {
    PyObject* module = PyImport_ImportModule("suanzi.base.dtypes");
    if (!module) return nullptr;
    is_named = PyObject_GetAttrString(module, "is_named");
    Py_DECREF(module);
    if (!is_named) return nullptr;
  }
  PyObject* answer = PyObject_CallFunctionObjArgs(is_named, a, b, nullptr);
  if (!answer || answer == Py_NotImplemented) return answer;
  bool same = answer == Py_True;
  Py_DECREF(answer);
  return PyBool_FromLong(same == (how == Py_EQ));
}
Py_hash_t hash_dtype(PyObject* self) { return _Py_HashPointer(self); }

PyType_Slot dtype_slots[] = {{Py_tp_richcompare, reinterpret_cast<void*>(compare_dtypes)},
                             {Py_tp_hash, reinterpret_cast<void*>(hash_dtype)},
                             {0, nullptr}};

// NumPy asks a foreign dtype for its own by one of two names.
nb::object numpys(const DtypeInfo& d) {
  return nb::module_::import_("suanzi.tensors.exchange").attr("as_numpy_asks")(nb::handle(the_objects[d.index]));
}
}  // namespace

PyTypeObject* dtype_type() { return the_type; }
PyObject* dtype_object(std::size_t index) { return the_objects[index]; }

void init_dtypes(nb::module_& m) {
  nb::class_<DtypeInfo> cls(m, "DType", nb::is_final(), nb::type_slots(dtype_slots),
                            "The type of a tensor's elements. Every dtype is one object: compare with ``is``, or "
                            "with ``==``, which also accepts names and dtypes of other libraries.");
  cls.def(nb::new_([]() -> DtypeInfo* {
       throw nb::type_error("dtypes cannot be created; get one with suanzi.dtype(name)");
     }))
      .def_prop_ro(
          "name", [](const DtypeInfo& d) { return d.name; }, "The name, such as 'float16'.")
      .def_prop_ro(
          "kind", [](const DtypeInfo& d) { return kind_names[static_cast<int>(d.kind)]; },
          "'bool', 'int', 'uint', 'float', 'complex', 'char' or 'quantized'.")
      .def_prop_ro(
          "code", [](const DtypeInfo& d) { return int{d.code}; },
          "The TypeCode of A.1; with `bits` it names the dtype.")
      .def_prop_ro(
          "size", [](const DtypeInfo& d) { return int{d.bits}; }, "The same as `bits`, as the standard calls it.")
      .def_prop_ro(
          "bits", [](const DtypeInfo& d) { return int{d.bits}; },
          "Logical width in bits; complex dtypes count both parts.")
      .def_prop_ro(
          "itemsize", [](const DtypeInfo& d) { return int{d.itemsize}; }, "Bytes one element takes in storage.")
      .def_prop_ro(
          "exponent_bits", [](const DtypeInfo& d) { return int{d.exponent_bits}; },
          "Exponent width of a float (or of one part of a complex); 0 for others.")
      .def_prop_ro(
          "mantissa_bits", [](const DtypeInfo& d) { return int{d.mantissa_bits}; },
          "Stored mantissa bits of a float (or of one part of a complex); 0 for others.")
      .def_prop_ro(
          "has_infinity", [](const DtypeInfo& d) { return d.has_infinity; },
          "Whether the format has infinities (float8_e4m3fn has none).")
      .def_prop_ro(
          "index", [](const DtypeInfo& d) { return int{d.index}; }, "Position in the dtype list.")
      .def_prop_ro(
          "is_floating_point", [](const DtypeInfo& d) { return d.is_float(); },
          "Whether it is a real floating-point dtype.")
      .def_prop_ro(
          "is_complex", [](const DtypeInfo& d) { return d.is_complex(); }, "Whether it is a complex dtype.")
      .def_prop_ro(
          "is_signed",
          [](const DtypeInfo& d) {
            return d.kind == Kind::Int || d.is_inexact() || (d.is_quantized() && !std::strstr(d.name, "UINT"));
          },
          "Whether it has negative numbers.")
      .def_prop_ro("dtype", &numpys, nb::sig("def dtype(self) -> Any"), "NumPy's dtype for it, used by np.dtype.")
      .def_prop_ro("__numpy_dtype__", &numpys, nb::sig("def __numpy_dtype__(self) -> Any"),
                   "NumPy's dtype for it, used by np.dtype.")
      .def("__repr__", [](const DtypeInfo& d) { return std::string("suanzi.") + d.name; })
      .def("__str__", [](const DtypeInfo& d) { return d.name; })
      .def(
          "__reduce__",
          [](const DtypeInfo& d) {
            return nb::make_tuple(nb::module_::import_("suanzi.base.dtypes").attr("dtype"), nb::make_tuple(d.name));
          },
          nb::sig("def __reduce__(self) -> tuple[object, ...]"));
  the_type = reinterpret_cast<PyTypeObject*>(cls.ptr());

  nb::list all;
  for (const DtypeInfo& info : dtype_table) {
    nb::object dtype = nb::cast(info, nb::rv_policy::copy);
    the_objects[info.index] = dtype.inc_ref().ptr();
    all.append(dtype);
  }
  m.attr("DTYPES") = nb::tuple(all);
}

}  // namespace suanzi
