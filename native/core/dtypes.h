// native/core/dtypes.h: the dtype list of dtypes.def as an enumeration and a table of facts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace suanzi {

enum class Kind : std::uint8_t { Bool, Int, UInt, Float, Complex, Char, Quantized };

inline constexpr std::array<const char*, 7> kind_names{"bool", "int", "uint", "float", "complex", "char", "quantized"};

enum class Dtype : std::uint8_t {
#define DTYPE(id, name, kind, code, bits, itemsize, exponent, mantissa, infinity) id,
#include "core/dtypes.def"
#undef DTYPE
};

struct DtypeInfo {
  std::uint8_t index;
  const char* name;
  Kind kind;
  std::uint8_t code;
  std::uint8_t bits;
  std::uint8_t itemsize;
  std::uint8_t exponent_bits;
  std::uint8_t mantissa_bits;
  bool has_infinity;

  constexpr bool is_integer() const { return kind == Kind::Int || kind == Kind::UInt; }
  constexpr bool is_float() const { return kind == Kind::Float; }
  constexpr bool is_complex() const { return kind == Kind::Complex; }
  constexpr bool is_inexact() const { return is_float() || is_complex(); }
  constexpr bool is_quantized() const { return kind == Kind::Quantized; }
  constexpr bool is_real() const { return kind < Kind::Complex; }  // bool among them
  constexpr bool is_number() const { return kind < Kind::Char; }   // real or complex
};

inline constexpr std::array dtype_table{
#define DTYPE(id, name, kind, code, bits, itemsize, exponent, mantissa, infinity) \
  DtypeInfo{static_cast<std::uint8_t>(Dtype::id), name, Kind::kind, code, bits, itemsize, exponent, mantissa, infinity},
#include "core/dtypes.def"
#undef DTYPE
};

inline constexpr std::size_t dtype_count = dtype_table.size();

constexpr const DtypeInfo& facts(Dtype dtype) { return dtype_table[static_cast<std::size_t>(dtype)]; }
constexpr Dtype dtype_of(const DtypeInfo& info) { return static_cast<Dtype>(info.index); }

}  // namespace suanzi
