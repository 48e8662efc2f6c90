// native/loops/many_digits.h: functions of float32 with 500 bits, rounded once: for what float64 cannot decide.
#pragma once

#include "kernels/kernels.h"

namespace suanzi {

// The correctly rounded result of a function at a finite number within its domain, where the result is finite, too.
float correctly_rounded(UnaryOp op, float x);

// The correctly rounded power of two numbers above 0.
float correctly_rounded_power(float x, float y);

}  // namespace suanzi
