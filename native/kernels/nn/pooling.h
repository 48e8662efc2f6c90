// native/kernels/nn/pooling.h: nn 6: the table of the loops of pooling, of float32 and of float64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

enum class Pool : std::uint8_t { largest, sum };

// By kind of pooling, then float32 and float64.
struct PoolKernels {
  // into[i] = into[i] combined with row[i].
  void (*rows[2][2])(const void* row, void* into, std::size_t n);
  // out[i] = row[i * stride], row[i * stride + dilation], ... combined, `kernel` of them.
  void (*along[2][2])(const void* row, void* out, std::size_t n, std::size_t kernel, std::size_t stride,
                      std::size_t dilation);
  // out[i] = row[first[i]] to row[last[i] - 1] combined.
  void (*windows[2][2])(const void* row, const std::int64_t* first, const std::int64_t* last, void* out, std::size_t n);
  // x[i] = x[i] / (divisors[i] * by).
  void (*divide[2])(void* x, const double* divisors, double by, std::size_t n);
  // The means of `count` rows of n dense elements.
  void (*means[2])(const void* x, std::size_t count, std::size_t n, void* out);
};

// The table of the level in use.
const PoolKernels& pool_kernels() noexcept;

}  // namespace suanzi
