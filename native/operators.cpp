// native/operators.cpp: element-wise operators: the short cut that runs without Python, and what
// the Python side runs once it has checked everything.
//
// The short cut takes dense and strided CPU tensors and Python numbers, asks the rule table of the
// rule set in force, broadcasts, allocates and computes. Whatever it does not know or like, a
// refusal or a zero divisor among it, it leaves to the Python function, which explains.
#include "operators.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "elementwise.h"
#include "fast_function.h"
#include "rules.h"
#include "tensor.h"
#include "threads.h"

namespace suanzi {

namespace {

// ---- operands ---------------------------------------------------------------------------------

struct Operand {
  const Tensor* tensor = nullptr;  // null for a number
  Dtype dtype{};
  alignas(16) std::byte number[16];

  int ndim() const { return tensor ? tensor->ndim() : 0; }
  const std::int64_t* dims() const { return tensor ? tensor->dims() : nullptr; }
  const std::byte* data() const { return tensor ? tensor->data() : number; }
};

template <class T>
void set_number(Operand& operand, Dtype dtype, T value) {
  operand.dtype = dtype;
  std::memcpy(operand.number, &value, sizeof value);
}

// Reads a tensor or a number of exactly a Python type; false for anything else.
bool read_operand(PyObject* object, Operand& operand) {
  if (const Tensor* t = tensor_of(object)) {
    operand.tensor = t;
    operand.dtype = t->dtype;
    return t->storage != nullptr;
  }
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyFloat_Type) {
    set_number(operand, Dtype::float64, PyFloat_AS_DOUBLE(object));
  } else if (type == &PyLong_Type) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow < 0) return false;
    if (overflow > 0) {
      unsigned long long large = PyLong_AsUnsignedLongLong(object);
      if (PyErr_Occurred()) {
        PyErr_Clear();
        return false;
      }
      set_number(operand, Dtype::uint64, static_cast<std::uint64_t>(large));
    } else {
      set_number(operand, Dtype::int64, static_cast<std::int64_t>(value));
    }
  } else if (type == &PyBool_Type) {
    set_number(operand, Dtype::boolean, static_cast<std::uint8_t>(object == Py_True));
  } else if (type == &PyComplex_Type) {
    Py_complex value = PyComplex_AsCComplex(object);
    double parts[2] = {value.real, value.imag};
    operand.dtype = Dtype::complex128;
    std::memcpy(operand.number, parts, sizeof parts);
  } else {
    return false;
  }
  return true;
}

// The row of an operand in the rule table, or operand_count if its value has a say.
std::size_t operand_code(PyObject* object, const Operand& operand, const RuleTable& table) {
  if (operand.tensor) {
    std::size_t code = static_cast<std::size_t>(operand.dtype);
    return operand.tensor->ndim() == 0 ? RuleTable::zero_dim_base + code : code;
  }
  switch (operand.dtype) {
    case Dtype::boolean: return RuleTable::number_base;
    case Dtype::float64: return RuleTable::number_base + 2;
    case Dtype::complex128: return RuleTable::number_base + 3;
    default: break;
  }
  if (table.checks_integers()) {
    long value = operand.dtype == Dtype::int64 ? PyLong_AsLong(object) : -1;
    if (value < 0 || value > 127) return RuleTable::operand_count;
  }
  return RuleTable::number_base + 1;
}

// ---- shapes -----------------------------------------------------------------------------------

// The shape that operands are repeated to; false if they do not go together.
bool broadcast(const Operand* operands, int count, int& ndim, std::int64_t* shape) {
  ndim = 0;
  for (int i = 0; i < count; ++i) ndim = std::max(ndim, operands[i].ndim());
  std::fill(shape, shape + ndim, 1);
  for (int i = 0; i < count; ++i) {
    int skipped = ndim - operands[i].ndim();
    for (int d = 0; d < operands[i].ndim(); ++d) {
      std::int64_t size = operands[i].dims()[d], &out = shape[skipped + d];
      if (size == out || size == 1) continue;
      if (out != 1) return false;
      out = size;
    }
  }
  return true;
}

// The order of axes in which the output is laid out: that of the first operand of its shape, so
// that arrays of one layout are read and written straight through.
void choose_order(const Operand* operands, int count, int ndim, const std::int64_t* shape, int* order) {
  for (int d = 0; d < ndim; ++d) order[d] = d;
  for (int i = 0; i < count; ++i) {
    const Tensor* t = operands[i].tensor;
    if (!t || t->ndim() != ndim || !std::equal(shape, shape + ndim, t->dims())) continue;
    if (t->row_major) return;
    for (int d = 0; d < ndim; ++d)
      if (t->strides()[d] <= 0 && shape[d] != 1) return;
    std::stable_sort(order, order + ndim, [&](int a, int b) { return t->strides()[a] > t->strides()[b]; });
    return;
  }
}

// Sets up the loop over the operands, in an order of axes.
void make_loop(Loop& loop, const Operand* operands, int count, int ndim, const std::int64_t* shape,
               const int* order) {
  std::int64_t dims[max_ndim];
  for (int d = 0; d < ndim; ++d) dims[d] = shape[order[d]];
  loop.start(ndim, dims);
  for (int i = 0; i < count; ++i) {
    std::int64_t strides[max_ndim];
    const Tensor* t = operands[i].tensor;
    auto item = static_cast<std::int64_t>(dtype_table[static_cast<std::size_t>(operands[i].dtype)].itemsize);
    for (int d = 0; d < ndim; ++d) {
      int axis = order[d] - (ndim - operands[i].ndim());
      strides[d] = t && axis >= 0 && t->dims()[axis] != 1 ? t->strides()[axis] * item : 0;
    }
    loop.add(operands[i].data(), operands[i].dtype, strides);
  }
  loop.collapse();
}

// A new tensor of a shape, dense in an order of axes.
PyObject* new_output(Dtype dtype, int ndim, const std::int64_t* shape, const int* order) {
  bool plain = true;
  for (int d = 0; d < ndim; ++d) plain &= order[d] == d;
  if (plain) return new_dense_tensor(dtype, ndim, shape);
  std::int64_t strides[max_ndim], stride = 1, count;
  for (int d = ndim; d-- > 0;) {
    strides[order[d]] = stride;
    stride *= std::max<std::int64_t>(shape[order[d]], 1);
  }
  Storage* storage = element_count(ndim, shape, count) ? allocate_storage(dtype, count) : nullptr;
  if (!storage) return new_dense_tensor(dtype, ndim, shape);  // which reports it
  return new_tensor(storage, 0, ndim, shape, strides);
}

// ---- running ----------------------------------------------------------------------------------

// Loops at least this long let other Python threads run.
constexpr std::int64_t release_gil_from = 1 << 15;

template <class F>
unsigned run(std::int64_t size, F&& body) {
  if (size < release_gil_from) return body();
  PyThreadState* state = PyEval_SaveThread();
  unsigned trouble = body();
  PyEval_RestoreThread(state);
  return trouble;
}

enum class Result : std::uint8_t { same, boolean, part };

constexpr Result binary_results[] = {
#define SAME Result::same
#define BOOL Result::boolean
#define PART Result::part
#define BINARY(name, lanes, result) result,
#define UNARY(name, lanes, result)
#include "ops.def"
#undef BINARY
#undef UNARY
};
constexpr Result unary_results[] = {
#define BINARY(name, lanes, result)
#define UNARY(name, lanes, result) result,
#include "ops.def"
#undef BINARY
#undef UNARY
#undef SAME
#undef BOOL
#undef PART
};
constexpr const char* binary_names[] = {
#define BINARY(name, lanes, result) #name,
#define UNARY(name, lanes, result)
#include "ops.def"
#undef BINARY
#undef UNARY
};
constexpr const char* unary_names[] = {
#define BINARY(name, lanes, result)
#define UNARY(name, lanes, result) #name,
#include "ops.def"
#undef BINARY
#undef UNARY
};

Dtype result_dtype(Result result, Dtype promoted) {
  if (result == Result::boolean) return Dtype::boolean;
  if (result == Result::part) {
    if (promoted == Dtype::complex32) return Dtype::float16;
    if (promoted == Dtype::complex64) return Dtype::float32;
    if (promoted == Dtype::complex128) return Dtype::float64;
  }
  return promoted;
}

// An operator as it was declared: which kernel, for which dtypes, of which promotion class.
struct Declared {
  bool binary = false;
  std::size_t kernel = 0;
  Result result = Result::same;
  std::size_t operator_class = 0;
  std::uint32_t dtypes = 0;  // a bit for each
  Cost cost = Cost::cheap;
  PyObject* function = nullptr;
};

static_assert(dtype_count <= 32);

constexpr std::size_t max_operators = 96;
std::array<Declared, max_operators> declared;
std::size_t declared_count = 0;

bool takes(const Declared& op, Dtype promoted) {
  return op.dtypes >> static_cast<unsigned>(promoted) & 1;
}

PyObject* compute(const Declared& op, const Operand* operands, int count, Dtype promoted, unsigned& trouble) {
  const Kernels& k = kernels();
  std::size_t lane = static_cast<std::size_t>(compute_lane(promoted));
  Binary binary = op.binary ? k.binary[op.kernel][lane] : nullptr;
  Unary unary = op.binary ? nullptr : k.unary[op.kernel][lane];
  if (!binary && !unary) return nullptr;
  int ndim, order[max_ndim];
  std::int64_t shape[max_ndim];
  if (!broadcast(operands, count, ndim, shape)) return nullptr;
  choose_order(operands, count, ndim, shape, order);
  Dtype out_dtype = result_dtype(op.result, promoted);
  PyObject* output = new_output(out_dtype, ndim, shape, order);
  if (!output) return nullptr;
  Loop loop;
  make_loop(loop, operands, count, ndim, shape, order);
  std::byte* out = tensor_of(output)->data();
  trouble = run(loop.size, [&] {
    return binary ? run_binary(loop, binary, promoted, out, out_dtype, op.cost)
                  : run_unary(loop, unary, promoted, out, out_dtype, op.cost);
  });
  if (trouble) Py_CLEAR(output);
  return output;
}

// The short cut; null without an exception leaves it to Python.
PyObject* shortcut(const Declared& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (!op.dtypes || keywords || count != (op.binary ? 2 : 1)) return nullptr;
  Operand operands[2];
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!read_operand(args[i], operands[i])) return nullptr;
  if (!operands[0].tensor && (count == 1 || !operands[1].tensor)) return nullptr;
  nb::object keep;
  const RuleTable* table = rules_argument(Py_None, keep);
  if (!table || table->gates_operators()) return nullptr;
  std::size_t a = operand_code(args[0], operands[0], *table);
  std::size_t b = count == 1 ? a : operand_code(args[1], operands[1], *table);
  if (a == RuleTable::operand_count || b == RuleTable::operand_count) return nullptr;
  std::uint8_t cell = table->get(op.operator_class, a, b);
  if (cell >= dtype_count) return nullptr;
  Dtype promoted = static_cast<Dtype>(cell);
  if (!takes(op, promoted)) return nullptr;
  unsigned trouble = none;
  return compute(op, operands, static_cast<int>(count), promoted, trouble);
}

template <std::size_t slot>
PyObject* shortcut_of(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return shortcut(declared[slot], args, count, keywords);
}

template <std::size_t... slots>
constexpr auto make_entries(std::index_sequence<slots...>) {
  return std::array<nb::object (*)(nb::handle), sizeof...(slots)>{&make_fast_function<shortcut_of<slots>>...};
}
constexpr auto entries = make_entries(std::make_index_sequence<max_operators>{});

// ---- Python's symbols -------------------------------------------------------------------------

// The operators behind Python's symbols, found by name as they are declared.
enum Symbol : int {
  plus, minus, times, divide, floor_divide, modulo, power, bit_and, bit_or, bit_xor, shift_left, shift_right,
  is_equal, is_not_equal, is_greater, is_greater_equal, is_less, is_less_equal, complement, negate, magnitude,
  symbol_count
};
constexpr const char* symbol_names[symbol_count] = {
    "add", "sub", "mul", "true_divide", "floordiv", "mod", "pow", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "equal", "not_equal", "greater", "greater_equal", "less",
    "less_equal", "bitwise_not", "negative", "abs"};
const Declared* symbols[symbol_count];

// Whether the Python function may know what to do with an object; else another type may.
bool is_ours(PyObject* object) {
  if (tensor_of(object) || PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object)) return true;
  return PyObject_HasAttrString(object, "__array_interface__") || PyObject_HasAttrString(object, "__dlpack__");
}

PyObject* apply_symbol(const Declared* op, PyObject* a, PyObject* b) {
  if (!op) Py_RETURN_NOTIMPLEMENTED;
  PyObject* args[2] = {a, b};
  Py_ssize_t count = b ? 2 : 1;
  PyObject* answer = shortcut(*op, args, count, nullptr);
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

void add_operator_slots(std::vector<PyType_Slot>& slots) {
  auto add = [&](int slot, auto* function) { slots.push_back({slot, reinterpret_cast<void*>(function)}); };
  add(Py_nb_add, binary_symbol<plus>);
  add(Py_nb_subtract, binary_symbol<minus>);
  add(Py_nb_multiply, binary_symbol<times>);
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

// ---- what Python calls ------------------------------------------------------------------------

namespace {

using namespace nb::literals;

Dtype dtype_of(const DtypeInfo& info) { return static_cast<Dtype>(info.index); }

std::size_t find_kernel(const std::string& name, bool binary) {
  const char* const* names = binary ? binary_names : unary_names;
  std::size_t count = binary ? binary_count : unary_count;
  for (std::size_t i = 0; i < count; ++i)
    if (name == names[i]) return i;
  throw nb::value_error("there is no such kernel");
}

nb::object declare_operator(const std::string& name, const std::string& kernel, bool binary,
                            std::size_t operator_class, const std::vector<nb::handle>& dtypes, bool dear,
                            nb::handle function) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  if (operator_class >= RuleTable::class_count) throw nb::value_error("no such operator class");
  Declared op;
  op.binary = binary;
  op.kernel = find_kernel(kernel, binary);
  op.result = binary ? binary_results[op.kernel] : unary_results[op.kernel];
  op.operator_class = operator_class;
  op.cost = dear ? Cost::dear : Cost::cheap;
  for (nb::handle dtype : dtypes) op.dtypes |= 1u << dtype_index(dtype.ptr());
  nb::object made = entries[declared_count](function);
  op.function = function.inc_ref().ptr();
  declared[declared_count] = op;
  for (int i = 0; i < symbol_count; ++i)
    if (name == symbol_names[i]) symbols[i] = &declared[declared_count];
  ++declared_count;
  return made;
}

void declare_symbol(const std::string& name, nb::handle function) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  Declared& op = declared[declared_count++];
  op.function = function.inc_ref().ptr();
  for (int i = 0; i < symbol_count; ++i)
    if (name == symbol_names[i]) symbols[i] = &op;
}

// Reads checked operands; throws for what Python should not have let through.
void read_all(const std::vector<nb::handle>& objects, Operand* operands) {
  if (objects.empty() || objects.size() > 3) throw nb::value_error("one to three operands");
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (!read_operand(objects[i].ptr(), operands[i])) throw nb::type_error("not a tensor or a plain number");
}

struct Prepared {
  int count, ndim, order[max_ndim];
  std::int64_t shape[max_ndim];
  Operand operands[3];
  Loop loop;

  explicit Prepared(const std::vector<nb::handle>& objects) : count(static_cast<int>(objects.size())) {
    read_all(objects, operands);
    if (!broadcast(operands, count, ndim, shape)) throw nb::value_error("shapes do not go together");
    choose_order(operands, count, ndim, shape, order);
  }

  nb::object output(Dtype dtype) {
    PyObject* made = new_output(dtype, ndim, shape, order);
    if (!made) throw nb::python_error();
    make_loop(loop, operands, count, ndim, shape, order);
    return nb::steal(made);
  }
};

std::byte* data_of(nb::handle tensor) { return tensor_of(tensor.ptr())->data(); }

nb::tuple run_operator(const std::string& kernel, const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Declared op;
  op.binary = objects.size() == 2;
  op.kernel = find_kernel(kernel, op.binary);
  op.result = op.binary ? binary_results[op.kernel] : unary_results[op.kernel];
  Operand operands[3];
  read_all(objects, operands);
  unsigned trouble = none;
  PyObject* output = compute(op, operands, static_cast<int>(objects.size()), dtype_of(promoted), trouble);
  if (!output && !trouble && !PyErr_Occurred()) throw nb::value_error("no kernel for this dtype, or shapes do not go together");
  if (!output && !trouble) throw nb::python_error();
  return nb::make_tuple(output ? nb::steal(output) : nb::none(), trouble);
}

nb::object run_logical(const std::string& kernel, const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  nb::object output = p.output(Dtype::boolean);
  std::byte* out = data_of(output);
  Binary function = kernels().binary[find_kernel(kernel, true)][static_cast<std::size_t>(Lane::u8)];
  run(p.loop.size, [&] { return run_truth(p.loop, function, dtype_of(promoted), out); });
  return output;
}

nb::object run_three(const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  Dtype dtype = dtype_of(promoted);
  std::size_t lane = static_cast<std::size_t>(compute_lane(dtype));
  Binary mul = kernels().binary[static_cast<std::size_t>(BinaryOp::mul)][lane];
  Binary add = kernels().binary[static_cast<std::size_t>(BinaryOp::add)][lane];
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run(p.loop.size, [&] { return run_muladd(p.loop, mul, add, dtype, out); });
  return output;
}

nb::object run_select(const std::vector<nb::handle>& objects, const DtypeInfo& promoted) {
  Prepared p(objects);
  if (p.operands[0].dtype != Dtype::boolean) throw nb::type_error("the condition is not bool");
  Dtype dtype = dtype_of(promoted);
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run(p.loop.size, [&] { run_where(p.loop, dtype, out); return 0u; });
  return output;
}

nb::object run_exact_compare(int which, const std::vector<nb::handle>& objects) {
  if (which < 0 || which > 5) throw nb::value_error("no such comparison");
  Prepared p(objects);
  nb::object output = p.output(Dtype::boolean);
  std::byte* out = data_of(output);
  run(p.loop.size, [&] { run_compare(p.loop, which, out); return 0u; });
  return output;
}

nb::object cast_tensor(nb::handle object, const DtypeInfo& dtype, bool saturate) {
  Prepared p({object});
  nb::object output = p.output(dtype_of(dtype));
  std::byte* out = data_of(output);
  run(p.loop.size, [&] { run_cast(p.loop, out, dtype_of(dtype), saturate); return 0u; });
  return output;
}

// Writes `source`, broadcast and converted, into the elements of `target`.
void copy_into(nb::handle target, nb::handle source) {
  Tensor* t = tensor_of(target.ptr());
  Operand operand;
  if (!t || !t->storage || !read_operand(source.ptr(), operand)) throw nb::type_error("not a tensor");
  if (t->storage->read_only) throw nb::value_error("the memory of the tensor is read-only");
  if (operand.ndim() > t->ndim()) throw nb::value_error("shapes do not go together");
  Operand pair[2];
  pair[0].tensor = t;
  pair[0].dtype = t->dtype;
  pair[1] = operand;
  int ndim, order[max_ndim];
  std::int64_t shape[max_ndim];
  if (!broadcast(pair, 2, ndim, shape) || ndim != t->ndim() || !std::equal(shape, shape + ndim, t->dims()))
    throw nb::value_error("shapes do not go together");
  for (int d = 0; d < ndim; ++d) order[d] = d;
  Loop loop;
  make_loop(loop, pair, 2, ndim, shape, order);
  run(loop.size, [&] { run_copy(loop, t->data()); return 0u; });
}

// As cast_tensor, but the output is in row-major order whatever the input is.
nb::object row_major_copy(nb::handle object) {
  Prepared p({object});
  for (int d = 0; d < p.ndim; ++d) p.order[d] = d;
  Dtype dtype = p.operands[0].dtype;
  nb::object output = p.output(dtype);
  std::byte* out = data_of(output);
  run(p.loop.size, [&] { run_cast(p.loop, out, dtype, false); return 0u; });
  return output;
}

}  // namespace

void init_operators(nb::module_& m) {
  m.def("declare_operator", &declare_operator, "name"_a, "kernel"_a, "binary"_a, "operator_class"_a, "dtypes"_a,
        "dear"_a, "function"_a,
        nb::sig("def declare_operator(name: str, kernel: str, binary: bool, operator_class: int, "
                "dtypes: Sequence[DType], dear: bool, function: F) -> F"),
        "Puts the short cut for a kernel in front of the Python function of an operator.");
  m.def("declare_symbol", &declare_symbol, "name"_a, "function"_a,
        nb::sig("def declare_symbol(name: str, function: Any) -> None"),
        "Says which Python function is behind the symbol of an operator that has no short cut.");
  m.def("copy_into", &copy_into, "target"_a, "source"_a,
        nb::sig("def copy_into(target: Any, source: Any) -> None"),
        "Writes a tensor of the same dtype into another, to which it is broadcast.");
  m.def("run_operator", &run_operator, "kernel"_a, "operands"_a, "promoted"_a,
        nb::sig("def run_operator(kernel: str, operands: Sequence[Any], promoted: DType) -> tuple[Any, int]"),
        "Computes an operator in a dtype; the number says what it met: 1 a zero divisor, 2 a bad shift.");
  m.def("run_logical", &run_logical, "kernel"_a, "operands"_a, "promoted"_a,
        nb::sig("def run_logical(kernel: str, operands: Sequence[Any], promoted: DType) -> Any"),
        "Combines the truth of two operands, each converted to a dtype first.");
  m.def("run_muladd", &run_three, "operands"_a, "promoted"_a,
        nb::sig("def run_muladd(operands: Sequence[Any], promoted: DType) -> Any"), "x * y + a.");
  m.def("run_where", &run_select, "operands"_a, "promoted"_a,
        nb::sig("def run_where(operands: Sequence[Any], promoted: DType) -> Any"), "condition ? x : y.");
  m.def("run_exact_compare", &run_exact_compare, "which"_a, "operands"_a,
        nb::sig("def run_exact_compare(which: int, operands: Sequence[Any]) -> Any"),
        "Compares real operands by value; ==, !=, >, >=, <, <= are 0 to 5.");
  m.def("cast", &cast_tensor, "tensor"_a, "dtype"_a, "saturate"_a,
        nb::sig("def cast(tensor: Any, dtype: DType, saturate: bool) -> Any"), "A copy in another dtype.");
  m.def("row_major_copy", &row_major_copy, "tensor"_a, nb::sig("def row_major_copy(tensor: Any) -> Any"),
        "A copy in row-major order.");
  m.def("levels", [] {
        nb::list found;
        for (const Kernels* table : available_kernels())
          if (table) found.append(table->level);
        return found;
      }, nb::sig("def levels() -> list[str]"), "The instruction-set levels this machine has, best first.");
  m.def("level", [] { return kernels().level; }, "The level in use.");
  m.def("use_level", [](const std::string& level) {
        if (!use_kernels(level.c_str())) throw nb::value_error("this machine does not have that level");
      }, "level"_a, "Chooses the instruction-set level.");
  m.def("get_num_threads", &thread_count, "How many threads large loops use.");
  m.def("set_num_threads", &set_thread_count, "count"_a, "Says how many threads large loops use.");
}

}  // namespace suanzi
