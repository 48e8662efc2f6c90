// native/calls/in_place.cpp: computes into a tensor that is also read.
//
// Kernels of two operands read each block before they write it, and write each element once: the
// output may be the very memory of an input of its dtype, though none that lies otherwise.
#include "calls/in_place.h"

#include <algorithm>

#include "core/rounding.h"

namespace suanzi {
namespace {

// The bytes from the first to behind the last that the elements of a tensor are in.
std::pair<std::uintptr_t, std::uintptr_t> memory_of(const Tensor& t) {
  auto item = static_cast<std::int64_t>(t.itemsize());
  std::int64_t low = 0, high = t.size > 0 ? item : 0;
  for (int d = 0; d < t.ndim() && t.size > 0; ++d) {
    std::int64_t span = (t.dims()[d] - 1) * t.strides()[d] * item;
    (span < 0 ? low : high) += span;
  }
  auto start = reinterpret_cast<std::uintptr_t>(t.data());
  return {start + static_cast<std::uintptr_t>(low), start + static_cast<std::uintptr_t>(high)};
}

}  // namespace

bool overlap(const Tensor& a, const Tensor& b) {
  auto [a_begin, a_end] = memory_of(a);
  auto [b_begin, b_end] = memory_of(b);
  return a_begin < b_end && b_begin < a_end;
}

bool compute_in_place(const Operator& op, PyObject* const (&args)[2]) {
  Operand operands[2];
  Dtype promoted;
  if (!read_call(op, args, 2, operands, promoted) || op.result != Result::same) return false;
  const Tensor& target = *operands[0].tensor;
  const Tensor* other = operands[1].tensor;
  bool one_value = operands[1].ndim() == 0;
  if (promoted != target.dtype || !target.row_major || target.storage->read_only || target.ndim() == 0) return false;
  if (!one_value && (!other->row_major || other->ndim() != target.ndim() ||
                     !std::equal(target.dims(), target.dims() + target.ndim(), other->dims())))
    return false;
  // Itself is read part by part as it is written; what lies otherwise would be read too late.
  bool itself = other && other->data() == target.data() && other->dtype == target.dtype && !one_value;
  if (other && !itself && overlap(target, *other)) return false;
  auto item = static_cast<std::int64_t>(target.itemsize());
  std::int64_t other_item = one_value ? 0 : std::int64_t{1} << layer_of(operands[1].dtype).log2_size;
  Loop loop;
  loop.start(1, &target.size);
  loop.add(target.data(), promoted, &item);
  loop.add(operands[1].data(), operands[1].dtype, &other_item);
  std::byte* out = target.data();
  RoundingKept rounding;
  run_loop(target.size, operands, 2, [&] { run_form(op, loop, promoted, out, promoted); });
  return true;
}

void write_back(const Tensor& target, const Tensor& made) {
  Operand both[2];
  both[0].tensor = &target;
  both[1].tensor = &made;
  both[1].dtype = made.dtype;
  Move move;
  broadcast_move(target, both[1], move);
  run_loop(target.size, both, 2, [&] { run_move(move); });
}

}  // namespace suanzi
