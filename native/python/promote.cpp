// native/python/promote.cpp: the short cuts of promote_types and result_type: one load from the rule table.
#include "calls/fast_function.h"
#include "core/rules.h"

namespace suanzi {

namespace {

PyObject* operator_classes = nullptr;  // dict[str, OperatorClass]
PyTypeObject* zero_dim_type = nullptr;  // ZeroDim
PyObject* dtype_attribute = nullptr;    // "dtype"

constexpr std::size_t no_code = RuleTable::operand_count;


// The row of an operand in the rule table: a dtype, a ZeroDim, or a Python number of exactly that
// type; an int only if its value has no say.
std::size_t operand_code(PyObject* x, const RuleTable& table) {
  if (is_dtype(x)) return dtype_index(x);
  PyTypeObject* type = Py_TYPE(x);
  if (type == &PyBool_Type) return RuleTable::number_base;
  if (type == &PyLong_Type) {
    if (table.checks_integers()) {
      int overflow = 0;
      long value = PyLong_AsLongAndOverflow(x, &overflow);
      if (overflow || value < 0 || value > 127) return no_code;
    }
    return RuleTable::number_base + 1;
  }
  if (type == &PyFloat_Type) return RuleTable::number_base + 2;
  if (type == &PyComplex_Type) return RuleTable::number_base + 3;
  if (type == zero_dim_type) {
    nb::object dtype = nb::steal(PyObject_GetAttr(x, dtype_attribute));
    if (dtype.is_valid() && is_dtype(dtype.ptr()))
      return RuleTable::zero_dim_base + dtype_index(dtype.ptr());
    PyErr_Clear();
  }
  return no_code;
}

// The class of the operator named by an `op=` argument, or class_count if it is not a known name.
std::size_t operator_class(PyObject* op) {
  if (op == Py_None) return 0;
  if (!PyUnicode_CheckExact(op) || !operator_classes) return RuleTable::class_count;
  PyObject* found = PyDict_GetItem(operator_classes, op);
  if (!found || !PyLong_Check(found)) return RuleTable::class_count;
  return PyLong_AsSize_t(found);
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

PyObject* recall(const RuleTable& table, std::size_t key, std::size_t a, std::size_t b) {
  if (key && table.gates_operators()) return nullptr;
  std::uint8_t cell = table.get(key, a, b);
  return cell < dtype_count ? Py_NewRef(dtype_object(cell)) : nullptr;
}

PyObject* promote_types(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 2 || !is_dtype(args[0]) || !is_dtype(args[1])) return nullptr;
  PyObject *rules = Py_None, *op = nullptr;
  if (!read_keywords(args + count, keywords, rules, op) || op) return nullptr;
  nb::object keep;
  const RuleTable* table = rules_argument(rules, keep);
  return table ? recall(*table, 0, dtype_index(args[0]), dtype_index(args[1])) : nullptr;
}

PyObject* result_type(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject *rules = Py_None, *op = Py_None;
  if (count != 2 || !read_keywords(args + count, keywords, rules, op)) return nullptr;
  nb::object keep;
  const RuleTable* table = rules_argument(rules, keep);
  std::size_t key = operator_class(op);
  if (!table || key >= RuleTable::class_count) return nullptr;
  std::size_t a = operand_code(args[0], *table), b = operand_code(args[1], *table);
  return a == no_code || b == no_code ? nullptr : recall(*table, key, a, b);
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
  dtype_attribute = PyUnicode_InternFromString("dtype");
  m.def(
      "use_zero_dim",
      [](nb::type_object type) {
        zero_dim_type = reinterpret_cast<PyTypeObject*>(type.release().ptr());
      },
      nb::arg("type"), nb::sig("def use_zero_dim(type: type) -> None"),
      "Says which type stands for a 0-d tensor.");
  m.def(
      "use_operators", [](nb::dict classes) { operator_classes = classes.release().ptr(); },
      nb::arg("classes"), nb::sig("def use_operators(classes: dict[str, Any]) -> None"),
      "Says which operator is of which class.");
}

}  // namespace suanzi
