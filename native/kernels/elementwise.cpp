// native/kernels/elementwise.cpp: conversions, copies and element-wise operators of one level.
#include "common.inc"

#include "formats.inc"

#include "convert.inc"

#include "movement.inc"

#include "arithmetic.inc"
#include "query.inc"

#define xsimd SUANZI_XSIMD  // one copy of the library per level, so that the linker cannot mix them
#include "vectors.inc"

#include "exponential.inc"

#include "trigonometric.inc"

#include "power.inc"
#undef xsimd

#include "fused.inc"
#include "quantize.inc"
#include "table.inc"
