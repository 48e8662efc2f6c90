// native/kernels/reduction/distances.cpp: 7.2.13: squares of distances from a centre added up, for variances.
//
// The second of two passes: the mean is known, and a sum of squares of differences does not cancel, as one of squares
// minus the square of the mean would. The tree is that of sums (see reduction.h).
#include "kernels/common.inc"

#include "kernels/reduction/reduction.h"

#include "kernels/reduction/rows.inc"

namespace suanzi {
namespace {

// A distance and its square are rounded to the dtype, as operators on their own do it; squares of f32 add up in f64.
template <class T>
struct Distances : Adding, Of<T, f64> {
  using Centre = T;
  static constexpr f64 identity = 0;
  static constexpr std::size_t bytes = std::is_same_v<T, f32> && vector_bytes > 16 ? vector_bytes / 2 : vector_bytes;
  static constexpr std::size_t lanes = bytes / sizeof(T);
  using V = Vector<T, bytes>;

  static V loaded(const T* x, std::size_t i) noexcept {
    V found;
    std::memcpy(&found, x + i, sizeof found);
    return found;
  }
  static V loaded(T x, std::size_t) noexcept { return V{} + x; }
  // Of the elements from number i on.
  static V squares(const T* in, auto centre, std::size_t i) noexcept {
    V apart = loaded(in, i) - loaded(centre, i);
    return apart * apart;
  }
  template <std::size_t count>
  static void vectors(const T* in, Vector<f64> (&out)[count], auto centre) noexcept {
    if constexpr (std::is_same_v<T, f64>) {
      for (std::size_t i = 0; i < count; ++i) out[i] = squares(in, centre, i * lanes);
    } else if constexpr (bytes < vector_bytes) {
      for (std::size_t i = 0; i < count; ++i)
        out[i] = __builtin_convertvector(squares(in, centre, i * lanes), Vector<f64>);
    } else {
      for (std::size_t i = 0; i < count; i += 2) {
        V found = squares(in, centre, i / 2 * lanes);
        Vector<T, bytes / 2> halves[2];
        std::memcpy(halves, &found, sizeof found);
        out[i] = __builtin_convertvector(halves[0], Vector<f64>);
        out[i + 1] = __builtin_convertvector(halves[1], Vector<f64>);
      }
    }
  }
#if defined(__aarch64__)
  template <std::size_t count>
    requires(sizeof(T) == 4)
  static void accumulate(const T* in, Vector<f64> (&sums)[count], auto centre) noexcept {
    for (std::size_t i = 0; i < count; i += 2)
      add_widened(sums[i], sums[i + 1], (float32x4_t)squares(in, centre, i / 2 * lanes));
  }
#endif
};

}  // namespace

void SUANZI_OF_LEVEL(fill_distances)(ReductionKernels& k) {
  k.distances[0] = reduction_of<Distances<f32>>(Dtype::float32, finish_single<1>);
  k.distances[1] = reduction_of<Distances<f64>>(Dtype::float64, keep<f64>);
}

}  // namespace suanzi
