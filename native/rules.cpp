// native/rules.cpp: binds RuleTable, the native base of every rule set, and the rule set in force.
#include "rules.h"

namespace suanzi {

namespace {

PyObject* context_variable = nullptr;  // ContextVar[RuleSet]
PyObject* default_rules = nullptr;     // RuleSet
PyObject* rules_by_name = nullptr;     // dict[str, RuleSet]
PyTypeObject* table_type = nullptr;
bool any_chosen = false;

void keep(PyObject*& slot, nb::handle value) {
  PyObject* old = slot;
  slot = value.inc_ref().ptr();
  Py_XDECREF(old);
}

void check(std::size_t operator_class, std::size_t a, std::size_t b) {
  if (operator_class >= RuleTable::class_count || a >= RuleTable::operand_count ||
      b >= RuleTable::operand_count)
    throw nb::index_error("no such cell");
}

}  // namespace

PyObject* active_rules() {
  PyObject* value = nullptr;
  // While nobody has chosen a rule set, the variable has no value anywhere.
  if (any_chosen && PyContextVar_Get(context_variable, nullptr, &value) < 0) {
    PyErr_Clear();
    return nullptr;
  }
  return value ? value : Py_XNewRef(default_rules);
}

PyObject* rules_argument(PyObject* rules) {
  if (rules == Py_None) return active_rules();
  if (PyObject_TypeCheck(rules, table_type)) return Py_NewRef(rules);
  if (PyUnicode_CheckExact(rules) && rules_by_name)
    return Py_XNewRef(PyDict_GetItem(rules_by_name, rules));
  return nullptr;
}

RuleTable* rule_table(PyObject* rules) { return nb::inst_ptr<RuleTable>(rules); }

void init_rules(nb::module_& m) {
  nb::class_<RuleTable> cls(m, "RuleTable", "The remembered answers of one rule set.");
  cls.def(nb::init<bool>(), nb::arg("gates_operators"))
      .def(
          "_remember",
          [](RuleTable& t, std::size_t operator_class, std::size_t a, std::size_t b,
             const DtypeInfo* answer) {
            check(operator_class, a, b);
            t.set(operator_class, a, b, answer ? answer->index : RuleTable::refused);
          },
          nb::arg("operator_class"), nb::arg("a"), nb::arg("b"), nb::arg("answer").none(),
          "Remembers the engine's answer to a cell; None is a refusal.");
  table_type = reinterpret_cast<PyTypeObject*>(cls.ptr());

  m.attr("ZERO_DIM_BASE") = RuleTable::zero_dim_base;
  m.attr("NUMBER_BASE") = RuleTable::number_base;
  m.def(
      "use_rules",
      [](nb::handle variable, nb::dict by_name) {
        keep(context_variable, variable);
        keep(rules_by_name, by_name);
      },
      nb::arg("variable"), nb::arg("by_name"),
      nb::sig("def use_rules(variable: object, by_name: dict[str, Any]) -> None"),
      "Says where the rule set in force is found: a ContextVar, and the loaded rule sets.");
  m.def(
      "rules_chosen", [] { any_chosen = true; },
      "To be called before the ContextVar gets its first value.");
  m.def(
      "set_default_rules", [](nb::handle_t<RuleTable> rules) { keep(default_rules, rules); },
      nb::arg("rules"), "The rule set in force where the ContextVar has no value.");
}

}  // namespace suanzi
