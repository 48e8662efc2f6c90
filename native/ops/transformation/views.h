// native/ops/transformation/views.h: 7.2.3: views, other tensors on the memory of a tensor.
#pragma once

#include "core/tensor.h"

namespace suanzi {

// A view in the making, axis by axis. What an axis is made from must be within the base; nothing
// here checks it.
class View {
 public:
  explicit View(const Tensor& base) noexcept : base_(base), offset_(base.offset) {}

  // An axis of the base, whole or in part: `count` indices from `start` on, `step` apart.
  void keep(int axis) noexcept { cut(axis, 0, 1, base_.dims()[axis]); }
  void cut(int axis, std::int64_t start, std::int64_t step, std::int64_t count) noexcept;
  // One index of an axis of the base, which the view then does not have.
  void pick(int axis, std::int64_t index) noexcept;
  // An axis that repeats: a new one, or one that has size 1 in the base.
  void repeat(std::int64_t count) noexcept;
  // An axis over the elements of one or several axes of the base; `channels`: those of its channel axis.
  void step(std::int64_t stride, std::int64_t count, bool channels) noexcept;

  int ndim() const noexcept { return ndim_; }
  // The tensor; null and an exception if memory runs out.
  PyObject* make() const;

 private:
  const Tensor& base_;
  std::int64_t offset_;
  int ndim_ = 0;
  std::int64_t dims_[max_ndim], strides_[max_ndim];
  int channel_axis_ = -1;  // of the view; -1: it has none
  std::int64_t first_channel_ = 0, channel_step_ = 1;
};

// Finds strides for another shape over the same elements in row-major order; false if there are none.
bool reshaped_strides(const Tensor& base, int ndim, const std::int64_t* dims, std::int64_t* strides) noexcept;

// A view with the axes in reverse order; null and an exception if memory runs out.
PyObject* reversed_axes(const Tensor& t);

}  // namespace suanzi
