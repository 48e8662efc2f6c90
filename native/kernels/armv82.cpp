// native/kernels/armv82.cpp: the level of ARMv8.2: the baseline of ARM with arithmetic in float16 and dot products.
//
// No other loop would gain from its instructions, so that this level takes the baseline's table and puts its own
// into few places of it. A sum, difference, product or quotient of float16 that is rounded to float32 and then to
// float16 is what rounding once gives, as float32 has more than twice the digits: the bits are the baseline's.
#include "kernels/common.inc"

#include "kernels/linear_algebra/products.h"
#include "kernels/reduction/reduction.h"

#include "kernels/reduction/rows.inc"

namespace suanzi {

const Kernels& baseline_kernels() noexcept;
const ProductKernels& SUANZI_OF_LEVEL(product_kernels)() noexcept;

namespace {

// ---- two operands ---------------------------------------------------------------------------------

// 1 where a mask of 16 bits is set.
inline uint8x8_t bytes_of(uint16x8_t mask) noexcept { return vmovn_u16(vshrq_n_u16(mask, 15)); }

#define SUANZI_HALF(name, made)                                               \
  struct name {                                                               \
    static auto apply(float16x8_t a, float16x8_t b) noexcept { return made; } \
  };
SUANZI_HALF(add, vreinterpretq_u16_f16(vaddq_f16(a, b)))
SUANZI_HALF(sub, vreinterpretq_u16_f16(vsubq_f16(a, b)))
SUANZI_HALF(mul, vreinterpretq_u16_f16(vmulq_f16(a, b)))
SUANZI_HALF(div, vreinterpretq_u16_f16(vdivq_f16(a, b)))
SUANZI_HALF(max, vreinterpretq_u16_f16(vmaxq_f16(a, b)))
SUANZI_HALF(min, vreinterpretq_u16_f16(vminq_f16(a, b)))
SUANZI_HALF(equal, bytes_of(vceqq_f16(a, b)))
SUANZI_HALF(not_equal, bytes_of(vmvnq_u16(vceqq_f16(a, b))))
SUANZI_HALF(greater, bytes_of(vcgtq_f16(a, b)))
SUANZI_HALF(greater_equal, bytes_of(vcgeq_f16(a, b)))
SUANZI_HALF(less, bytes_of(vcltq_f16(a, b)))
SUANZI_HALF(less_equal, bytes_of(vcleq_f16(a, b)))
#undef SUANZI_HALF

constexpr std::size_t halves = 8;  // in a vector

template <class Op, bool left, bool right>
unsigned half_run(const u16* x, const u16* y, void* out, std::size_t n) {
  using Made = decltype(Op::apply(float16x8_t{}, float16x8_t{}));
  constexpr std::size_t item = sizeof(Made) / halves;
  auto* z = static_cast<std::byte*>(out);
  auto at = [](const u16* from, bool repeats) __attribute__((always_inline)) {
    return vreinterpretq_f16_u16(repeats ? vdupq_n_u16(*from) : vld1q_u16(from));
  };
  std::size_t i = 0;
  for (; i + halves <= n; i += halves) {
    Made made = Op::apply(at(left ? x : x + i, left), at(right ? y : y + i, right));
    std::memcpy(z + i * item, &made, sizeof made);
  }
  if (i < n) {
    u16 rest_x[halves] = {}, rest_y[halves] = {};
    std::memcpy(rest_x, left ? x : x + i, (left ? 1 : n - i) * sizeof(u16));
    std::memcpy(rest_y, right ? y : y + i, (right ? 1 : n - i) * sizeof(u16));
    Made made = Op::apply(at(rest_x, left), at(rest_y, right));
    std::memcpy(z + i * item, &made, (n - i) * item);
  }
  return none;
}

template <class Op>
unsigned half_loop(const void* a, const void* b, void* out, std::size_t n, Repeat repeat) {
  auto *x = static_cast<const u16*>(a), *y = static_cast<const u16*>(b);
  if (repeat == Repeat::left) return half_run<Op, true, false>(x, y, out, n);
  if (repeat == Repeat::right) return half_run<Op, false, true>(x, y, out, n);
  return half_run<Op, false, false>(x, y, out, n);
}

void fill_arithmetic(Kernels& k) {
  constexpr auto half = static_cast<std::size_t>(Narrow::float16);
#define SUANZI_HALF(name) k.fused[static_cast<std::size_t>(BinaryOp::name)][half] = &half_loop<name>;
  SUANZI_HALF(add)
  SUANZI_HALF(sub)
  SUANZI_HALF(mul)
  SUANZI_HALF(div)
  SUANZI_HALF(max)
  SUANZI_HALF(min)
  SUANZI_HALF(equal)
  SUANZI_HALF(not_equal)
  SUANZI_HALF(greater)
  SUANZI_HALF(greater_equal)
  SUANZI_HALF(less)
  SUANZI_HALF(less_equal)
#undef SUANZI_HALF
}

// ---- the largest and the smallest -------------------------------------------------------------------

// As ExtremeNumber of the baseline, which has no such comparison of float16.
template <bool largest>
struct ExtremeHalf : Of<u16> {
  static constexpr u16 identity = largest ? 0xFC00 : 0x7C00;
  static Vector<u16> combine(Vector<u16> a, Vector<u16> b) noexcept {
    auto x = vreinterpretq_f16_u16((uint16x8_t)a), y = vreinterpretq_f16_u16((uint16x8_t)b);
    return (Vector<u16>)vreinterpretq_u16_f16(largest ? vmaxq_f16(x, y) : vminq_f16(x, y));
  }
  static u16 combine(u16 a, u16 b) noexcept { return combine(Vector<u16>{} + a, Vector<u16>{} + b)[0]; }
  static void finish(const void* partials, std::int64_t count, std::int64_t, void* out) {
    each<u16, u16, 1>(partials, count, out, [](u16 x) { return (x & 0x7FFF) > 0x7C00 ? u16{0x7FFF} : x; });
  }
};

const ReductionKernels& reductions() noexcept {
  static const ReductionKernels table = [] {
    ReductionKernels k = *baseline_kernels().reductions;
    using Max = ExtremeHalf<true>;
    using Min = ExtremeHalf<false>;
    entry(k, ReduceMode::max, Dtype::float16) = reduction_of<Max, true>(Dtype::float16, Max::finish);
    entry(k, ReduceMode::min, Dtype::float16) = reduction_of<Min, true>(Dtype::float16, Min::finish);
    return k;
  }();
  return table;
}

}  // namespace

const Kernels& SUANZI_OF_LEVEL(kernels)() noexcept {
  static const Kernels table = [] {
    Kernels k = baseline_kernels();
    k.level = SUANZI_LEVEL_NAME;
    fill_arithmetic(k);
    k.reductions = &reductions();
    k.products = &SUANZI_OF_LEVEL(product_kernels)();
    return k;
  }();
  return table;
}

}  // namespace suanzi
