// native/ops/nn/rows.h: nn 2, 3: rows of tensors for softmaxes and norms: where they lie, and how threads share them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>

#include "core/scratch.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/kernels.h"
#include "kernels/nn/rows.h"
#include "kernels/vectors/lanes.h"
#include "loops/axes.h"
#include "loops/blocks.h"

namespace suanzi {

const RowKernels& row_kernels() noexcept;

// The loops for a dtype, null if it has none: float8 is computed as float32.
inline const RowLoops* row_loops(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::float32: return &row_kernels().loops[static_cast<std::size_t>(RowFormat::float32)];
    case Dtype::float64: return &row_kernels().loops[static_cast<std::size_t>(RowFormat::float64)];
    case Dtype::float16: return &row_kernels().loops[static_cast<std::size_t>(RowFormat::float16)];
    case Dtype::bfloat16: return &row_kernels().loops[static_cast<std::size_t>(RowFormat::bfloat16)];
    default: return nullptr;
  }
}

// The dtype that rows are computed in.
inline Dtype wide_dtype(Dtype dtype) noexcept { return dtype == Dtype::float64 ? dtype : Dtype::float32; }

// From how many elements on all threads share a row, where there are fewer rows than threads.
inline constexpr std::int64_t shared_row = 1 << 16;

// From how many bytes on results bypass the caches: a row is in them when it is written, and the third level helps more
// than it does with a loop that reads each element once.
inline std::int64_t rows_stream_from() { return std::max(stream_from(), 4 * own_caches()); }

// The parts of a row of n elements. They are the same whoever computes them, and sums add up in their order: the bits
// of a row depend on nothing else.
struct Blocks {
  std::int64_t n;
  double* partial = nullptr;  // a number for each part, if threads share the row

  std::int64_t count() const noexcept { return (n + block - 1) / block; }
  // f(begin, size) of all parts.
  template <class F>
  void each(F f) const noexcept {
    auto part = [&](std::int64_t b) { f(b * block, static_cast<std::size_t>(std::min(block, n - b * block))); };
    if (!partial)
      for (std::int64_t b = 0; b < count(); ++b) part(b);
    else
      parallel_for(count(), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t b = begin; b < end; ++b) part(b);
      });
  }
  // The results of f(begin, size), combined in order.
  template <class F, class Combine>
  double combined(double start, F f, Combine combine) const noexcept {
    double found = start;
    if (partial) {
      each([&](std::int64_t begin, std::size_t size) { partial[begin / block] = f(begin, size); });
      for (std::int64_t b = 0; b < count(); ++b) found = combine(found, partial[b]);
    } else {
      each([&](std::int64_t begin, std::size_t size) { found = combine(found, f(begin, size)); });
    }
    return found;
  }
  template <class F>
  double sum(F f) const noexcept {
    return combined(0, f, [](double a, double b) { return a + b; });
  }

 private:
  static constexpr auto block = static_cast<std::int64_t>(row_block);
};

}  // namespace suanzi
