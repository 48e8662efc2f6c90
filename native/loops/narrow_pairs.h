// native/loops/narrow_pairs.h: functions of two narrow numbers in float64, where that alone would not do.
#pragma once

#include <cstddef>

namespace suanzi {

// Two operands, of which one may be one value: then its step is 0.
struct NumberPairs {
  const double *x, *y;
  std::size_t step_x, step_y;
};

// Powers that are numbers of at most 12 bits become them: next to one, a result would not be rounded to even.
void settle_powers(const NumberPairs& of, double* powers, std::size_t n);

// A small angle, which float64 has as the quotient, is below it: next to the middle of two numbers that counts.
void settle_angles(double* angles, std::size_t n);

}  // namespace suanzi
