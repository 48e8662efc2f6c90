// native/kernels/kernels.h: the inner loops, compiled once per instruction-set level, behind one table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace suanzi {

struct FunctionTables;  // function_tables.h
struct InterpolationKernels;
struct ReductionKernels;

// The types loops compute in.
enum class Lane : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, c64, c128 };
inline constexpr std::size_t lane_count = 12;
inline constexpr std::size_t real_lane_count = 10;  // i8 .. f64
inline constexpr std::array<std::uint8_t, lane_count> lane_size{1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};

// The floating-point formats narrower than 32 bits; they compute as f32.
enum class Narrow : std::uint8_t { float8_e4m3fn, float8_e5m2, float16, bfloat16 };
inline constexpr std::size_t narrow_count = 4;

enum class BinaryOp : std::uint8_t {
#define BINARY(name, ...) name,
#define UNARY(...)
#include "kernels/ops.def"
#undef BINARY
#undef UNARY
  count
};

enum class UnaryOp : std::uint8_t {
#define BINARY(...)
#define UNARY(name, ...) name,
#include "kernels/ops.def"
#undef BINARY
#undef UNARY
  count
};

inline constexpr std::size_t binary_count = static_cast<std::size_t>(BinaryOp::count);
inline constexpr std::size_t unary_count = static_cast<std::size_t>(UnaryOp::count);

// What a loop met on its way; the output is then not used.
enum Trouble : unsigned { none = 0, zero_divisor = 1, bad_shift = 2 };

// Which operands of a binary loop are one value, repeated.
enum class Repeat : std::uint8_t { neither, left, right };

// A conversion of n elements from one dense array to another; they do not overlap.
using Convert = void (*)(const void* in, void* out, std::size_t n);
using Unary = void (*)(const void* in, void* out, std::size_t n);
using Binary = unsigned (*)(const void* a, const void* b, void* out, std::size_t n, Repeat repeat);
// Copies n elements `stride` bytes apart to a dense array, or back.
using Strided = void (*)(const void* in, void* out, std::size_t n, std::ptrdiff_t stride);
// out = condition ? a : b, element by element; the condition is bytes.
using Select = void (*)(const void* condition, const void* a, const void* b, void* out, std::size_t n);

// Transposes rows of elements to columns, both dense.
using Transpose = void (*)(const void* in, void* out, std::size_t rows, std::size_t columns);
// Packs the elements that a mask of bytes has not 0 for, and returns how many there are; the output
// has room for n, all of which may be written to.
using Compress = std::size_t (*)(const void* mask, const void* in, void* out, std::size_t n);
// n elements between the integers of a quantised dtype and f32 or f64; scales are one, or one each.
using Requantize = void (*)(const void* in, const float* scale, bool one_scale, std::int32_t zero_point, void* out,
                            std::size_t n);
// n elements, none of them below `least`, to the integers of a quantised dtype: the steps above `least`.
using QuantizeAbove = void (*)(const void* in, double least, float scale, void* out, std::size_t n);
// Widens [low, high] by n elements; `finite` becomes false if one of them is not.
using Extremes = void (*)(const void* in, std::size_t n, double& low, double& high, bool& finite);

// The results of n arguments from a table of all of them; `in` and `out` may be the same.
using LookUp = void (*)(const void* results, const void* in, void* out, std::size_t n);

struct QuantizeKernels {
  Requantize dequantize[2];            // to f32, to f64
  Requantize quantize[2][2];           // from f32, from f64; to the nearest, down
  QuantizeAbove quantize_above[2][2];  // as quantize
};

struct RankingKernels;  // indexing/order.h
struct ComplexKernels;  // complex.h

// Element sizes 1, 2, 4, 8, 16 by their logarithm.
inline constexpr std::size_t size_count = 5;

struct ProductKernels;  // linear_algebra/products.h

struct Kernels {
  const char* level;
  Convert convert[real_lane_count][real_lane_count];  // rounds once; wraps; saturates from floats
  Convert to_odd[real_lane_count];                    // to f32, rounded to odd, so that a second rounding is right
  Convert widen[narrow_count];                        // to f32
  Convert narrow[narrow_count];                       // from f32, rounded once
  Convert clamp[narrow_count];                        // f32 to f32, within the finite numbers of the format
  Convert nonzero[real_lane_count];                   // to a byte, 0 or 1
  Convert either;                                     // pairs of bytes to a byte: complex to bool
  Convert wrap_int4, wrap_uint4, wrap_uint1;          // bytes to bytes, modulo the width
  Convert limit_int4, limit_uint4, limit_uint1;       // bytes to bytes, to the nearest end of the range
  Convert to_complex[size_count];                     // x to (x, 0), by the size of x
  Convert real_part[size_count];                      // (x, y) to x, by the size of x
  // Copies bytes past the caches; end_stream makes what this thread copied so visible to others.
  Convert stream;
  void (*end_stream)();
  Strided gather[size_count], scatter[size_count];
  Select select[size_count];
  Transpose transpose[size_count];
  Compress compress[size_count];
  std::size_t (*count)(const void* mask, std::size_t n);  // bytes that are not 0
  Unary unary[unary_count][lane_count];                   // null where there is none
  Binary binary[binary_count][lane_count];                // null where there is none
  // Over two operands of a narrow format, to that format or to bytes; null where there is none.
  Binary fused[binary_count][narrow_count];
  LookUp look_up[2];                         // of bytes, of 16-bit numbers
  bool by_table[unary_count][narrow_count];  // whether that is faster than to compute
  FunctionTables* function_tables;           // of this level's kernels
  // Exact comparison across types: i64 with u64, i64 with f64, u64 with f64.
  Binary compare[6][3];
  QuantizeKernels quantized[4];  // stored as i8, i16, u8, u16
  Extremes extremes[2];          // of f32, of f64
  const RankingKernels* rankings;
  const ComplexKernels* complex_numbers;
  const InterpolationKernels* interpolation;
  const ReductionKernels* reductions;
  const ProductKernels* products;
};

// The table in use.
const Kernels& kernels() noexcept;
// The tables this machine can run, best first; the last one runs everywhere.
std::array<const Kernels*, 3> available_kernels() noexcept;
// Chooses a level by name; false if this machine does not have it.
bool use_kernels(const char* level) noexcept;

}  // namespace suanzi
