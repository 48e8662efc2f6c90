// native/loops/correct_rounding.h: kernels over float32 whose results are correctly rounded.
#pragma once

#include "kernels/kernels.h"

namespace suanzi {

// The kernel of an operator of one operand, a row of Kernels; null where the plain one is correctly rounded, or none
// is.
Unary correctly_rounded_kernel(std::size_t row);

// Powers.
unsigned correctly_rounded_powers(const void* a, const void* b, void* out, std::size_t n, Repeat repeat);

}  // namespace suanzi
