// native/python/symbols.cpp: Python's symbols, +, ==, ~ and the others, on tensors.
#include "python/slots.h"

#include <algorithm>

#include "calls/in_place.h"

namespace suanzi {
namespace {

// Python's symbols: what each is called here, the operator behind it, found by name as it is declared, and the slot of
// a type that it has, with another one for `x += y`.
#define SUANZI_BINARY_SYMBOLS(SYMBOL)              \
  SYMBOL(plus, "add", add)                         \
  SYMBOL(minus, "sub", subtract)                   \
  SYMBOL(times, "mul", multiply)                   \
  SYMBOL(product, "matmul", matrix_multiply)       \
  SYMBOL(divide, "true_divide", true_divide)       \
  SYMBOL(floor_divide, "floordiv", floor_divide)   \
  SYMBOL(modulo, "mod", remainder)                 \
  SYMBOL(bit_and, "bitwise_and", and)              \
  SYMBOL(bit_or, "bitwise_or", or)                 \
  SYMBOL(bit_xor, "bitwise_xor", xor)              \
  SYMBOL(shift_left, "bitwise_left_shift", lshift) \
  SYMBOL(shift_right, "bitwise_right_shift", rshift)
#define SUANZI_OTHER_SYMBOLS(SYMBOL)          \
  SYMBOL(power, "pow", )                      \
  SYMBOL(is_equal, "equal", )                 \
  SYMBOL(is_not_equal, "not_equal", )         \
  SYMBOL(is_greater, "greater", )             \
  SYMBOL(is_greater_equal, "greater_equal", ) \
  SYMBOL(is_less, "less", )                   \
  SYMBOL(is_less_equal, "less_equal", )       \
  SYMBOL(complement, "bitwise_not", )         \
  SYMBOL(negate, "negative", )                \
  SYMBOL(magnitude, "abs", )
#define SUANZI_SYMBOL(symbol, name, slot) symbol,
enum Symbol : int { SUANZI_BINARY_SYMBOLS(SUANZI_SYMBOL) SUANZI_OTHER_SYMBOLS(SUANZI_SYMBOL) symbol_count };
#undef SUANZI_SYMBOL
#define SUANZI_SYMBOL(symbol, name, slot) name,
constexpr const char* symbol_names[] = {SUANZI_BINARY_SYMBOLS(SUANZI_SYMBOL) SUANZI_OTHER_SYMBOLS(SUANZI_SYMBOL)};
#undef SUANZI_SYMBOL
const Operator* symbols[symbol_count];
// A rule set can bring operators of its own, which the symbols mean while it is in force, and always for
// tensors that the array API's namespace made.
const RuleTable* own_rules = nullptr;
const Operator* own_symbols[symbol_count];

const Operator* behind(Symbol symbol, bool of_array_api) {
  if (!own_rules || !own_symbols[symbol]) return symbols[symbol];
  if (of_array_api) return own_symbols[symbol];
  nb::object keep;
  return rules_argument(Py_None, keep) == own_rules ? own_symbols[symbol] : symbols[symbol];
}

// Python's function that says why a result is not written into a tensor.
PyObject* refuse_in_place = nullptr;

// Whether the Python function may know what to do with an object; else another type may.
bool is_ours(PyObject* object) {
  if (tensor_of(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return true;
  for (const char* name : {"__array_interface__", "__dlpack__", "__suanzi_operator__"})
    if (PyObject_HasAttrString(object, name)) return true;
  return false;
}

PyObject* call_operator(const Operator* op, PyObject* a, PyObject* b) {
  if (!op) Py_RETURN_NOTIMPLEMENTED;
  PyObject* args[2] = {a, b};
  Py_ssize_t count = b ? 2 : 1;
  PyObject* answer = fast_call(*op, args, count, nullptr);
  if (answer || PyErr_Occurred()) return answer;
  if (!is_ours(a) || (b && !is_ours(b))) Py_RETURN_NOTIMPLEMENTED;
  return PyObject_Vectorcall(op->function, args, static_cast<std::size_t>(count), nullptr);
}

PyObject* apply_symbol(Symbol symbol, PyObject* a, PyObject* b) {
  bool of_array_api = is_array_api(a) || (b && is_array_api(b));
  PyObject* made = call_operator(behind(symbol, of_array_api), a, b);
  return of_array_api ? as_array_api(made) : made;
}

// Whether Python would repeat an object as often as a tensor says, where the product is left to it.
bool is_repeated(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  return type->tp_as_sequence && type->tp_as_sequence->sq_repeat &&
         !(type->tp_as_number && type->tp_as_number->nb_multiply);
}

// A product that is none of ours: another type may know it, but "ab" * tensor is as wrong as "ab" + tensor.
PyObject* others_product(PyObject* a, PyObject* b, PyObject* made) {
  if (made != Py_NotImplemented || (!is_repeated(a) && !is_repeated(b))) return made;
  Py_DECREF(made);
  PyErr_Format(PyExc_TypeError, "unsupported operand type(s) for *: '%s' and '%s'; int(tensor) repeats a sequence.",
               Py_TYPE(a)->tp_name, Py_TYPE(b)->tp_name);
  return nullptr;
}

template <Symbol symbol>
PyObject* binary_symbol(PyObject* a, PyObject* b) {
  PyObject* made = apply_symbol(symbol, a, b);
  return symbol == times ? others_product(a, b, made) : made;
}
template <Symbol symbol>
PyObject* unary_symbol(PyObject* a) {
  return apply_symbol(symbol, a, nullptr);
}
PyObject* power_symbol(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return apply_symbol(power, a, b);
}
// Whether several elements are one place in memory.
bool repeats(const Tensor& t) {
  for (int d = 0; d < t.ndim(); ++d)
    if (t.strides()[d] == 0 && t.dims()[d] > 1) return true;
  return false;
}

template <Symbol symbol>
PyObject* in_place_symbol(PyObject* a, PyObject* b) {
  // What computes in place meets nothing that would leave half of x written, as a zero divisor would.
  constexpr bool plain = symbol == plus || symbol == minus || symbol == times || symbol == bit_and ||
                         symbol == bit_or || symbol == bit_xor;
  const Operator* op = behind(symbol, is_array_api(a) || is_array_api(b));
  if (plain && op && tensor_of(a) && compute_in_place(*op, {a, b})) return Py_NewRef(a);
  if (PyErr_Occurred()) return nullptr;  // a known refusal
  PyObject* made = call_operator(op, a, b);
  if (symbol == times) made = others_product(a, b, made);
  if (!made || made == Py_NotImplemented) return made;
  const Tensor *target = tensor_of(a), *result = tensor_of(made);
  if (target && result && target->storage && !target->storage->read_only && target->dtype == result->dtype &&
      !facts(target->dtype).is_quantized() && target->ndim() == result->ndim() &&
      std::equal(target->dims(), target->dims() + target->ndim(), result->dims()) && !repeats(*target)) {
    write_back(*target, *result);
    Py_DECREF(made);
    return Py_NewRef(a);
  }
  PyObject* args[3] = {a, made, PyUnicode_FromString(symbol_names[symbol])};
  PyObject* answer = args[2] ? PyObject_Vectorcall(refuse_in_place, args, 3, nullptr) : nullptr;
  Py_XDECREF(args[2]);
  Py_DECREF(made);
  return answer;
}
PyObject* in_place_power(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return in_place_symbol<power>(a, b);
}
// A tensor of its own, as that of every other symbol.
PyObject* positive(PyObject* a) {
  PyObject* made = PyObject_CallMethod(a, "__copy__", nullptr);
  return is_array_api(a) ? as_array_api(made) : made;
}

PyObject* compare(PyObject* a, PyObject* b, int how) {
  static constexpr Symbol by_how[] = {is_less, is_less_equal, is_equal, is_not_equal, is_greater, is_greater_equal};
  return apply_symbol(by_how[how], a, b);
}

// Tensors are hashed by what they are, not by what they hold, which can change.
Py_hash_t hash(PyObject* self) { return _Py_HashPointer(self); }

}  // namespace

void set_refusal_in_place(PyObject* function) { Py_XSETREF(refuse_in_place, Py_NewRef(function)); }

void set_symbol(const std::string& name, const Operator& op) {
  if (op.rules) own_rules = op.rules;
  for (int i = 0; i < symbol_count; ++i)
    if (name == symbol_names[i]) (op.rules ? own_symbols : symbols)[i] = &op;
}

void add_symbol_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int slot, auto* function) { slots.push_back({slot, reinterpret_cast<void*>(function)}); };
#define SUANZI_SYMBOL(symbol, name, slot)   \
  add(Py_nb_##slot, binary_symbol<symbol>); \
  add(Py_nb_inplace_##slot, in_place_symbol<symbol>);
  SUANZI_BINARY_SYMBOLS(SUANZI_SYMBOL)
#undef SUANZI_SYMBOL
  add(Py_nb_power, power_symbol);
  add(Py_nb_inplace_power, in_place_power);
  add(Py_nb_invert, unary_symbol<complement>);
  add(Py_nb_negative, unary_symbol<negate>);
  add(Py_nb_positive, positive);
  add(Py_nb_absolute, unary_symbol<magnitude>);
  add(Py_tp_richcompare, compare);
  add(Py_tp_hash, hash);
}

}  // namespace suanzi
