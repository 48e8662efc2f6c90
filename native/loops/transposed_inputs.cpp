// native/loops/transposed_inputs.cpp: which inputs are worth a copy, and the copy.
#include "loops/transposed_inputs.h"

#include <cstdlib>

#include "loops/blocks.h"
#include "loops/copies.h"

namespace suanzi {
namespace {

constexpr std::int64_t worth_it = 1 << 17;  // elements

bool is_transposed(const Loop& loop, const Input& input) {
  int last = loop.ndim - 1;
  auto size = static_cast<std::int64_t>(item(input.dtype));
  if (loop.size < worth_it || loop.ndim < 2 || loop.dims[last] < 16) return false;
  if (input.strides[last] == 0 || std::abs(input.strides[last]) <= 4 * size) return false;
  std::int64_t elements = 1;
  bool dense_elsewhere = false;
  for (int d = 0; d < loop.ndim; ++d) {
    if (input.strides[d] == 0) continue;
    elements *= loop.dims[d];
    dense_elsewhere |= std::abs(input.strides[d]) == size && loop.dims[d] >= 16;
  }
  return dense_elsewhere && elements >= worth_it;
}

}  // namespace

bool CopiedInputs::is_needed(const Loop& loop) noexcept {
  bool found = false;
  for (int i = 0; i < loop.input_count; ++i) found |= is_transposed(loop, loop.inputs[i]);
  return found;
}

CopiedInputs::CopiedInputs(const Loop& loop) noexcept : own_(loop) {
  for (int i = 0; i < loop.input_count; ++i)
    if (is_transposed(loop, loop.inputs[i])) copy(i);
  own_.collapse();
}

CopiedInputs::~CopiedInputs() {
  for (Storage* copy : copies_)
    if (copy) release_storage(copy);
}

void CopiedInputs::copy(int i) noexcept {
  Input& input = own_.inputs[i];
  Move move;
  move.to_dtype = move.from_dtype = input.dtype;
  move.from = input.data;
  std::int64_t count = 1;
  for (int d = 0; d < own_.ndim; ++d)
    if (input.strides[d] != 0) count *= own_.dims[d];
  Storage* copy = allocate_storage(input.dtype, count);
  if (!copy) return;  // then it is read where it is
  copies_[i] = copy;
  move.to = copy->data;
  // What is repeated is not copied.
  auto stride = static_cast<std::int64_t>(item(input.dtype));
  std::int64_t strides[max_ndim];
  for (int d = own_.ndim; d-- > 0;) {
    strides[d] = input.strides[d] == 0 ? 0 : stride;
    if (strides[d]) stride *= own_.dims[d];
  }
  for (int d = 0; d < own_.ndim; ++d) {
    if (strides[d] == 0) continue;
    move.dims[move.ndim] = own_.dims[d];
    move.to_strides[move.ndim] = strides[d];
    move.from_strides[move.ndim++] = input.strides[d];
  }
  run_move(move);
  input.data = copy->data;
  for (int d = 0; d < own_.ndim; ++d) input.strides[d] = strides[d];
}

}  // namespace suanzi
