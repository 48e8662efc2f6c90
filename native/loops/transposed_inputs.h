// native/loops/transposed_inputs.h: inputs that lie across the order of a loop, laid along it first.
#pragma once

#include "loops/elementwise.h"
#include "core/storage.h"

namespace suanzi {

// A large input that is dense along another axis than the one the loop goes along, such as y in
// x + y.T, would be read element by element from all over the memory. A copy of it through tiles,
// and a loop over that, is several times as fast.
class Straightened {
 public:
  // Whether a loop has such an input.
  static bool is_needed(const Loop& loop) noexcept;
  explicit Straightened(const Loop& loop) noexcept;
  Straightened(const Straightened&) = delete;
  Straightened& operator=(const Straightened&) = delete;
  ~Straightened();

  const Loop& loop() const noexcept { return own_; }

 private:
  void straighten(int input) noexcept;

  Loop own_;
  Storage* copies_[3] = {};
};

}  // namespace suanzi
