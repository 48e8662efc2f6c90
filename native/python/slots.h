// native/python/slots.h: the slots of the tensor type that are filled in elsewhere: symbols and subscripts.
#pragma once

#include "calls/operators.h"

namespace suanzi {

// Says which operator is behind one of Python's symbols, if one is behind its name: always, or while the
// rules that it is declared with are in force.
void set_symbol(const std::string& name, const Operator& op);
// Sets what says why x += y, or a kin, does not write its result into x.
void set_refusal_in_place(PyObject* function);
// Adds the slots for +, -, ==, ... to those of the tensor type.
void add_symbol_slots(std::vector<PyType_Slot>& slots);
// Adds the slots for x[...].
void add_subscript_slots(std::vector<PyType_Slot>& slots);

}  // namespace suanzi
