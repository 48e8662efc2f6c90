// native/core/rounding.cpp: see rounding.h.
#include "core/rounding.h"

#include <atomic>

#include "core/python.h"

namespace suanzi {
namespace {

PyObject* chosen = nullptr;  // ContextVar[bool]
std::atomic<bool> any_chosen{false}, everywhere{false};
thread_local bool in_force = false;

}  // namespace

bool rounds_correctly() noexcept { return in_force; }

RoundingKept::RoundingKept() : before_(in_force) {
  in_force = everywhere;
  PyObject* value = nullptr;
  // While nobody has chosen, the variable has no value anywhere.
  if (any_chosen && PyContextVar_Get(chosen, nullptr, &value) < 0) PyErr_Clear();
  if (value) in_force = value == Py_True;
  Py_XDECREF(value);
}
RoundingKept::~RoundingKept() { in_force = before_; }

void init_rounding(nb::module_& m) {
  define(m, "def use_rounding(variable: object) -> None",
         "Says where the rounding in force is found: a ContextVar of whether it is the correct one.",
         [](nb::handle variable) {
           if (!PyContextVar_CheckExact(variable.ptr())) throw nb::type_error("not a ContextVar");
           chosen = variable.inc_ref().ptr();
         });
  m.def("rounding_chosen", [] { any_chosen = true; }, "To be called before the ContextVar gets its first value.");
  m.def(
      "set_default_rounding", [](bool correct) { everywhere = correct; }, nb::arg("correct"),
      "What is in force where the ContextVar has no value.");
}

}  // namespace suanzi
