// native/python/operators.cpp: how Python declares element-wise operators, the symbols behind them, and the
// functions of the array API's namespace.

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "calls/fast_function.h"
#include "python/slots.h"

namespace suanzi {
namespace {

constexpr std::size_t max_operators = 192;
std::array<Operator, max_operators> declared;
std::size_t declared_count = 0;

PyObject* fast_call_of(const Operator& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  PyObject* made = fast_call(op, args, count, keywords);
  if (!op.rules) return made;
  if (!made && !PyErr_Occurred())
    made = PyObject_Vectorcall(op.function, args, static_cast<std::size_t>(count), keywords);
  return as_array_api(made);
}

// Entries that only differ in what they are about share all their code.
[[gnu::noinline]] PyObject* call_operator(const Operator& op, PyObject* const* args, Py_ssize_t count,
                                          PyObject* keywords) {
  return detail::call_or_fall_back([&] { return fast_call_of(op, args, count, keywords); }, op.key, op.function, args,
                                   count, keywords);
}

// A built-in function carries no data that a call could find quickly, so each operator has one.
template <std::size_t... slots>
constexpr auto make_entries(std::index_sequence<slots...>) {
  return std::array<detail::Entry, sizeof...(slots)>{
      [](PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
        return call_operator(declared[slots], args, count, keywords);
      }...};
}
constexpr auto entries = make_entries(std::make_index_sequence<max_operators>{});

// The rules an operator is declared with; null for none.
const RuleTable* rules_of(nb::handle rules) {
  if (rules.is_none()) return nullptr;
  nb::object keep;
  const RuleTable* found = rules_argument(rules.ptr(), keep);
  if (!found) throw nb::type_error("not a rule set");
  rules.inc_ref();  // as long as the operator: as long as the process
  return found;
}

nb::object declare_operator(const std::string& name, const std::string& kernel, std::size_t count,
                            std::size_t operator_class, const std::vector<nb::handle>& dtypes, bool expensive,
                            bool has_domain, nb::handle function, nb::handle rules, const std::string& symbol) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  if (operator_class >= RuleTable::class_count) throw nb::value_error("no such operator class");
  Operator op;
  op.name = name;
  set_kernel(op, kernel, count);
  op.operator_class = operator_class;
  op.cost = expensive ? Cost::expensive : Cost::cheap;
  op.has_domain = has_domain;
  op.takes_bool = name != "reciprocal";  // which has no bool in Table 66, though quotients of two do
  for (nb::handle dtype : dtypes) op.dtypes |= 1u << dtype_index(dtype.ptr());
  op.rules = rules_of(rules);
  nb::object made = detail::builtin_like(function, entries[declared_count]);
  op.function = function.inc_ref().ptr();
  op.key = nb::str(name.c_str()).release().ptr();  // as long as the operator: as long as the process
  declared[declared_count] = op;
  set_symbol(symbol.empty() ? name : symbol, declared[declared_count++]);
  return made;
}

void declare_symbol(const std::string& name, nb::handle function, nb::handle rules) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  declared[declared_count].function = function.inc_ref().ptr();
  declared[declared_count].rules = rules_of(rules);
  set_symbol(name, declared[declared_count++]);
}

// ---- functions of the array API -----------------------------------------------------------------

struct Function {
  PyObject *function = nullptr, *override = nullptr;
};
constexpr std::size_t max_functions = 160;
std::array<Function, max_functions> functions;
std::size_t function_count = 0;

// Whether an argument, or one in a list of lists at most, computes operators itself: a sparse tensor, a tensor of
// blocks. A list may contain itself.
bool overrides(PyObject* object, int depth = 2) {
  if (tensor_of(object) || object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
      PyComplex_Check(object) || PyUnicode_Check(object))
    return false;
  if (PyTuple_Check(object) || PyList_Check(object)) {
    for (Py_ssize_t i = 0; depth > 0 && i < PySequence_Fast_GET_SIZE(object); ++i)
      if (overrides(PySequence_Fast_GET_ITEM(object, i), depth - 1)) return true;
    return false;
  }
  static PyObject* const name = PyUnicode_InternFromString("__suanzi_operator__");
  return name && _PyType_Lookup(Py_TYPE(object), name);  // which makes no exception where there is none
}

[[gnu::noinline]] PyObject* call_function(const Function& called, PyObject* const* args, Py_ssize_t count,
                                          PyObject* keywords) {
  Py_ssize_t total = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  PyObject* function = called.function;
  for (Py_ssize_t i = 0; i < total && function == called.function; ++i)
    if (overrides(args[i])) function = called.override;
  return as_array_api(PyObject_Vectorcall(function, args, static_cast<std::size_t>(count), keywords));
}

template <std::size_t... slots>
constexpr auto make_function_entries(std::index_sequence<slots...>) {
  return std::array<detail::Entry, sizeof...(slots)>{
      [](PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
        return call_function(functions[slots], args, count, keywords);
      }...};
}
constexpr auto function_entries = make_function_entries(std::make_index_sequence<max_functions>{});

nb::object declare_function(nb::handle function, nb::handle override) {
  if (function_count == max_functions) throw nb::value_error("too many functions");
  nb::object made = detail::builtin_like(function, function_entries[function_count]);
  functions[function_count++] = {function.inc_ref().ptr(), override.inc_ref().ptr()};
  return made;
}

}  // namespace

void init_operators(nb::module_& m) {
  define(m,
         "def declare_operator(name: str, kernel: str, count: int, operator_class: int, "
         "dtypes: Sequence[DType], expensive: bool, has_domain: bool, function: F, "
         "rules: RuleTable | None = None, symbol: str = '') -> F",
         "Puts the fast path for a kernel in front of the Python function of an operator: under the rules in force, or "
         "under its own, where it is also what a symbol of Python means.",
         declare_operator, nb::none(), "");
  define(m, "def declare_function(function: F, override: Any) -> F",
         "A function of the array API's namespace: its tensors are that's; `override` is called instead where an "
         "argument computes operators itself.",
         declare_function);
  m.def("check_domains", &check_domains,
        "Leaves operators that have a domain to Python from here on, which asks whether it matters there.");
  define(m, "def declare_in_place(refuse: object) -> None",
         "Sets what is called with x, a result and the operator where x += y cannot write it.",
         [](nb::handle function) { set_refusal_in_place(function.ptr()); });
  define(m, "def use_operator_refusal(function: Any) -> None",
         "Says what raises for operands that the table refuses: it gets the rule set, the operator and codes.",
         [](nb::object function) { use_operator_refusal(function.release().ptr()); });
  define(m, "def use_shape_refusal(function: Any) -> None",
         "Says what raises for two shapes that do not go together: it gets the operator and the shapes.",
         [](nb::object function) { use_shape_refusal(function.release().ptr()); });
  define(m, "def declare_symbol(name: str, function: Any, rules: RuleTable | None = None) -> None",
         "Says which Python function is behind the symbol of an operator that has no fast path.", declare_symbol,
         nb::none());
}

}  // namespace suanzi
