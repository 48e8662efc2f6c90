// native/promote.cpp: the short cuts of promote_types and result_type: one load from the rule table.
#include "fast_function.h"
#include "rules.h"

namespace suanzi {

namespace {

PyObject* operator_classes = nullptr;  // dict[str, OperatorClass]

constexpr std::size_t no_code = RuleTable::operand_count;

// The row of an operand in the rule table: a dtype, or a Python number of exactly that type.
std::size_t operand_code(PyObject* x) {
  PyTypeObject* type = Py_TYPE(x);
  if (type == dtype_type()) return dtype_index(x);
  if (type == &PyBool_Type) return RuleTable::number_base;
  if (type == &PyLong_Type) return RuleTable::number_base + 1;
  if (type == &PyFloat_Type) return RuleTable::number_base + 2;
  if (type == &PyComplex_Type) return RuleTable::number_base + 3;
  return no_code;
}

// The class of the operator named by an `op=` argument, or class_count if it is not a known name.
std::size_t operator_class(PyObject* op) {
  if (op == Py_None) return 0;
  if (!PyUnicode_CheckExact(op) || !operator_classes) return RuleTable::class_count;
  PyObject* found = PyDict_GetItem(operator_classes, op);
  return found ? PyLong_AsSize_t(found) : RuleTable::class_count;
}

// Reads the keywords `rules` and `op`; false if there is any other.
bool read_keywords(PyObject* const* values, PyObject* names, PyObject*& rules, PyObject*& op) {
  Py_ssize_t count = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "rules") == 0)
      rules = values[i];
    else if (PyUnicode_CompareWithASCIIString(name, "op") == 0)
      op = values[i];
    else
      return false;
  }
  return true;
}

PyObject* recall(PyObject* rules_given, std::size_t operator_class, std::size_t a, std::size_t b) {
  PyObject* rules = rules_argument(rules_given);
  if (!rules) return nullptr;
  const RuleTable& table = *rule_table(rules);
  std::uint8_t cell = operator_class && table.gates_operators()
                          ? RuleTable::unknown
                          : table.get(operator_class, a, b);
  Py_DECREF(rules);
  return cell < dtype_count ? Py_NewRef(dtype_object(cell)) : nullptr;
}

PyObject* promote_types(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 2 || Py_TYPE(args[0]) != dtype_type() || Py_TYPE(args[1]) != dtype_type())
    return nullptr;
  PyObject *rules = Py_None, *op = nullptr;
  if (!read_keywords(args + count, keywords, rules, op) || op) return nullptr;
  return recall(rules, 0, dtype_index(args[0]), dtype_index(args[1]));
}

PyObject* result_type(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 2) return nullptr;
  std::size_t a = operand_code(args[0]), b = operand_code(args[1]);
  PyObject *rules = Py_None, *op = Py_None;
  if (a == no_code || b == no_code || !read_keywords(args + count, keywords, rules, op))
    return nullptr;
  std::size_t key = operator_class(op);
  return key < RuleTable::class_count ? recall(rules, key, a, b) : nullptr;
}

}  // namespace

void init_promote(nb::module_& m) {
  m.def(
      "accelerate_promote_types",
      [](nb::handle function) { return make_fast_function<promote_types>(function); },
      nb::arg("function"), nb::sig("def accelerate_promote_types(function: F, /) -> F"),
      "Puts the table lookup in front of the Python promote_types.");
  m.def(
      "accelerate_result_type",
      [](nb::handle function) { return make_fast_function<result_type>(function); },
      nb::arg("function"), nb::sig("def accelerate_result_type(function: F, /) -> F"),
      "Puts the table lookup, for two operands, in front of the Python result_type.");
  m.def(
      "use_operators", [](nb::dict classes) { operator_classes = classes.release().ptr(); },
      nb::arg("classes"), nb::sig("def use_operators(classes: dict[str, Any]) -> None"),
      "Says which operator is of which class.");
}

}  // namespace suanzi
