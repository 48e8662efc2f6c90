// native/loops/transposed_inputs.h: transposed inputs of a loop, copied to its order first.
#pragma once

#include "core/storage.h"
#include "loops/elementwise.h"

namespace suanzi {

// A large input that is dense along another axis than the one the loop goes along, such as y in
// x + y.T, would be read element by element from all over the memory. A copy of it through tiles,
// and a loop over that, is several times as fast.
class CopiedInputs {
 public:
  // Whether a loop has such an input.
  static bool is_needed(const Loop& loop) noexcept;
  explicit CopiedInputs(const Loop& loop) noexcept;
  CopiedInputs(const CopiedInputs&) = delete;
  CopiedInputs& operator=(const CopiedInputs&) = delete;
  ~CopiedInputs();

  const Loop& loop() const noexcept { return own_; }

 private:
  void copy(int input) noexcept;

  Loop own_;
  Storage* copies_[3] = {};
};

}  // namespace suanzi
