// native/calls/in_place.h: x += y and its kin, which write into the memory of x.
#pragma once

#include "calls/operators.h"

namespace suanzi {

// Whether the elements of two tensors may share bytes.
bool overlap(const Tensor& a, const Tensor& b);

// Computes an operator that meets no trouble into its first operand, a tensor. False where that takes
// more than row-major elements side by side; nothing is written then.
bool compute_in_place(const Operator& op, PyObject* const (&args)[2]);

// Writes a tensor of one shape and dtype into another, whose storage can be written to.
void write_back(const Tensor& target, const Tensor& made);

}  // namespace suanzi
