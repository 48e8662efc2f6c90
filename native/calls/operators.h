// native/calls/operators.h: element-wise operators: how they are declared, and how they run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <string>
#include <vector>

#include "loops/elementwise.h"
#include "calls/operands.h"
#include "core/python.h"

namespace suanzi {

// What a kernel gives for the promoted dtype: that, a bool, or the real type of a complex one.
enum class Result : std::uint8_t { same, boolean, part };

// How the operands of an operator go through its kernel. Truth combines whether they are true;
// where takes a condition, x and y; muladd x, y and a.
enum class Form : std::uint8_t { unary, binary, truth, where, muladd };

constexpr int operand_count(Form form) {
  return form == Form::unary ? 1 : form == Form::binary || form == Form::truth ? 2 : 3;
}

// An operator as it was declared: which kernel, for which dtypes, of which promotion class.
struct Operator {
  std::string name;
  Form form = Form::unary;
  std::size_t kernel = 0;
  Result result = Result::same;
  std::size_t operator_class = 0;
  std::uint32_t dtypes = 0;  // a bit for each; none: there is no short cut
  Cost cost = Cost::cheap;
  bool has_domain = false;  // some numbers have no result
  PyObject* function = nullptr;

  bool takes(Dtype promoted) const { return dtypes >> static_cast<unsigned>(promoted) & 1; }
};

static_assert(dtype_count <= 32);

// Sets form and kernel by the name of a kernel and the number of operands; throws if there is none.
void set_kernel(Operator& op, const std::string& name, std::size_t count);

// Computes an operator. Null without an exception: there is no kernel for the dtype, the shapes do
// not go together, or the kernel met `trouble`.
PyObject* compute(const Operator& op, const Operand* operands, Dtype promoted, unsigned& trouble);

// The way without Python: for tensors and plain numbers that the rule table has an answer for. Null
// without an exception leaves it to the Python function.
PyObject* shortcut(const Operator& op, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

// Keeps the memory of a tensor.
class Kept {
 public:
  explicit Kept(const Tensor& t) : storage_(t.storage) { storage_->retain(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { release_storage(storage_); }

 private:
  Storage* storage_;
};

// Runs a loop over operands; a long one lets other Python threads run, which may destroy them.
template <class F>
unsigned run_loop(std::int64_t size, const Operand* operands, int count, F&& body) {
  if (size < 1 << 15) return body();
  Storage* kept[3];
  for (int i = 0; i < count; ++i) {
    kept[i] = operands[i].tensor ? operands[i].tensor->storage : nullptr;
    if (kept[i]) kept[i]->retain();
  }
  PyThreadState* state = PyEval_SaveThread();
  unsigned found = 0;
  std::exception_ptr problem;
  try {
    found = body();
  } catch (...) {
    problem = std::current_exception();
  }
  // Where Python has ended meanwhile, this ends the thread: so it must not stand in a destructor.
  PyEval_RestoreThread(state);
  for (int i = 0; i < count; ++i)
    if (kept[i]) release_storage(kept[i]);
  if (problem) std::rethrow_exception(problem);
  return found;
}

// Runs a loop, without the GIL if it is long, over tensors that cannot go away meanwhile.
template <class F>
void run_over(std::int64_t size, std::initializer_list<const Tensor*> tensors, F&& body) {
  Operand operands[3];
  int count = 0;
  for (const Tensor* t : tensors) operands[count++].tensor = t;
  run_loop(size, operands, count, [&] { body(); return 0u; });
}

// Says which operator is behind one of Python's symbols, if one is behind its name.
void set_symbol(const std::string& name, const Operator& op);
// Adds the slots for +, -, ==, ... to those of the tensor type.
void add_symbol_slots(std::vector<PyType_Slot>& slots);

}  // namespace suanzi
