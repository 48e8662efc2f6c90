// native/kernels/complex.h: 7.2.15: the table of the loops over the parts of complex numbers.
#pragma once

#include <cstddef>

#include "kernels/kernels.h"

namespace suanzi {

struct ComplexKernels {
  // (x, y) of two dense arrays, by the size of a part: 2, 4 or 8 bytes; one of them may be repeated.
  void (*pairs[3])(const void* real, const void* imag, void* out, std::size_t n, Repeat repeat);
  // Complex numbers with the other sign of the imaginary part, by the size of a part.
  void (*conjugate[3])(const void* in, void* out, std::size_t n);
};

}  // namespace suanzi
