// native/python/symbols.cpp: Python's symbols, +, ==, ~ and the others, on tensors.
#include "python/slots.h"

namespace suanzi {

namespace {

// The operators behind Python's symbols, found by name as they are declared.
enum Symbol : int {
  plus,
  minus,
  times,
  divide,
  floor_divide,
  modulo,
  power,
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  is_equal,
  is_not_equal,
  is_greater,
  is_greater_equal,
  is_less,
  is_less_equal,
  complement,
  negate,
  magnitude,
  product,
  symbol_count
};
constexpr const char* symbol_names[symbol_count] = {"add",
                                                    "sub",
                                                    "mul",
                                                    "true_divide",
                                                    "floordiv",
                                                    "mod",
                                                    "pow",
                                                    "bitwise_and",
                                                    "bitwise_or",
                                                    "bitwise_xor",
                                                    "bitwise_left_shift",
                                                    "bitwise_right_shift",
                                                    "equal",
                                                    "not_equal",
                                                    "greater",
                                                    "greater_equal",
                                                    "less",
                                                    "less_equal",
                                                    "bitwise_not",
                                                    "negative",
                                                    "abs",
                                                    "matmul"};
const Operator* symbols[symbol_count];

// Whether the Python function may know what to do with an object; else another type may.
bool is_ours(PyObject* object) {
  if (tensor_of(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return true;
  for (const char* name : {"__array_interface__", "__dlpack__", "__suanzi_operator__"})
    if (PyObject_HasAttrString(object, name)) return true;
  return false;
}

PyObject* apply_symbol(const Operator* op, PyObject* a, PyObject* b) {
  if (!op) Py_RETURN_NOTIMPLEMENTED;
  PyObject* args[2] = {a, b};
  Py_ssize_t count = b ? 2 : 1;
  PyObject* answer = fast_call(*op, args, count, nullptr);
  if (answer || PyErr_Occurred()) return answer;
  if (!is_ours(a) || (b && !is_ours(b))) Py_RETURN_NOTIMPLEMENTED;
  return PyObject_Vectorcall(op->function, args, static_cast<std::size_t>(count), nullptr);
}

template <Symbol symbol>
PyObject* binary_symbol(PyObject* a, PyObject* b) {
  return apply_symbol(symbols[symbol], a, b);
}
template <Symbol symbol>
PyObject* unary_symbol(PyObject* a) {
  return apply_symbol(symbols[symbol], a, nullptr);
}
PyObject* power_symbol(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return apply_symbol(symbols[power], a, b);
}
PyObject* positive(PyObject* a) { return Py_NewRef(a); }

PyObject* compare(PyObject* a, PyObject* b, int how) {
  static constexpr Symbol by_how[] = {is_less, is_less_equal, is_equal, is_not_equal, is_greater, is_greater_equal};
  return apply_symbol(symbols[by_how[how]], a, b);
}

// Tensors are hashed by what they are, not by what they hold, which can change.
Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

}  // namespace

void set_symbol(const std::string& name, const Operator& op) {
  for (int i = 0; i < symbol_count; ++i)
    if (name == symbol_names[i]) symbols[i] = &op;
}

void add_symbol_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int slot, auto* function) { slots.push_back({slot, reinterpret_cast<void*>(function)}); };
  add(Py_nb_add, binary_symbol<plus>);
  add(Py_nb_subtract, binary_symbol<minus>);
  add(Py_nb_multiply, binary_symbol<times>);
  add(Py_nb_matrix_multiply, binary_symbol<product>);
  add(Py_nb_true_divide, binary_symbol<divide>);
  add(Py_nb_floor_divide, binary_symbol<floor_divide>);
  add(Py_nb_remainder, binary_symbol<modulo>);
  add(Py_nb_power, power_symbol);
  add(Py_nb_and, binary_symbol<bit_and>);
  add(Py_nb_or, binary_symbol<bit_or>);
  add(Py_nb_xor, binary_symbol<bit_xor>);
  add(Py_nb_lshift, binary_symbol<shift_left>);
  add(Py_nb_rshift, binary_symbol<shift_right>);
  add(Py_nb_invert, unary_symbol<complement>);
  add(Py_nb_negative, unary_symbol<negate>);
  add(Py_nb_positive, positive);
  add(Py_nb_absolute, unary_symbol<magnitude>);
  add(Py_tp_richcompare, compare);
  add(Py_tp_hash, hash);
}

}  // namespace suanzi
