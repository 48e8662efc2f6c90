// native/kernels/elementwise.cpp: conversions, copies and element-wise operators of one level.
//
// One loop per operator and type, over dense arrays that fit the caches: drivers (loops/) cut tensors into such blocks
// and convert what a loop does not take. Functions evaluate polynomials and small tables in vectors.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/functions/magnitude.inc"

#include "kernels/convert.inc"
#include "kernels/vectors/bfloat_neon.inc"

#include "kernels/transformation.inc"

#include "kernels/arithmetic/arithmetic.inc"
#include "kernels/query.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors/vectors.inc"

#include "kernels/functions/logarithm.inc"

#include "kernels/functions/exponential.inc"

#include "kernels/functions/trigonometric.inc"

#include "kernels/functions/power.inc"
#undef xsimd

#include "kernels/arithmetic/arithmetic_half.inc"
#include "kernels/creation/quantized.inc"
#include "kernels/functions/function_tables.inc"
#include "kernels/functions/table.inc"
