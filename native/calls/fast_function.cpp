// native/calls/fast_function.cpp: makes the built-in function behind make_fast_function.
//
// A built-in function is the callable the interpreter calls fastest: about 20 ns less than an
// object with a vectorcall slot of its own, and 35 ns less than a nanobind function.
#include "calls/fast_function.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace suanzi {

namespace detail {

using namespace nb::literals;

// Returns a default value as a literal that the operator takes as well: Python reads the signature
// of a built-in function from text, and refuses to read one with anything else in it.
static nb::object literal(nb::handle value, nb::handle missing) {
  nb::handle type = value.type();
  if (value.is(missing) || value.is_none() || type.is(&PyBool_Type) || type.is(&PyLong_Type) ||
      type.is(&PyFloat_Type) || type.is(&PyUnicode_Type) || type.is(&PyTuple_Type))
    return nb::borrow(value);
  return nb::str(nb::hasattr(value, "name") ? value.attr("name") : value);
}

nb::object builtin_like(nb::handle function, Entry entry) {
  nb::object inspect = nb::module_::import_("inspect");
  nb::object signature = inspect.attr("signature")(function);
  nb::object empty = inspect.attr("_empty");
  nb::list bare;
  for (nb::handle parameter : nb::iter(signature.attr("parameters").attr("values")()))
    bare.append(
        parameter.attr("replace")("annotation"_a = empty, "default"_a = literal(parameter.attr("default"), empty)));
  signature = signature.attr("replace")("parameters"_a = bare, "return_annotation"_a = empty);

  // These live as long as the function, which is a global of a module: as long as the process.
  auto* name = new std::string(nb::cast<std::string>(function.attr("__name__")));
  auto* doc = new std::string(*name + nb::cast<std::string>(nb::str(signature)) + "\n--\n\n" +
                              nb::cast<std::string>(inspect.attr("getdoc")(function)));
  auto* definition = new PyMethodDef{name->c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(entry)),
                                     METH_FASTCALL | METH_KEYWORDS, doc->c_str()};
  nb::object module = function.attr("__module__");
  PyObject* made = PyCFunction_NewEx(definition, nullptr, module.ptr());
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

}  // namespace detail

namespace {
std::vector<NamedFastPath> fast_paths;
}  // namespace

void add_fast_path(NamedFastPath named) { fast_paths.push_back(named); }

const NamedFastPath& fast_path_of(nb::handle name) {
  for (const NamedFastPath& one : fast_paths)
    if (PyUnicode_Check(name.ptr()) && PyUnicode_CompareWithASCIIString(name.ptr(), one.name) == 0) return one;
  throw nb::value_error("there is no fast path of that name");
}

void init_fast_functions(nb::module_& m) {
  using namespace nb::literals;
  define(
      m, "def accelerate(function: F, key: str = '', repeated: bool = False, /) -> F",
      "Puts the fast path of an operator's key, or else of its name, in front of a Python function, and before it, "
      "of calls on tensors of a device, what was kept of an earlier one.",
      [](nb::handle function, const std::string& key, bool repeated) {
        bool by_key =
            std::any_of(fast_paths.begin(), fast_paths.end(), [&](const auto& one) { return key == one.name; });
        nb::object kept_by = repeated ? nb::object(nb::str(key.c_str())) : nb::object();
        return fast_path_of(by_key ? nb::str(key.c_str()) : function.attr("__name__")).make_function(function, kept_by);
      },
      "", false);
}

}  // namespace suanzi
