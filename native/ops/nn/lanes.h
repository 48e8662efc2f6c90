// native/ops/nn/lanes.h: rows of floats as float32 or float64, and back: narrow ones are widened in the first-level
// cache.
#pragma once

#include <cstring>

#include "core/tensor.h"
#include "kernels/vectors/lanes.h"

namespace suanzi {

class Lanes {
 public:
  explicit Lanes(Dtype dtype)
      : k(kernels()), layer_(layer_of(dtype)), itemsize(static_cast<std::int64_t>(facts(dtype).itemsize)),
        lane(dtype == Dtype::float64), size(lane ? 8 : 4) {}

  // n dense elements; those that are not narrow as they are, others in `buffer`.
  const void* read(const std::byte* from, void* buffer, std::size_t n) const {
    if (!layer_.is_narrow) return from;
    k.widen[static_cast<std::size_t>(layer_.narrow)](from, buffer, n);
    return buffer;
  }
  // Where n elements are computed before write().
  void* target(std::byte* to, void* buffer) const { return layer_.is_narrow ? buffer : to; }
  void write(const void* made, std::byte* to, std::size_t n) const {
    if (layer_.is_narrow) k.narrow[static_cast<std::size_t>(layer_.narrow)](made, to, n);
    else if (made != to) std::memcpy(to, made, n * static_cast<std::size_t>(itemsize));
  }
  double one(const std::byte* from) const {
    if (lane) return value<double>(from);
    float found;
    if (layer_.is_narrow) k.widen[static_cast<std::size_t>(layer_.narrow)](from, &found, 1);
    else found = value<float>(from);
    return static_cast<double>(found);
  }
  // Rounds once.
  void put(double made, std::byte* to) const {
    if (lane) return std::memcpy(to, &made, sizeof made), void();
    auto rounded = static_cast<float>(made);
    if (!layer_.is_narrow) return std::memcpy(to, &rounded, sizeof rounded), void();
    k.to_odd[static_cast<std::size_t>(Lane::f64)](&made, &rounded, 1);
    k.narrow[static_cast<std::size_t>(layer_.narrow)](&rounded, to, 1);
  }
  bool is_narrow() const { return layer_.is_narrow; }

  const Kernels& k;

 private:
  template <class T>
  static T value(const std::byte* from) {
    T found;
    std::memcpy(&found, from, sizeof found);
    return found;
  }
  const Layer& layer_;

 public:
  const std::int64_t itemsize;
  const std::size_t lane, size;  // 0 float32, 1 float64; the bytes of an element of it
};

}  // namespace suanzi
