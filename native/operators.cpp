// native/operators.cpp: element-wise operators, and the short cut that runs them without Python.
//
// The short cut takes CPU tensors and Python numbers, asks the rule table of the rule set in force,
// broadcasts, allocates and computes. Whatever it does not know or like, a refusal or a zero divisor
// among it, it leaves to the Python function, which explains.
#include "operators.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <utility>

#include "fast_function.h"

namespace suanzi {

namespace {

struct Kernel {
  const char* name;
  Result result;
};

#define SAME Result::same
#define BOOL Result::boolean
#define PART Result::part
constexpr Kernel binary_list[] = {
#define BINARY(name, lanes, result) {#name, result},
#define UNARY(name, lanes, result)
#include "ops.def"
#undef BINARY
#undef UNARY
};
constexpr Kernel unary_list[] = {
#define BINARY(name, lanes, result)
#define UNARY(name, lanes, result) {#name, result},
#include "ops.def"
#undef BINARY
#undef UNARY
};
#undef SAME
#undef BOOL
#undef PART

Dtype result_dtype(Result result, Dtype promoted) {
  if (result == Result::boolean) return Dtype::boolean;
  return result == Result::part ? part_of(promoted) : promoted;
}

}  // namespace

void set_kernel(Operator& op, const std::string& name, bool binary) {
  op.binary = binary;
  const Kernel* list = binary ? binary_list : unary_list;
  for (std::size_t i = 0; i < (binary ? binary_count : unary_count); ++i) {
    if (name != list[i].name) continue;
    op.kernel = i;
    op.result = list[i].result;
    return;
  }
  throw nb::value_error("there is no such kernel");
}

PyObject* compute(const Operator& op, const Operand* operands, int count, Dtype promoted, unsigned& trouble) {
  const Kernels& k = kernels();
  std::size_t lane = static_cast<std::size_t>(compute_lane(promoted));
  if (op.binary ? !k.binary[op.kernel][lane] : !k.unary[op.kernel][lane]) return nullptr;
  Together together(operands, count);
  if (!together.fits()) return nullptr;
  Dtype out_dtype = result_dtype(op.result, promoted);
  PyObject* output = together.new_output(out_dtype);
  if (!output) return nullptr;
  Loop loop;
  together.make_loop(loop);
  std::byte* out = tensor_of(output)->data();
  trouble = run_loop(loop.size, operands, count, [&] {
    return op.binary ? run_binary(loop, op.kernel, promoted, out, out_dtype, op.cost)
                     : run_unary(loop, op.kernel, promoted, out, out_dtype, op.cost);
  });
  if (trouble) Py_CLEAR(output);
  return output;
}

PyObject* shortcut(const Operator& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  if (!op.dtypes || keywords || count != (op.binary ? 2 : 1)) return nullptr;
  Operand operands[2];
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!read_operand(args[i], operands[i])) return nullptr;
    // What is stored is not what it stands for.
    if (dtype_table[static_cast<std::size_t>(operands[i].dtype)].kind == Kind::Quantized) return nullptr;
  }
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
  if (!op.takes(promoted)) return nullptr;
  unsigned trouble = none;
  PyObject* output = compute(op, operands, static_cast<int>(count), promoted, trouble);
  if (!output) PyErr_Clear();  // Python meets it again, and says it in the operator's name
  return output;
}

// ---- declarations -----------------------------------------------------------------------------

namespace {

constexpr std::size_t max_operators = 96;
std::array<Operator, max_operators> declared;
std::size_t declared_count = 0;

template <std::size_t slot>
PyObject* shortcut_of(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  return shortcut(declared[slot], args, count, keywords);
}

// A built-in function carries no data that a call could find quickly, so each operator has one.
template <std::size_t... slots>
constexpr auto make_entries(std::index_sequence<slots...>) {
  return std::array<nb::object (*)(nb::handle), sizeof...(slots)>{&make_fast_function<shortcut_of<slots>>...};
}
constexpr auto entries = make_entries(std::make_index_sequence<max_operators>{});

nb::object declare_operator(const std::string& name, const std::string& kernel, bool binary,
                            std::size_t operator_class, const std::vector<nb::handle>& dtypes, bool dear,
                            nb::handle function) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  if (operator_class >= RuleTable::class_count) throw nb::value_error("no such operator class");
  Operator op;
  set_kernel(op, kernel, binary);
  op.operator_class = operator_class;
  op.cost = dear ? Cost::dear : Cost::cheap;
  for (nb::handle dtype : dtypes) op.dtypes |= 1u << dtype_index(dtype.ptr());
  nb::object made = entries[declared_count](function);
  op.function = function.inc_ref().ptr();
  declared[declared_count] = op;
  set_symbol(name, declared[declared_count++]);
  return made;
}

void declare_symbol(const std::string& name, nb::handle function) {
  if (declared_count == max_operators) throw nb::value_error("too many operators");
  declared[declared_count].function = function.inc_ref().ptr();
  set_symbol(name, declared[declared_count++]);
}

}  // namespace

void init_operators(nb::module_& m) {
  using namespace nb::literals;
  m.def("declare_operator", &declare_operator, "name"_a, "kernel"_a, "binary"_a, "operator_class"_a, "dtypes"_a,
        "dear"_a, "function"_a,
        nb::sig("def declare_operator(name: str, kernel: str, binary: bool, operator_class: int, "
                "dtypes: Sequence[DType], dear: bool, function: F) -> F"),
        "Puts the short cut for a kernel in front of the Python function of an operator.");
  m.def("declare_symbol", &declare_symbol, "name"_a, "function"_a,
        nb::sig("def declare_symbol(name: str, function: Any) -> None"),
        "Says which Python function is behind the symbol of an operator that has no short cut.");
}

}  // namespace suanzi
