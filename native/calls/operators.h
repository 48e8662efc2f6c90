// native/calls/operators.h: element-wise operators: how they are declared, and how they run.
#pragma once

#include "calls/operands.h"

namespace suanzi {

// What a kernel gives for the promoted dtype: that, a bool, or the real type of a complex one.
enum class Result : std::uint8_t { same, boolean, part };

// How the operands of an operator go through its kernel. Truth combines whether they are true;
// where takes a condition, x and y; muladd x, y and a; clip x, the lowest and the highest.
enum class Form : std::uint8_t { unary, binary, truth, where, muladd, clip };

constexpr int operand_count(Form form) {
  return form == Form::unary ? 1 : form == Form::binary || form == Form::truth ? 2 : 3;
}

// An operator as it was declared: which kernel, for which dtypes, of which promotion class.
struct Operator {
  std::string name;
  Form form = Form::unary;
  std::size_t kernel = 0;    // a row of Kernels
  bool is_extended = false;  // FunctionKernels are asked first
  Result result = Result::same;
  std::size_t operator_class = 0;
  std::uint32_t dtypes = 0;  // a bit for each; none: there is no fast path
  Cost cost = Cost::cheap;
  bool takes_bool = true;
  bool has_domain = false;  // some numbers have no result
  PyObject* function = nullptr;
  PyObject* key = nullptr;           // its name, which calls on tensors of a device are kept by
  const RuleTable* rules = nullptr;  // what it promotes by; null: what is in force

  bool takes(Dtype promoted) const { return dtypes >> static_cast<unsigned>(promoted) & 1; }
};

static_assert(dtype_count <= 32);

// Sets form and kernel by the name of a kernel and the number of operands; throws if there is none. Kernels that the
// standard does not have, of dtypes or altogether, are found by `extended:` in front of the name alone.
void set_kernel(Operator& op, const std::string& name, std::size_t count);

// Computes an operator. Null without an exception: there is no kernel for the dtype, the shapes do
// not go together, or the kernel met `trouble`.
PyObject* compute(const Operator& op, const Operand* operands, Dtype promoted, unsigned& trouble);

// Runs the kernel of an operator over a loop; returns what it met.
unsigned run_form(const Operator& op, const Loop& loop, Dtype promoted, std::byte* out, Dtype out_dtype);

// Reads tensors and plain numbers, and what the rule table makes of them; false where Python must
// say more, or with an exception where the table is known to refuse them.
bool read_call(const Operator& op, PyObject* const* args, Py_ssize_t count, Operand* operands, Dtype& promoted);

// The fast path: for tensors and plain numbers that the rule table has an answer for. Null
// without an exception leaves it to the Python function.
PyObject* fast_call(const Operator& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// Says what raises for operands that the rule table refuses, and for shapes that do not go together.
void use_operator_refusal(PyObject* function);
void use_shape_refusal(PyObject* function);
// Raise so, in the name of an operator; what they say is written when it is read.
void refuse_dtypes(const std::string& name, PyObject* rules, const std::size_t* codes, int count);
void refuse_shapes(const std::string& name, PyObject* a, PyObject* b);

// Leaves operators that have a domain to Python from here on, which asks whether it matters there.
void check_domains();

}  // namespace suanzi
