// native/kernels/elementwise.cpp: conversions, copies and element-wise operators of one level.
//
// One loop per operator and type, over dense arrays that fit the caches: drivers (loops/) cut tensors into such blocks
// and convert what a loop does not take. Functions evaluate polynomials and small tables in vectors.
#include "kernels/common.inc"

#include "kernels/formats.inc"
#include "kernels/magnitude.inc"

#include "kernels/bfloat_neon.inc"
#include "kernels/convert.inc"

#include "kernels/transformation.inc"

#include "kernels/arithmetic.inc"
#include "kernels/query.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "kernels/vectors.inc"

#include "kernels/logarithm.inc"

#include "kernels/exponential.inc"

#include "kernels/trigonometric.inc"

#include "kernels/power.inc"
#undef xsimd

#include "kernels/arithmetic_half.inc"
#include "kernels/creation_quantized.inc"
#include "kernels/function_tables.inc"
#include "kernels/table.inc"
