// native/calls/operands.h: what an operator is called with, and the loop over it.
#pragma once

#include "core/without_gil.h"
#include "loops/copies.h"

namespace suanzi {

// A tensor, or a plain Python number in the dtype that holds it.
struct Operand {
  const Tensor* tensor = nullptr;  // null for a number
  Dtype dtype;
  alignas(16) std::byte number[16];

  int ndim() const { return tensor ? tensor->ndim() : 0; }
  const std::int64_t* dims() const { return tensor ? tensor->dims() : nullptr; }
  const std::byte* data() const { return tensor ? tensor->data() : number; }
};

// Reads a tensor or a number of exactly a Python type; false for anything else.
bool read_operand(PyObject* object, Operand& operand);

// How an operand is written into the elements of a tensor, to which it is repeated; false if their
// shapes do not go together.
bool broadcast_move(const Tensor& target, const Operand& source, Move& move);

// The row of an operand in the rule table, or operand_count if its value has a say.
std::size_t operand_code(PyObject* object, const Operand& operand, const RuleTable& table);

// Whether a dtype holds a Python int, which read_operand has put into 64 bits; a float does, rounded.
bool holds(Dtype dtype, const Operand& number);

// Runs a loop over up to three operands, without the GIL if it is long.
template <class F>
void run_loop(std::int64_t size, const Operand* operands, int count, F&& body) {
  if (size < long_loop) return body();
  Storage* kept[3];
  for (int i = 0; i < count; ++i) kept[i] = operands[i].tensor ? operands[i].tensor->storage : nullptr;
  run_without_gil(kept, count, body);
}

// Operands side by side: the shape they are repeated to, and the order of axes in which the output
// is laid out, that of the first operand of its shape, so that arrays of one layout are read and
// written in one run.
class Together {
 public:
  // Up to three operands, which must outlive this.
  Together(const Operand* operands, int count) noexcept;

  // Whether their shapes go together; nothing below may be asked if they do not.
  bool fits() const noexcept { return fits_; }
  int ndim() const noexcept { return ndim_; }
  const std::int64_t* shape() const noexcept { return shape_; }
  // Lays the output out in row-major order whatever the operands are.
  void use_row_major() noexcept;
  // A new tensor for the output; null and an exception if memory runs out.
  PyObject* new_output(Dtype dtype) const;
  void make_loop(Loop& loop) const noexcept;

 private:
  bool are_contiguous() noexcept;
  bool broadcast() noexcept;
  void choose_order() noexcept;

  const Operand* operands_;
  int count_;
  bool fits_ = true;
  bool plain_ = true;       // the order of axes is row-major
  bool contiguous_ = true;  // every operand is dense in row-major order, or one value
  int ndim_ = 0;
  std::int64_t size_ = 0;  // where contiguous_
  const std::int64_t* shape_;
  std::int64_t own_shape_[max_ndim];
  int order_[max_ndim];
};

}  // namespace suanzi
