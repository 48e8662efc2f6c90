// native/core/rounding.h: whether functions of float32 are to be correctly rounded.
#pragma once

namespace suanzi {

// Whether they are, in the call that this thread is in.
bool rounds_correctly() noexcept;

// Reads what was chosen, which takes the GIL, and keeps it as long as the call takes.
class RoundingKept {
 public:
  RoundingKept();
  RoundingKept(const RoundingKept&) = delete;
  RoundingKept& operator=(const RoundingKept&) = delete;
  ~RoundingKept();

 private:
  bool before_;
};

}  // namespace suanzi
