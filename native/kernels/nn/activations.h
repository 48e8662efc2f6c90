// native/kernels/nn/activations.h: the table of activations and their gradients.
#pragma once

#include <array>

#include "kernels/functions/function_tables.h"

namespace suanzi {

enum class Activation : std::uint8_t {
#define ACTIVATION(name, ...) name,
#include "kernels/nn/activations.def"
#undef ACTIVATION
  count
};
inline constexpr std::size_t activation_count = static_cast<std::size_t>(Activation::count);

// Always as many numbers as the activation with most of them has, since the loops copy all.
using ActivationParameters = std::array<double, 2>;

// n elements of each of its dense inputs to each of its dense outputs, which may not overlap.
using ActivationLoop = void (*)(const void* const* in, void* const* out, std::size_t n,
                                const ActivationParameters& parameters);

struct ActivationKernels {
  ActivationLoop loops[activation_count][2];    // of f32, of f64
  ActivationLoop of_bfloats[activation_count];  // what those of f32 give, of bfloat16; null where that is converted
  Unary unary[activation_count];                // of f64, of one input and default parameters; else null
  FunctionTable (*tables)[activation_count][table_format_count];  // results of narrow formats
};

// The table of the level in use.
const ActivationKernels& activation_kernels() noexcept;

}  // namespace suanzi
