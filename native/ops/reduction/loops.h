// native/ops/reduction/loops.h: 7.2.13.1: elements combined along any axes of any layout.
#pragma once

#include <cstring>

#include "calls/arguments.h"
#include "core/scratch.h"
#include "core/threads.h"
#include "kernels/reduction/reduction.h"
#include "loops/axes.h"
#include "loops/copies.h"

namespace suanzi {

// Calls body(offset, count) for the parts of indices [begin, end) that lie along the last axis.
template <class F>
void for_runs(const Axes& axes, std::int64_t begin, std::int64_t end, F&& body) {
  for (std::int64_t at = begin; at < end;) {
    std::int64_t n = std::min(axes.inner_dim() - at % axes.inner_dim(), end - at);
    body(axes.offset(at), n);
    at += n;
  }
}

// Partial results of blocks, combined with their neighbours as those become complete.
template <std::size_t bytes>
class Stack {
 public:
  Stack(const Reduction& r, std::int64_t count) : r_(r), count_(count) {}
  // Where the next block goes, before push().
  std::byte* top() { return levels_[height_]; }
  void push() {
    ++height_;
    for (std::int64_t left = blocks_++; left & 1; left >>= 1) pop();
  }
  const std::byte* finish() {
    while (height_ > 1) pop();
    return levels_[0];
  }

 private:
  void pop() {
    --height_;
    r_.combine(levels_[height_ - 1], levels_[height_], count_);
  }

  const Reduction& r_;
  std::int64_t count_, blocks_ = 0;
  int height_ = 0;
  alignas(64) std::byte levels_[8][bytes];
};

class Reducer {
 public:
  // `centres` are of the tensor's dtype, one for each result, and 15 more, whatever they are; for distances alone.
  Reducer(const Tensor& t, std::uint64_t mask, const Reduction& r, const std::byte* centres = nullptr)
      : r_(r), dtype_(t.dtype), data_(t.data()), centres_(centres) {
    item_ = static_cast<std::int64_t>(t.itemsize());
    for (int d = 0; d < t.ndim(); ++d) {
      bool is_reduced = mask >> d & 1;
      std::int64_t stride = t.strides()[d] * item_;
      if (is_reduced && stride == 0 && t.size >= long_repeated) {
        repeats_ *= t.dims()[d];
        continue;
      }
      if (is_reduced && r.any_order && stride < 0) {
        data_ += (t.dims()[d] - 1) * stride;
        stride = -stride;
      }
      (is_reduced ? reduced_ : kept_).add(t.dims()[d], stride);
    }
    kept_.sort();
    if (r.any_order) reduced_.sort();
    if (is_transposed(t.size)) transposed_ = true;
    kept_.merge();
    reduced_.merge();
    outputs_ = kept_.size();
    n_ = reduced_.size();
    if (!needs_copy() && has_wide_rows() && outputs_ <= 16384) share_rows();
    segments_ = n_ / segment_ + (n_ % segment_ != 0);  // the sum of both may be too large
  }
  Reducer(const Reducer&) = delete;
  Reducer& operator=(const Reducer&) = delete;
  ~Reducer() {
    if (copy_) release_storage(copy_);
    if (partials_) release_storage(partials_);
    if (repeated_) release_storage(repeated_);
  }

  // Gets the memory it needs; false if there is none.
  bool prepare() {
    if (needs_copy() && !(copy_ = allocate_storage(dtype_, outputs_ * n_))) return false;
    if (segments_ > 1 && !(partials_ = allocate_storage(Dtype::uint8, segments_ * outputs_ * r_.partial_size)))
      return false;
    if (repeats_ > 1 && !(repeated_ = allocate_storage(Dtype::uint8, 2 * outputs_ * r_.partial_size))) return false;
    return true;
  }

  // With `raw`, what is written are the partial results as they are.
  void run(std::byte* out, bool raw = false) {
    if (repeats_ > 1) {
      run_once(repeated_->data, true);
      const std::byte* all = repeat();
      write_to(out, raw);
      finish(all, 0, outputs_);
    } else {
      run_once(out, raw);
    }
  }

 private:
  // So many elements that to look at all of them takes seconds: what is repeated is then combined with itself.
  static constexpr std::int64_t long_repeated = std::int64_t{1} << 33;

  void write_to(std::byte* out, bool raw) {
    out_ = out;
    raw_ = raw;
    out_item_ = raw ? r_.partial_size : static_cast<std::int64_t>(facts(r_.result).itemsize);
  }

  void run_once(std::byte* out, bool raw) {
    write_to(out, raw);
    if (copy_) copy_contiguous();
    if (reduced_.count == 0 || (reduced_.count == 1 && reduced_.strides[0] == item_)) rows();
    else if (has_wide_rows()) columns();
    else gathered();
    if (segments_ > 1) finish_segments();
  }

  // The partial results of all repetitions: those of 1, 2, 4, ... of them, of which the wanted number is made up.
  const std::byte* repeat() const {
    std::byte *power = repeated_->data, *all = power + outputs_ * r_.partial_size;
    bool begun = false;
    for (std::int64_t left = repeats_;;) {
      if (left & 1) {
        if (begun) r_.combine(all, power, outputs_);
        else std::memcpy(all, power, static_cast<std::size_t>(outputs_ * r_.partial_size));
        begun = true;
      }
      if (!(left >>= 1)) return all;
      r_.combine(power, power, outputs_);
    }
  }

  bool has_wide_rows() const { return kept_.inner_stride() == item_ && kept_.inner_dim() >= 16; }

  // Threads take some rows each where there are enough: a power of two of blocks, combined as without threads.
  void share_rows() {
    std::int64_t threads = thread_count(), share = n_ / (2 * threads);
    if (threads == 1 || n_ < threads * block_rows) return;
    for (segment_ = block_rows; segment_ < segment_rows && 2 * segment_ <= share;) segment_ *= 2;
  }

  // Whether what comes next is far away in memory, although something is near.
  bool is_transposed(std::int64_t size) const {
    if (size < 4096 || reduced_.count == 0) return false;
    std::int64_t nearest = std::abs(reduced_.inner_stride());
    for (const Axes* axes : {&kept_, &reduced_})
      for (int i = 0; i < axes->count; ++i) {
        if (axes->strides[i] == 0) return false;  // repeated, perhaps beyond what memory there is
        if (std::abs(axes->strides[i]) < nearest) return true;
      }
    return false;
  }
  bool needs_copy() const { return transposed_ && !has_wide_rows(); }

  void copy_contiguous() {
    Move move;
    move.from = data_;
    move.to = copy_->data;
    move.from_dtype = move.to_dtype = dtype_;
    for (const Axes* axes : {&kept_, &reduced_})
      for (int i = 0; i < axes->count; ++i) {
        move.dims[move.ndim] = axes->dims[i];
        move.from_strides[move.ndim++] = axes->strides[i];
      }
    std::int64_t stride = item_;
    for (int d = move.ndim; d-- > 0; stride *= move.dims[d]) move.to_strides[d] = stride;
    run_move(move);
    data_ = copy_->data;
    kept_.count = reduced_.count = 0;
    kept_.add(outputs_, n_ * item_);
    reduced_.add(n_, item_);
  }

  std::byte* partial(std::int64_t segment, std::int64_t output) const {
    return partials_->data + (segment * outputs_ + output) * r_.partial_size;
  }
  std::int64_t segment_size(std::int64_t segment) const { return std::min(segment_, n_ - segment * segment_); }
  void finish(const void* partials, std::int64_t output, std::int64_t count) const {
    std::byte* to = out_ + output * out_item_;
    if (raw_) std::memcpy(to, partials, static_cast<std::size_t>(count * out_item_));
    else r_.finish(partials, count, n_ * repeats_, to);
  }
  const std::byte* centre(std::int64_t output) const { return centres_ ? centres_ + output * item_ : nullptr; }
  std::int64_t worth_a_thread() const { return std::max<std::int64_t>(grain / std::min(n_, segment_), 1); }

  // Each result of elements side by side.
  void rows() {
    parallel_for(outputs_ * segments_, worth_a_thread(), [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t batch = 128;
      alignas(64) std::byte made[batch * 32];
      if (segments_ > 1) {
        for (std::int64_t at = begin; at < end; ++at) {
          std::int64_t segment = at % segments_, output = at / segments_;
          r_.rows(data_ + kept_.offset(output) + segment * segment_ * item_, 0, 1, segment_size(segment),
                  centre(output), partial(segment, output));
        }
        return;
      }
      std::int64_t at = begin;
      for_runs(kept_, begin, end, [&](std::int64_t offset, std::int64_t count) {
        for (std::int64_t done = 0; done < count; done += batch) {
          std::int64_t some = std::min(batch, count - done);
          r_.rows(data_ + offset + done * kept_.inner_stride(), kept_.inner_stride(), some, n_, centre(at), made);
          finish(made, at, some);
          at += some;
        }
      });
    });
  }

  // Results side by side, each of elements far apart.
  void columns() {
    auto lanes = static_cast<std::int64_t>(r_.any_order ? column_bytes : lane_bytes), tile = lanes / r_.partial_size;
    std::int64_t least = std::max<std::int64_t>(worth_a_thread(), 64);
    auto some = [&](std::int64_t begin, std::int64_t end) {
      alignas(64) std::byte own[least_column_room];
      Scratch more;  // without it fewer columns are combined at a time
      for (std::int64_t at = begin; at < end;) {
        std::int64_t segment = at / outputs_, output = at % outputs_,
                     within = kept_.inner_dim() - output % kept_.inner_dim();
        std::int64_t width = std::min({tile, within, end - at});
        const std::byte* first = data_ + kept_.offset(output);
        Stack<column_bytes> stack(r_, width);
        ColumnRoom room{own, sizeof own};
        std::int64_t wanted = (width * r_.partial_size + 255) / 256 * 256 * (r_.any_order ? 1 : 16);
        if (wanted > static_cast<std::int64_t>(sizeof own)) {
          if (!more.data()) more.take(Dtype::uint8, 16 * lanes);
          if (more.data()) room = {more.data(), static_cast<std::size_t>(16 * lanes)};
        }
        for (std::int64_t row = 0, n = segment_size(segment); row < n; row += block_rows) {
          const std::byte* places[block_rows];
          std::int64_t count = 0, start = segment * segment_ + row;
          for_runs(reduced_, start, start + std::min(block_rows, n - row), [&](std::int64_t offset, std::int64_t some) {
            for (std::int64_t i = 0; i < some; ++i) places[count++] = first + offset + i * reduced_.inner_stride();
          });
          r_.columns(places, count, width, centre(output), stack.top(), room);
          stack.push();
        }
        if (segments_ > 1)
          std::memcpy(partial(segment, output), stack.finish(), static_cast<std::size_t>(width * r_.partial_size));
        else finish(stack.finish(), output, width);
        at += width;
      }
    };
    // Rows as a whole are read faster than some columns of each.
    if (segments_ < thread_count()) return parallel_for(outputs_ * segments_, least, some);
    parallel_for(segments_, (least + outputs_ - 1) / outputs_,
                 [&](std::int64_t begin, std::int64_t end) { some(begin * outputs_, end * outputs_); });
  }

  // Elements that lie anywhere, brought together block by block.
  void gathered() {
    Strided gather = kernels().gather[layer_of(dtype_).log2_size];
    parallel_for(outputs_ * segments_, worth_a_thread(), [&](std::int64_t begin, std::int64_t end) {
      alignas(64) std::byte block[block_rows * 16];
      for (std::int64_t at = begin; at < end; ++at) {
        std::int64_t segment = at % segments_, output = at / segments_;
        const std::byte* first = data_ + kept_.offset(output);
        Stack<32> stack(r_, 1);
        for (std::int64_t done = 0, n = segment_size(segment); done < n; done += block_rows) {
          std::byte* next = block;
          std::int64_t start = segment * segment_ + done, count = std::min(block_rows, n - done);
          for_runs(reduced_, start, start + count, [&](std::int64_t offset, std::int64_t some) {
            if (reduced_.inner_stride() == item_)
              std::memcpy(next, first + offset, static_cast<std::size_t>(some * item_));
            else gather(first + offset, next, static_cast<std::size_t>(some), reduced_.inner_stride());
            next += some * item_;
          });
          r_.rows(block, 0, 1, count, centre(output), stack.top());
          stack.push();
        }
        if (segments_ > 1) std::memcpy(partial(segment, output), stack.finish(), r_.partial_size);
        else finish(stack.finish(), output, 1);
      }
    });
  }

  void finish_segments() {
    parallel_for(outputs_, std::max<std::int64_t>(grain / segments_, 64), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t step = 1; step < segments_; step *= 2)
        for (std::int64_t i = 0; i + step < segments_; i += 2 * step)
          r_.combine(partial(i, begin), partial(i + step, begin), end - begin);
      finish(partial(0, begin), begin, end - begin);
    });
  }

  const Reduction& r_;
  Dtype dtype_;
  const std::byte *data_, *centres_;
  std::int64_t item_, out_item_ = 0;
  Axes kept_, reduced_;
  bool transposed_ = false, raw_ = false;
  std::int64_t repeats_ = 1, outputs_, n_, segment_ = segment_rows, segments_;
  std::byte* out_ = nullptr;
  Storage *copy_ = nullptr, *partials_ = nullptr, *repeated_ = nullptr;
};

inline const Reduction& reduction(ReduceMode mode, Dtype dtype) {
  return kernels().reductions->of[static_cast<std::size_t>(mode)][static_cast<std::size_t>(dtype)];
}

inline std::uint64_t mask_of(const Tensor& t, const std::vector<int>& axes) {
  std::uint64_t mask = 0;
  for (int axis : axes) {
    if (axis < 0 || axis >= t.ndim()) throw nb::value_error("no such axis");
    mask |= std::uint64_t{1} << axis;
  }
  return mask;
}

}  // namespace suanzi
