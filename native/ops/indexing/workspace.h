// native/ops/indexing/workspace.h: 7.2.14: rows as they are sorted, and the memory that a thread needs for it.
#pragma once

#include "loops/rows_along_axis.h"

namespace suanzi {

// How many elements that are moved an element that is sorted is worth.
inline constexpr std::int64_t sorting_cost = 16;

// A tensor as dense rows along an axis: its own memory, or a copy of it.
class Rows {
 public:
  enum class Use { read, write };

  Rows(const AxisLast& x, Use use) noexcept : x_(x), copies_(!x.is_dense()), copy_(x.dtype, copies_ ? x.size() : 0) {
    if (copies_ && copy_.data() && use == Use::read) run_move(x_.to_rows(copy_.data()));
  }
  // Null when there is no memory.
  std::byte* data() const noexcept { return copies_ ? copy_.data() : x_.data; }
  // Brings what was written to where it belongs.
  void finish() const noexcept {
    if (copies_) run_move(x_.from_rows(copy_.data()));
  }

 private:
  const AxisLast& x_;
  bool copies_;
  Scratch copy_;
};

// Scratch memory of one thread; little of it is on the stack.
class Workspace {
 public:
  explicit Workspace(std::int64_t bytes) noexcept
      : small_(bytes <= static_cast<std::int64_t>(sizeof own_)), more_(Dtype::uint8, small_ ? 0 : bytes) {}
  std::byte* data() noexcept { return small_ ? own_ : more_.data(); }

 private:
  alignas(64) std::byte own_[4096];
  bool small_;
  Scratch more_;
};

}  // namespace suanzi
