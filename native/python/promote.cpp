// native/python/promote.cpp: the fast paths of promote_types and result_type: one load from the rule table.
#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"

namespace suanzi {
namespace {

PyTypeObject* zero_dim_type = nullptr;  // ZeroDim
PyObject* dtype_attribute = nullptr;    // "dtype"
PyObject* refuse = nullptr;             // raises for what the table refuses

constexpr std::size_t no_code = RuleTable::operand_count;

// The row of an operand in the rule table: a dtype, a tensor, a ZeroDim, or a Python number of exactly
// that type; an int whose value has a say, in an integer dtype, is `checked`.
std::size_t operand_code(PyObject* x, const RuleTable& table, PyObject*& checked) {
  if (is_dtype(x)) return dtype_index(x);
  if (tensor_of(x)) {
    Operand operand;
    return read_operand(x, operand) ? suanzi::operand_code(x, operand, table) : no_code;
  }
  PyTypeObject* type = Py_TYPE(x);
  if (type == &PyBool_Type) return RuleTable::number_base;
  if (type == &PyLong_Type) {
    if (table.checks_integers()) checked = x;
    return RuleTable::number_base + 1;
  }
  if (type == &PyFloat_Type) return RuleTable::number_base + 2;
  if (type == &PyComplex_Type) return RuleTable::number_base + 3;
  if (type == zero_dim_type) {
    nb::object dtype = nb::steal(PyObject_GetAttr(x, dtype_attribute));
    if (dtype.is_valid() && is_dtype(dtype.ptr())) return RuleTable::zero_dim_base + dtype_index(dtype.ptr());
    PyErr_Clear();
  }
  return no_code;
}

PyObject* recall(const RuleTable& table, PyObject* rules, PyObject* op, std::size_t key, std::size_t a, std::size_t b) {
  if (key) {
    Py_ssize_t length;
    const char* name = PyUnicode_AsUTF8AndSize(op, &length);
    if (!name) PyErr_Clear();
    if (!name || table.gates({name, static_cast<std::size_t>(length)}, a, b)) return nullptr;
  }
  std::uint8_t cell = table.get(key, a, b);
  if (cell < dtype_count) return Py_NewRef(dtype_object(cell));
  const std::size_t codes[] = {a, b};
  return cell == RuleTable::refused ? raise_refusal(refuse, rules, op, codes, 2) : nullptr;
}

PyObject* promote_types(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (count != 2 || !is_dtype(args[0]) || !is_dtype(args[1])) return nullptr;
  Given given({"rules"}, args + count, 0, keywords);
  if (!given) return nullptr;
  nb::object keep;
  const RuleTable* table = rules_argument(given[0] ? given[0] : Py_None, keep);
  if (!table) return nullptr;
  return recall(*table, keep.ptr(), Py_None, 0, dtype_index(args[0]), dtype_index(args[1]));
}

PyObject* result_type(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Given given({"rules", "op"}, args + count, 0, keywords);
  if (count != 2 || !given) return nullptr;
  nb::object keep;
  const RuleTable* table = rules_argument(given[0] ? given[0] : Py_None, keep);
  PyObject* op = given[1] ? given[1] : Py_None;
  std::size_t key = op != Py_None ? operator_class(op) : 0;
  if (!table || key >= RuleTable::class_count) return nullptr;
  PyObject* checked = nullptr;
  std::size_t a = operand_code(args[0], *table, checked), b = operand_code(args[1], *table, checked);
  if (a == no_code || b == no_code) return nullptr;
  if (checked) {
    Operand number;
    std::uint8_t cell = table->get(key, a, b);
    if (cell >= dtype_count || !read_operand(checked, number) || !holds(static_cast<Dtype>(cell), number))
      return nullptr;
  }
  return recall(*table, keep.ptr(), op, key, a, b);
}

}  // namespace

void init_promote(nb::module_& m) {
  add_fast_path<promote_types>("promote_types");
  add_fast_path<result_type>("result_type");
  dtype_attribute = PyUnicode_InternFromString("dtype");
  define(m, "def use_zero_dim(type: type) -> None", "Says which type stands for a 0-d tensor.",
         [](nb::type_object type) { zero_dim_type = reinterpret_cast<PyTypeObject*>(type.release().ptr()); });
  define(m, "def use_refusal(function: Any) -> None",
         "Says what raises for operands that the table refuses: it gets the rule set, the operator and codes.",
         [](nb::object function) { refuse = function.release().ptr(); });
}

}  // namespace suanzi
