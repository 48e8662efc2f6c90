// native/loops/function_tables.h: functions of narrow formats by tables of all their results.
//
// There are 65,536 arguments of 16 bits, and 256 of a byte. Once as many elements were computed, or a call has as many,
// the kernel makes the results of all of them, and from then on they are looked up: the bits are the kernel's own.
#pragma once

#include "kernels/functions/function_tables.h"
#include "loops/elementwise.h"

namespace suanzi {

// The table of an element-wise operator, a row of Kernels, for a dtype; null where a lookup does not pay.
FunctionTable* function_table(std::size_t row, Dtype dtype);

// The results to be looked up by a call for so many elements of a dtype, made by `kernel` if that pays; null if it does
// not, or if memory is too short: then the call computes.
const std::byte* results_for(FunctionTable& table, std::int64_t elements, Unary kernel, Within within, Dtype dtype);

// Looks up the results of the one input of a loop, which are of its dtype.
void run_lookup(const Loop& loop, const std::byte* results, std::byte* out);

}  // namespace suanzi
