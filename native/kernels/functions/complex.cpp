// native/kernels/functions/complex.cpp: functions of complex numbers, which T/AI 131.1 has of real ones.
//
// All compute in vectors of float64, complex64 too, which is rounded at the end. Results of zeros, infinities and
// NaN are those of Annex G of C, and branch cuts are where it has them.
#include "kernels/common.inc"

#include "kernels/functions/functions.h"
#include "kernels/functions/magnitude.inc"

#include "kernels/arithmetic/arithmetic.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"

#include "kernels/functions/trigonometric.inc"

#include "kernels/functions/tools.inc"

#include "kernels/functions/complex_loops.inc"

#include "kernels/functions/complex_exponential.inc"

#include "kernels/functions/complex_hyperbolic.inc"

#include "kernels/functions/complex_roots.inc"

#include "kernels/functions/complex_inverse.inc"

#include "kernels/functions/complex_power.inc"
#undef xsimd

namespace suanzi {

void SUANZI_OF_LEVEL(fill_complex_functions)(FunctionKernels& k) {
  constexpr auto c64_lane = static_cast<std::size_t>(Lane::c64), c128_lane = static_cast<std::size_t>(Lane::c128);
#define SUANZI_FILL_FLOATS(row, name)
#define SUANZI_FILL_INTEGERS(row, name)
#define SUANZI_FILL_COMPLEX(row, name)                 \
  row[c64_lane] = &complex_functions::name::loop<f32>; \
  row[c128_lane] = &complex_functions::name::loop<f64>;
#define SUANZI_FILL_BOTH(row, name) SUANZI_FILL_COMPLEX(row, name)
#define SUANZI_FILL(lanes, row, name) SUANZI_FILL_##lanes(row, name)
#define BINARY(name, lanes, result, ...) \
  __VA_OPT__(SUANZI_FILL(__VA_ARGS__, k.binary[static_cast<std::size_t>(BinaryOp::name)], name))
#define UNARY(name, lanes, result, ...) \
  __VA_OPT__(SUANZI_FILL(__VA_ARGS__, k.unary[static_cast<std::size_t>(UnaryOp::name)], name))
#include "kernels/ops.def"
#undef BINARY
#undef UNARY
}

}  // namespace suanzi
