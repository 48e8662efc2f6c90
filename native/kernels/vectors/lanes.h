// native/kernels/vectors/lanes.h: how each dtype is stored, and the lane it computes in.
#pragma once

#include <array>

#include "core/dtypes.h"
#include "kernels/kernels.h"

namespace suanzi {

// A dtype is stored as a lane, or as a narrow format that widens to one; a complex dtype is pairs
// of either.
struct Layer {
  Lane lane;       // what it computes in; of one part, for complex
  bool is_narrow;  // stored as `narrow`, computes as f32
  Narrow narrow;
  bool is_complex;
  std::uint8_t log2_size;  // of a stored element
};

namespace detail {

constexpr Layer make_layer(Dtype dtype) {
  const DtypeInfo& info = facts(dtype);
  std::uint8_t log2 = 0;
  while ((1u << log2) < info.itemsize) ++log2;
  switch (dtype) {
    case Dtype::float8_e4m3fn: return {Lane::f32, true, Narrow::float8_e4m3fn, false, log2};
    case Dtype::float8_e5m2: return {Lane::f32, true, Narrow::float8_e5m2, false, log2};
    case Dtype::float16: return {Lane::f32, true, Narrow::float16, false, log2};
    case Dtype::bfloat16: return {Lane::f32, true, Narrow::bfloat16, false, log2};
    case Dtype::float32: return {Lane::f32, false, {}, false, log2};
    case Dtype::float64: return {Lane::f64, false, {}, false, log2};
    case Dtype::complex32: return {Lane::f32, true, Narrow::float16, true, log2};
    case Dtype::complex64: return {Lane::f32, false, {}, true, log2};
    case Dtype::complex128: return {Lane::f64, false, {}, true, log2};
    default: break;
  }
  // bool, char, the integers of whatever width, and the integers that quantised dtypes store
  bool is_signed = info.kind == Kind::Int || (info.kind == Kind::Quantized && info.code != 7);  // 7: asymmetric uint
  auto base = static_cast<std::uint8_t>(is_signed ? Lane::i8 : Lane::u8);
  return {static_cast<Lane>(base + log2), false, {}, false, log2};
}

inline constexpr auto layers = [] {
  std::array<Layer, dtype_count> made{};
  for (std::size_t i = 0; i < dtype_count; ++i) made[i] = make_layer(static_cast<Dtype>(i));
  return made;
}();

}  // namespace detail

constexpr const Layer& layer_of(Dtype dtype) { return detail::layers[static_cast<std::size_t>(dtype)]; }

// The lane an operator computes in for a promoted dtype.
constexpr Lane compute_lane(Dtype dtype) {
  const Layer& layer = layer_of(dtype);
  if (!layer.is_complex) return layer.lane;
  return layer.lane == Lane::f32 ? Lane::c64 : Lane::c128;
}

// Whether `outer` holds every value of `inner`, for real dtypes and by their formats alone.
constexpr bool holds_exactly(Dtype outer, Dtype inner) {
  const DtypeInfo &o = facts(outer), &i = facts(inner);
  if (outer == inner) return true;
  bool inner_float = i.exponent_bits != 0, outer_float = o.exponent_bits != 0;
  if (inner_float)
    return outer_float && o.exponent_bits >= i.exponent_bits && o.mantissa_bits >= i.mantissa_bits &&
           (o.has_infinity || !i.has_infinity);
  int digits = i.kind == Kind::Bool ? 1 : i.kind == Kind::Int ? i.bits - 1 : i.bits;
  if (outer_float) return digits <= o.mantissa_bits + 1 && digits < (1 << (o.exponent_bits - 1));
  return false;
}

}  // namespace suanzi
