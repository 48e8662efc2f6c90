// native/core/rules.cpp: binds RuleTable, the native base of every rule set, and the rule set in force.
#include "core/rules.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace suanzi {
namespace {

PyObject* context_variable = nullptr;  // ContextVar[RuleSet]
PyObject* default_rules = nullptr;     // RuleSet
PyObject* rules_by_name = nullptr;     // dict[str, RuleSet]
PyObject* operator_classes = nullptr;  // dict[str, OperatorClass]
PyTypeObject* table_type = nullptr;
bool any_chosen = false;
thread_local int saturating = -1;  // while this thread has not the GIL: 0 or 1

void keep(PyObject*& slot, nb::handle value) {
  PyObject* old = slot;
  slot = value.inc_ref().ptr();
  Py_XDECREF(old);
}

void check(std::size_t operator_class, std::size_t a, std::size_t b) {
  if (operator_class >= RuleTable::class_count || a >= RuleTable::operand_count || b >= RuleTable::operand_count)
    throw nb::index_error("no such cell");
}

// The table behind a Python object; null unless it is a rule set whose __init__ has run.
const RuleTable* table_of(PyObject* object) {
  if (!object || !PyObject_TypeCheck(object, table_type) || !nb::inst_ready(object)) return nullptr;
  return nb::inst_ptr<RuleTable>(object);
}

PyObject* found_by_name(PyObject* name) {
  PyObject* found = PyDict_GetItemWithError(rules_by_name, name);  // the other one looks after exceptions first
  if (!found) PyErr_Clear();
  return found;
}

nb::object rules_in_force() {
  PyObject* value = nullptr;
  // While nobody has chosen a rule set, the variable has no value anywhere.
  if (any_chosen && PyContextVar_Get(context_variable, nullptr, &value) < 0) PyErr_Clear();
  return value ? nb::steal(value) : nb::borrow(default_rules);
}

}  // namespace

const RuleTable* rules_argument(PyObject* rules, nb::object& keep) {
  if (rules == Py_None) keep = rules_in_force();
  else if (PyUnicode_CheckExact(rules) && rules_by_name) keep = nb::borrow(found_by_name(rules));
  else keep = nb::borrow(rules);
  return table_of(keep.ptr());
}

bool float8_saturates() {
  if (saturating >= 0) return saturating == 1;
  if (!any_chosen && !default_rules) return false;
  if (!PyGILState_Check()) return false;
  nb::object kept = rules_in_force();
  const RuleTable* table = table_of(kept.ptr());
  return table && table->saturates();
}

SaturatingKept::SaturatingKept() : before_(saturating) { saturating = float8_saturates() ? 1 : 0; }
SaturatingKept::~SaturatingKept() { saturating = before_; }

PyObject* raise_refusal(PyObject* function, PyObject* rules, PyObject* op, const std::size_t* codes, int count) {
  if (!function) return nullptr;
  nb::list numbers;
  for (int i = 0; i < count; ++i) {
    if (codes[i] >= RuleTable::number_base) return nullptr;
    numbers.append(codes[i]);
  }
  PyObject* args[] = {rules, op, numbers.ptr()};
  Py_XDECREF(PyObject_Vectorcall(function, args, 3, nullptr));  // it raises
  return nullptr;
}

std::size_t operator_class(PyObject* name) {
  if (!PyUnicode_CheckExact(name) || !operator_classes) return RuleTable::class_count;
  PyObject* found = PyDict_GetItem(operator_classes, name);
  if (!found || !PyLong_Check(found)) return RuleTable::class_count;
  return PyLong_AsSize_t(found);
}

void init_rules(nb::module_& m) {
  nb::class_<RuleTable> cls(m, "RuleTable", "The remembered answers of one rule set.");
  cls.def(nb::init<std::vector<std::string>, std::vector<std::string>, bool, bool>(), nb::arg("own_rules"),
          nb::arg("for_unequal"), nb::arg("checks_integers"), nb::arg("saturates"))
      .def(
          "_remember",
          [](RuleTable& t, std::size_t operator_class, std::size_t a, std::size_t b, const DtypeInfo& answer) {
            check(operator_class, a, b);
            t.set(operator_class, a, b, answer.index);
          },
          nb::arg("operator_class"), nb::arg("a"), nb::arg("b"), nb::arg("answer"),
          "Remembers the engine's answer to a cell.")
      .def(
          "_remember_refusal",
          [](RuleTable& t, std::size_t operator_class, std::size_t a, std::size_t b) {
            check(operator_class, a, b);
            t.set(operator_class, a, b, RuleTable::refused);
          },
          nb::arg("operator_class"), nb::arg("a"), nb::arg("b"), "Remembers that the engine refuses a cell.");
  table_type = reinterpret_cast<PyTypeObject*>(cls.ptr());

  m.attr("ZERO_DIM_BASE") = RuleTable::zero_dim_base;
  m.attr("NUMBER_BASE") = RuleTable::number_base;
  define(m, "def use_rules(variable: object, by_name: dict[str, Any]) -> None",
         "Says where the rule set in force is found: a ContextVar, and the loaded rule sets.",
         [](nb::handle variable, nb::dict by_name) {
           if (!PyContextVar_CheckExact(variable.ptr())) throw nb::type_error("not a ContextVar");
           keep(context_variable, variable);
           keep(rules_by_name, by_name);
         });
  m.def("rules_chosen", [] { any_chosen = true; }, "To be called before the ContextVar gets its first value.");
  m.def(
      "set_default_rules", [](nb::handle_t<RuleTable> rules) { keep(default_rules, rules); }, nb::arg("rules"),
      "The rule set in force where the ContextVar has no value.");
  define(m, "def use_operators(classes: dict[str, Any]) -> None", "Says which operator is of which class.",
         [](nb::dict classes) { keep(operator_classes, classes); });
}

}  // namespace suanzi
