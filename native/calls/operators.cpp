// native/calls/operators.cpp: element-wise operators, and the fast path that runs them without Python.
//
// The fast path takes CPU tensors and Python numbers, asks the rule table of the rule set in force,
// broadcasts, allocates and computes. Whatever it does not know or like, a zero divisor among it, it
// leaves to the Python function, which explains; a refusal that is known to another, which only raises:
// who tries and catches pays for no explanation.
#include "calls/operators.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "core/rounding.h"
#include "kernels/by_level.h"
#include "kernels/functions/functions.h"
#include "loops/correct_rounding.h"
#include "loops/function_tables.h"
#include "loops/narrow_pairs.h"
#include "loops/transposed_inputs.h"

namespace suanzi {

SUANZI_BY_LEVEL(FunctionKernels, function_kernels)

namespace {

struct Kernel {
  const char* name;
  Result result;
  bool is_standard;
};

constexpr Result SAME = Result::same, BOOL = Result::boolean, PART = Result::part;
enum Lanes { NONE, INTEGERS, FLOATS, FLOATING, REALS, NUMBERS };
constexpr Kernel binary_list[] = {
#define BINARY(name, lanes, result, ...) {#name, result, lanes != NONE},
#define UNARY(...)
#include "kernels/ops.def"
#undef BINARY
#undef UNARY
};
constexpr Kernel unary_list[] = {
#define BINARY(...)
#define UNARY(name, lanes, result, ...) {#name, result, lanes != NONE},
#include "kernels/ops.def"
#undef BINARY
#undef UNARY
};

Dtype result_dtype(Result result, Dtype promoted) {
  if (result == Result::boolean) return Dtype::boolean;
  return result == Result::part ? part_of(promoted) : promoted;
}

constexpr auto row_of = [](auto op) { return static_cast<std::size_t>(op); };
constexpr auto double_lane = static_cast<std::size_t>(Lane::f64);

bool is_narrow_real(Dtype dtype) { return layer_of(dtype).is_narrow && !layer_of(dtype).is_complex; }

// What an operator of one operand computes in: functions of narrow dtypes in float64.
Within within(const Operator& op, Dtype promoted) {
  bool is_function = op.kernel >= row_of(UnaryOp::sin) && op.kernel <= row_of(UnaryOp::log2);
  is_function |= op.kernel == row_of(UnaryOp::rsqrt);
  return is_function && is_narrow_real(promoted) ? Within::float64 : Within::float32;
}

Unary unary_kernel(const Operator& op, Dtype promoted) {
  if (within(op, promoted) == Within::float64) return kernels().unary[op.kernel][double_lane];
  if (promoted == Dtype::float32 && rounds_correctly())
    if (Unary found = correctly_rounded_kernel(op.kernel)) return found;
  auto lane = static_cast<std::size_t>(compute_lane(promoted));
  if (op.is_extended)
    if (Unary found = function_kernels().unary[op.kernel][lane]) return found;
  return kernels().unary[op.kernel][lane];
}

NumberPairs pairs_of(const void* a, const void* b, Repeat repeat) {
  return {static_cast<const double*>(a), static_cast<const double*>(b), repeat != Repeat::left,
          repeat != Repeat::right};
}

unsigned narrow_powers(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
  unsigned met = kernels().binary[row_of(BinaryOp::pow)][double_lane](a, b, out, n, repeat);
  settle_powers(pairs_of(a, b, repeat), static_cast<double*>(out), n);
  return met;
}

unsigned narrow_angles(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
  unsigned met = function_kernels().binary[row_of(BinaryOp::atan2)][double_lane](a, b, out, n, repeat);
  settle_angles(static_cast<double*>(out), n);
  return met;
}

// The kernel over float64 that a function of two narrow operands is computed by; null: it is exact in float32.
Binary kernel_in_double(const Operator& op, Dtype promoted) {
  if (!is_narrow_real(promoted)) return nullptr;
  switch (static_cast<BinaryOp>(op.kernel)) {
    case BinaryOp::pow: return narrow_powers;
    case BinaryOp::atan2: return narrow_angles;
    case BinaryOp::hypot:
    case BinaryOp::logaddexp: return function_kernels().binary[op.kernel][double_lane];
    default: return nullptr;
  }
}

struct BinaryKernels {
  Binary kernel, fused;
};

BinaryKernels binary_kernels(const Operator& op, Dtype promoted) {
  auto lane = static_cast<std::size_t>(compute_lane(promoted));
  const Layer& layer = layer_of(promoted);
  bool is_narrow = layer.is_narrow && !layer.is_complex;
  auto format = static_cast<std::size_t>(layer.narrow);
  if (op.is_extended) {
    const FunctionKernels& k = function_kernels();
    if (is_narrow && k.fused[op.kernel][format]) return {nullptr, k.fused[op.kernel][format]};
    if (Binary found = k.binary[op.kernel][lane]) return {found, nullptr};
  }
  const Kernels& k = kernels();
  if (promoted == Dtype::float32 && op.kernel == row_of(BinaryOp::pow) && rounds_correctly())
    return {correctly_rounded_powers, nullptr};
  return {k.binary[op.kernel][lane], is_narrow ? k.fused[op.kernel][format] : nullptr};
}

// What a table has for an operator of one operand; null where it is to be computed.
const std::byte* known_results(const Operator& op, const Loop& loop, Unary kernel, Dtype promoted) {
  bool as_stored = loop.inputs[0].dtype == promoted && op.result != Result::boolean;
  if (!as_stored || !layer_of(promoted).is_narrow || loop.size < 2) return nullptr;
  FunctionTable* table = function_table(op.kernel, promoted);
  return table ? results_for(*table, loop.size, kernel, within(op, promoted), promoted) : nullptr;
}

Binary binary_of(BinaryOp op, Dtype promoted) {
  return kernels().binary[static_cast<std::size_t>(op)][static_cast<std::size_t>(compute_lane(promoted))];
}

bool has_kernel(const Operator& op, Dtype promoted) {
  switch (op.form) {
    case Form::unary: return unary_kernel(op, promoted);
    case Form::binary: {
      BinaryKernels found = binary_kernels(op, promoted);
      return found.kernel || found.fused;
    }
    case Form::muladd: return binary_of(BinaryOp::mul, promoted);
    case Form::clip: return binary_of(BinaryOp::max, promoted);
    default: return true;
  }
}

std::atomic<bool> domains_matter{false};
PyObject *refuse = nullptr, *refuse_by_shapes = nullptr;

// What the rule table says, if it does; a condition is not promoted.
std::uint8_t recall(const Operator& op, PyObject* const* args, const Operand* operands, const RuleTable& table) {
  int first = op.form == Form::where, last = operand_count(op.form) - 1;
  std::size_t a = operand_code(args[first], operands[first], table);
  std::size_t b = first == last ? a : operand_code(args[last], operands[last], table);
  if (a == RuleTable::operand_count || b == RuleTable::operand_count) {
    // An int whose value has a say: it is as any other where the answer holds it.
    const Operand& number = operands[a == RuleTable::operand_count ? first : last];
    std::size_t beside = a == RuleTable::operand_count ? b : a;
    if (op.form == Form::muladd || beside >= RuleTable::number_base) return RuleTable::unknown;
    std::uint8_t cell = table.get(op.operator_class, beside, RuleTable::number_base + 1);
    return cell < dtype_count && holds(static_cast<Dtype>(cell), number) ? cell : RuleTable::unknown;
  }
  // The table knows pairs; of three, only equal ones.
  if ((op.form == Form::muladd || op.form == Form::clip) &&
      (a != b || operand_code(args[1], operands[1], table) != a || !operands[0].tensor))
    return RuleTable::unknown;
  return table.get(op.operator_class, a, b);
}

}  // namespace

void set_kernel(Operator& op, const std::string& name, std::size_t count) {
  struct Special {
    const char *name, *kernel;
    Form form;
  };
  static constexpr Special special[] = {{"logical_and", "bitwise_and", Form::truth},
                                        {"logical_or", "bitwise_or", Form::truth},
                                        {"logical_xor", "bitwise_xor", Form::truth},
                                        {"where", "add", Form::where},  // it needs no kernel
                                        {"muladd", "mul", Form::muladd},
                                        {"clip", "max", Form::clip}};
  constexpr std::string_view prefix = "extended:";
  bool is_extended = std::string_view(name).substr(0, prefix.size()) == prefix;
  std::string_view kernel = std::string_view(name).substr(is_extended ? prefix.size() : 0);
  op.form = count == 1 ? Form::unary : Form::binary;
  for (const Special& one : special) {
    if (kernel != one.name || (one.form == Form::clip && !is_extended)) continue;
    op.form = one.form;
    kernel = one.kernel;
    break;
  }
  bool unary = op.form == Form::unary;
  std::span<const Kernel> list = unary ? std::span<const Kernel>(unary_list) : binary_list;
  auto row = std::find_if(list.begin(), list.end(), [&](const Kernel& one) { return kernel == one.name; });
  if (row == list.end() || !(row->is_standard || is_extended) ||
      count != static_cast<std::size_t>(operand_count(op.form)))
    throw nb::value_error("there is no such kernel, or not for that many operands");
  op.kernel = static_cast<std::size_t>(row - list.begin());
  op.is_extended = is_extended && (unary || op.form == Form::binary);
  op.result = op.form == Form::truth ? Result::boolean : row->result;
}

unsigned run_form(const Operator& op, const Loop& loop, Dtype promoted, std::byte* out, Dtype out_dtype) {
  switch (op.form) {
    case Form::unary: {
      Unary kernel = unary_kernel(op, promoted);
      if (const std::byte* results = known_results(op, loop, kernel, promoted))
        return run_lookup(loop, results, out), none;
      return run_unary(loop, kernel, promoted, out, out_dtype, op.cost, within(op, promoted));
    }
    case Form::binary: {
      if (Binary kernel = kernel_in_double(op, promoted))
        return run_binary_in_double(loop, kernel, promoted, out, op.cost);
      BinaryKernels found = binary_kernels(op, promoted);
      return run_binary(loop, found.kernel, found.fused, promoted, out, out_dtype, op.cost);
    }
    case Form::truth: return run_truth(loop, op.kernel, promoted, out);
    case Form::muladd:
      return run_chain(loop, binary_of(BinaryOp::mul, promoted), binary_of(BinaryOp::add, promoted), promoted, out);
    case Form::clip:
      return run_chain(loop, binary_of(BinaryOp::max, promoted), binary_of(BinaryOp::min, promoted), promoted, out);
    case Form::where: run_where(loop, promoted, out); return none;
  }
  return none;
}

PyObject* compute(const Operator& op, const Operand* operands, Dtype promoted, unsigned& trouble) {
  if (!has_kernel(op, promoted) || (op.form == Form::where && operands[0].dtype != Dtype::boolean)) return nullptr;
  int count = operand_count(op.form);
  Together together(operands, count);
  if (!together.fits()) return nullptr;
  Dtype out_dtype = result_dtype(op.result, promoted);
  PyObject* output = together.new_output(out_dtype);
  if (!output) return nullptr;
  Loop loop;
  together.make_loop(loop);
  std::byte* out = tensor_of(output)->data();
  RoundingKept rounding;
  run_loop(loop.size, operands, count, [&] {
    if (!CopiedInputs::is_needed(loop)) {
      trouble = run_form(op, loop, promoted, out, out_dtype);
      return;
    }
    CopiedInputs copied(loop);
    trouble = run_form(op, copied.loop(), promoted, out, out_dtype);
  });
  if (trouble) Py_CLEAR(output);
  return output;
}

void check_domains() { domains_matter = true; }
void use_operator_refusal(PyObject* function) { refuse = function; }
void use_shape_refusal(PyObject* function) { refuse_by_shapes = function; }

void refuse_dtypes(const std::string& name, PyObject* rules, const std::size_t* codes, int count) {
  nb::object called = nb::steal(PyUnicode_FromString(name.c_str()));
  if (called.is_valid()) raise_refusal(refuse, rules, called.ptr(), codes, count);
}

void refuse_shapes(const std::string& name, PyObject* a, PyObject* b) {
  nb::object called = nb::steal(PyUnicode_FromString(name.c_str()));
  nb::object first = nb::steal(PyObject_GetAttrString(a, "shape")),
             second = nb::steal(PyObject_GetAttrString(b, "shape"));
  if (!refuse_by_shapes || !called.is_valid() || !first.is_valid() || !second.is_valid()) return PyErr_Clear();
  PyObject* args[] = {called.ptr(), first.ptr(), second.ptr()};
  Py_XDECREF(PyObject_Vectorcall(refuse_by_shapes, args, 3, nullptr));  // it raises
}

bool read_call(const Operator& op, PyObject* const* args, Py_ssize_t count, Operand* operands, Dtype& promoted) {
  if (!op.dtypes || count != operand_count(op.form)) return false;
  if (op.has_domain && domains_matter) return false;
  bool any_tensor = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!read_operand(args[i], operands[i])) return false;
    any_tensor |= operands[i].tensor != nullptr;
    // What is stored is not what it stands for.
    if (facts(operands[i].dtype).is_quantized()) return false;
  }
  if (!any_tensor || (!op.takes_bool && operands[0].dtype == Dtype::boolean)) return false;
  std::uint8_t cell = static_cast<std::uint8_t>(operands[0].dtype);
  bool asks = op.form == Form::unary && op.result == Result::boolean;  // which promotes nothing
  nb::object keep;
  const RuleTable* table = asks ? nullptr : op.rules ? op.rules : rules_argument(Py_None, keep);
  if (!asks) {
    if (!table || table->gates(op.name)) return false;
    cell = recall(op, args, operands, *table);
    if (cell == RuleTable::refused && !op.rules && (op.form == Form::unary || op.form == Form::binary)) {
      const std::size_t codes[] = {operand_code(args[0], operands[0], *table),
                                   operand_code(args[count - 1], operands[count - 1], *table)};
      refuse_dtypes(op.name, keep.ptr(), codes, static_cast<int>(count));
      return false;
    }
    if (cell >= dtype_count) return false;
  }
  promoted = static_cast<Dtype>(cell);
  return op.takes(promoted);
}

PyObject* fast_call(const Operator& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Operand operands[3];
  Dtype promoted;
  if (keywords || !read_call(op, args, count, operands, promoted)) return nullptr;
  unsigned trouble = none;
  PyObject* output = compute(op, operands, promoted, trouble);
  if (output) return output;
  PyErr_Clear();  // Python meets it again, and says it in the operator's name
  bool two = !op.rules && count == 2 && operands[0].tensor && operands[1].tensor;
  if (two && !Together(operands, 2).fits()) refuse_shapes(op.name, args[0], args[1]);
  return nullptr;
}

}  // namespace suanzi
