// native/promote.cpp: the short cut of promote_types: two dtypes, one load from the rule table.
#include <cstring>

#include "fast_function.h"
#include "rules.h"

namespace suanzi {

namespace {

PyObject* promote_types(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 2 || Py_TYPE(args[0]) != dtype_type() || Py_TYPE(args[1]) != dtype_type())
    return nullptr;
  PyObject* argument = Py_None;
  if (keywords) {
    if (PyTuple_GET_SIZE(keywords) != 1 ||
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "rules") != 0)
      return nullptr;
    argument = args[2];
  }
  PyObject* rules = rules_argument(argument);
  if (!rules) return nullptr;
  std::uint8_t cell = rule_table(rules)->get(0, dtype_index(args[0]), dtype_index(args[1]));
  Py_DECREF(rules);
  return cell < dtype_count ? Py_NewRef(dtype_object(cell)) : nullptr;
}

}  // namespace

void init_promote(nb::module_& m) {
  m.def(
      "accelerate_promote_types",
      [](nb::handle function) { return make_fast_function(promote_types, function); },
      nb::arg("function"), nb::sig("def accelerate_promote_types(function: F, /) -> F"),
      "Puts the table lookup in front of the Python promote_types.");
}

}  // namespace suanzi
