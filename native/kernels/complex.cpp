// native/kernels/complex.cpp: 7.2.15: complex numbers put together, and their conjugates.
//
// Parts are moved and signs flipped as bits, without arithmetic: NaN keeps its payload. By the size of a part alone,
// so that one loop serves every format of that size.
#include "kernels/common.inc"

#include "kernels/complex.h"

namespace suanzi {
namespace {

// The parts are moved as bits: no NaN changes.
template <class U>
void pairs_loop(const void* real, const void* imag, void* out, std::size_t n, Repeat repeat) {
  auto* x = static_cast<const U*>(real);
  auto* y = static_cast<const U*>(imag);
  auto* z = static_cast<U*>(out);
  if (repeat == Repeat::left) {
    U one = *x;
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[2 * i] = one, z[2 * i + 1] = y[i];
  } else if (repeat == Repeat::right) {
    U one = *y;
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[2 * i] = x[i], z[2 * i + 1] = one;
  } else {
    SUANZI_LOOP
    for (std::size_t i = 0; i < n; ++i) z[2 * i] = x[i], z[2 * i + 1] = y[i];
  }
}

// One integer as wide as both parts, of which the sign of the second is turned; two for float64.
template <class U>
void conjugate_loop(const void* in, void* out, std::size_t n) {
  auto* x = static_cast<const U*>(in);
  auto* y = static_cast<U*>(out);
  constexpr U turn = static_cast<U>(U{1} << (sizeof(U) * 8 - 1));
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) y[i] = x[i] ^ turn;
}

void conjugate_wide(const void* in, void* out, std::size_t n) {
  auto* x = static_cast<const u64*>(in);
  auto* y = static_cast<u64*>(out);
  SUANZI_LOOP
  for (std::size_t i = 0; i < n; ++i) {
    y[2 * i] = x[2 * i];
    y[2 * i + 1] = x[2 * i + 1] ^ (u64{1} << 63);
  }
}

}  // namespace

const ComplexKernels& SUANZI_OF_LEVEL(complex_numbers)() noexcept {
  static_assert(std::endian::native == std::endian::little);
  static const ComplexKernels table{{pairs_loop<u16>, pairs_loop<u32>, pairs_loop<u64>},
                                    {conjugate_loop<u32>, conjugate_loop<u64>, conjugate_wide}};
  return table;
}

}  // namespace suanzi
