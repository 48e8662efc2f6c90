// native/core/dtypes.cpp: binds the dtype list: one immutable singleton of class DType per entry.
#include <nanobind/stl/string.h>

#include <string>

#include "core/python.h"

namespace suanzi {

namespace {
PyTypeObject* the_type = nullptr;
std::array<PyObject*, dtype_count> the_objects{};
}  // namespace

PyTypeObject* dtype_type() { return the_type; }
PyObject* dtype_object(std::size_t index) { return the_objects[index]; }

void init_dtypes(nb::module_& m) {
  nb::class_<DtypeInfo> cls(m, "DType", nb::is_final(),
                            "The type of a tensor's elements. Every dtype is one object: compare "
                            "with ``is`` or ``==``.");
  cls.def(nb::new_([]() -> DtypeInfo* {
       throw nb::type_error("there are no other dtypes; get one with suanzi.dtype(name)");
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
      .def("__repr__", [](const DtypeInfo& d) { return std::string("suanzi.") + d.name; })
      .def("__str__", [](const DtypeInfo& d) { return d.name; })
      .def(
          "__reduce__",
          [](const DtypeInfo& d) {
            return nb::make_tuple(nb::module_::import_("suanzi.dtypes").attr("dtype"), nb::make_tuple(d.name));
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
