// native/loops/elementwise.h: element-wise loops: arrays of any dtype and strides through the kernels, in blocks.
#pragma once

#include "loops/conversions.h"

namespace suanzi {

// An input: where its elements are, in the order of the output.
struct Input {
  const std::byte* data;
  Dtype dtype;
  // Strides in bytes along the collapsed dims of the loop; see Loop.
  std::int64_t strides[64];
};

// The dims of the output, those that every operand steps through alike made one.
struct Loop {
  int ndim = 0;
  std::int64_t dims[64];
  std::int64_t size = 1;
  int input_count = 0;
  Input inputs[3];

  // Starts with the dims of the output; inputs are added with strides for them (0 to repeat).
  void start(int count, const std::int64_t* shape) noexcept;
  void add(const std::byte* data, Dtype dtype, const std::int64_t* byte_strides) noexcept;
  // Merges dims; to be called after the last add.
  void collapse() noexcept;
};

// What an element costs: an expensive loop is worth sharing among threads from fewer elements on.
enum class Cost { cheap, expensive };

// What a kernel computes a narrow dtype in. By float64 the results are correctly rounded: the nearest that an exact
// result of a function comes to the middle of two 16-bit numbers is far beyond the digits of float32, and well within
// those of float64.
enum class Within : std::uint8_t { float32, float64 };

// Each computes a dense output in the order of the loop. They return what the kernels met.
unsigned run_unary(const Loop& loop, Unary kernel, Dtype promoted, std::byte* out, Dtype out_dtype, Cost cost,
                   Within within = Within::float32);
// `fused` is a kernel over the narrow format itself, or null; where there is only that, operands are converted first.
unsigned run_binary(const Loop& loop, Binary kernel, Binary fused, Dtype promoted, std::byte* out, Dtype out_dtype,
                    Cost cost);
// A narrow dtype by a kernel over float64.
unsigned run_binary_in_double(const Loop& loop, Binary kernel, Dtype promoted, std::byte* out, Cost cost);
// Combines the truth of two inputs, each converted to `promoted` first, by a kernel over bytes.
unsigned run_truth(const Loop& loop, std::size_t op, Dtype promoted, std::byte* out);
// second(first(x, y), a), as x * y + a or the smaller of a and the larger of x and y: the third input is a.
unsigned run_chain(const Loop& loop, Binary first, Binary second, Dtype promoted, std::byte* out);
// The first input is the condition, a bool.
void run_where(const Loop& loop, Dtype promoted, std::byte* out);
// Copies and converts one input.
void run_cast(const Loop& loop, std::byte* out, Dtype out_dtype, bool saturate);
// Compares two real inputs exactly, whatever their dtypes; `which` is a row of Kernels::compare.
void run_compare(const Loop& loop, int which, std::byte* out);

}  // namespace suanzi
