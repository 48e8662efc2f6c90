// native/loops/blocks.h: the inputs and the output of a loop, read and written block by block.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "core/threads.h"
#include "loops/elementwise.h"

namespace suanzi {

// Several buffers of a loop fit the first-level cache together.
constexpr std::size_t block_bytes = 8192;

inline std::size_t item(Dtype dtype) { return std::size_t{1} << layer_of(dtype).log2_size; }

// Runs a path over n elements; `in` may be returned as it is. The buffers are used in turn.
inline const std::byte* follow(const Path& path, const std::byte* in, std::size_t n, std::byte* buffer_a,
                               std::byte* buffer_b) {
  for (int i = 0; i < path.count; ++i) {
    std::byte* out = in == buffer_a ? buffer_b : buffer_a;
    path.steps[i](in, out, n * path.multiple[i]);
    in = out;
  }
  return in;
}

// As above, but the last step writes to `out`; without steps the elements are copied.
inline void follow_to(const Path& path, const std::byte* in, std::size_t n, std::size_t itemsize, std::byte* out,
                      std::byte* buffer_a, std::byte* buffer_b) {
  if (path.count == 0) {
    if (in != out) std::memcpy(out, in, n * itemsize);
    return;
  }
  for (int i = 0; i + 1 < path.count; ++i) {
    std::byte* next = in == buffer_a ? buffer_b : buffer_a;
    path.steps[i](in, next, n * path.multiple[i]);
    in = next;
  }
  int last = path.count - 1;
  path.steps[last](in, out, n * path.multiple[last]);
}

struct alignas(64) Buffer {
  std::byte bytes[block_bytes];
};

// The bytes of the second-level cache, or of the third one; 0 where the system does not say.
inline std::int64_t cache_bytes([[maybe_unused]] int level) {
#if defined(_SC_LEVEL2_CACHE_SIZE) && defined(_SC_LEVEL3_CACHE_SIZE)  // glibc's alone
  static const long second = sysconf(_SC_LEVEL2_CACHE_SIZE), third = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max(0L, level == 2 ? second : third);
#else
  return 0;
#endif
}

// From how many bytes on what one loop reads and writes does not fit the caches that each thread has.
inline std::int64_t own_caches() {
  std::int64_t second = cache_bytes(2);
  return (second > 0 ? second : 2 << 20) * std::max(4, thread_count());
}

// What one loop reads and writes, from which on its result bypasses the caches: it would push out
// of them what is needed, and be read into them only to be overwritten. Of the last one, which all share, it may fill a
// part; all of it where few threads write, which memory is not too slow for: past the caches they wait longer.
inline std::int64_t stream_from() {
#if !defined(__SSE2__)
  return std::numeric_limits<std::int64_t>::max();  // only x86 has the instructions; ARM's caches see it by themselves
#else
  return std::max(own_caches(), cache_bytes(3) / (thread_count() <= 4 ? 1 : 8));
#endif
}

// The output of a loop, written block by block.
class Writer {
 public:
  Writer(const Loop& loop, const Kernels& k, const Path& path, std::byte* out, Dtype dtype)
      : kernels_(k), path_(path), out_(out), itemsize_(item(dtype)) {
    std::int64_t written = loop.size * static_cast<std::int64_t>(itemsize_), bytes = written;
    for (int i = 0; i < loop.input_count; ++i)
      if (loop.ndim && loop.inputs[i].strides[loop.ndim - 1])
        bytes += loop.size * static_cast<std::int64_t>(item(loop.inputs[i].dtype));
    streams_ = bytes >= stream_from() && written >= bytes / 4;
  }

  // Whether a kernel can write straight to the output.
  bool in_place() const { return path_.count == 0 && !streams_; }
  std::byte* at(std::int64_t position) const { return out_ + position * static_cast<std::int64_t>(itemsize_); }
  // Where a kernel writes the block from `position` on, before put().
  std::byte* target(std::int64_t position, Buffer* buffers) const {
    return in_place() ? at(position) : buffers[0].bytes;
  }
  // Converts and stores a block of n elements from what a kernel wrote to its target; or, if
  // `repeats`, one element n times.
  void put(std::int64_t position, std::size_t n, Buffer* buffers, bool repeats = false) const {
    std::size_t count = repeats ? 1 : n;
    if (!streams_ || repeats) {
      if (path_.count)
        follow_to(path_, buffers[0].bytes, count, itemsize_, at(position), buffers[0].bytes, buffers[1].bytes);
      else if (streams_) std::memcpy(at(position), buffers[0].bytes, itemsize_);
    } else {
      const std::byte* made = follow(path_, buffers[0].bytes, n, buffers[0].bytes, buffers[1].bytes);
      kernels_.stream(made, at(position), n * itemsize_);
    }
    if (repeats)
      for (std::size_t i = 1; i < n; ++i) std::memcpy(at(position) + i * itemsize_, at(position), itemsize_);
  }
  // To be called by each thread after its last block.
  void finish() const {
    if (streams_) kernels_.end_stream();
  }

 private:
  const Kernels& kernels_;
  const Path& path_;
  std::byte* out_;
  std::size_t itemsize_;
  bool streams_;
};

// One input of a loop, read block by block.
class Reader {
 public:
  Reader(const Loop& loop, const Input& input, const Kernels& k, const Path& path)
      : loop_(loop), input_(input), kernels_(k), path_(path), layer_(layer_of(input.dtype)) {
    itemsize_ = std::size_t{1} << layer_.log2_size;
    repeats_ = true;
    for (int d = 0; d < loop.ndim; ++d) repeats_ &= input.strides[d] == 0;
    dense_ = loop.ndim == 0 || (loop.ndim == 1 && input.strides[0] == static_cast<std::int64_t>(itemsize_));
  }

  bool repeats() const { return repeats_; }
  bool dense() const { return dense_; }
  // Whether blocks are the memory itself.
  bool in_place() const { return dense_ && path_.count == 0; }
  const std::byte* at(std::int64_t position) const {
    return input_.data + (dense_ ? position * static_cast<std::int64_t>(itemsize_) : 0);
  }

  // The n elements from `position` on, converted; or one element, if they are all the same.
  const std::byte* read(std::int64_t position, std::size_t n, Buffer* buffers) const {
    if (repeats_) return follow(path_, input_.data, 1, buffers[0].bytes, buffers[1].bytes);
    if (dense_) return follow(path_, at(position), n, buffers[0].bytes, buffers[1].bytes);
    const std::byte* gathered = gather(position, n, buffers[0].bytes);
    return follow(path_, gathered, n, buffers[0].bytes, buffers[1].bytes);
  }

  // For an input that is one value: `count` copies of it, converted, in `whole`; else null.
  const std::byte* spread(Buffer* buffers, Buffer& whole, std::size_t size, std::size_t count) const {
    if (!repeats_) return nullptr;
    const std::byte* one = read(0, 1, buffers);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(whole.bytes + i * size, one, size);
    return whole.bytes;
  }

  std::size_t itemsize() const { return itemsize_; }
  const Path& path() const { return path_; }
  // The n elements as stored, dense.
  const std::byte* gather(std::int64_t position, std::size_t n, std::byte* out) const {
    std::int64_t at[64], offset = 0, rest = position;
    for (int d = loop_.ndim - 1; d >= 0; --d) {
      at[d] = rest % loop_.dims[d];
      rest /= loop_.dims[d];
      offset += at[d] * input_.strides[d];
    }
    int last = loop_.ndim - 1;
    std::int64_t stride = input_.strides[last];
    std::size_t left = static_cast<std::size_t>(loop_.dims[last] - at[last]);
    bool packed = stride == static_cast<std::int64_t>(itemsize_);
    if (packed && left >= n) return input_.data + offset;
    std::byte* to = out;
    for (std::size_t done = 0;;) {
      std::size_t count = std::min(left, n - done);
      if (packed) std::memcpy(to, input_.data + offset, count * itemsize_);
      else kernels_.gather[layer_.log2_size](input_.data + offset, to, count, stride);
      to += count * itemsize_;
      done += count;
      if (done == n) return out;
      // The next row: the last index starts again, and the others count on.
      offset -= at[last] * stride;
      at[last] = 0;
      for (int d = last - 1; d >= 0; --d) {
        offset += input_.strides[d];
        if (++at[d] < loop_.dims[d]) break;
        offset -= at[d] * input_.strides[d];
        at[d] = 0;
      }
      left = static_cast<std::size_t>(loop_.dims[last]);
    }
  }

 private:
  const Loop& loop_;
  const Input& input_;
  const Kernels& kernels_;
  Path path_;
  const Layer& layer_;
  std::size_t itemsize_;
  bool repeats_, dense_;
};

inline std::size_t widest(const Path& path, std::size_t start) {
  std::size_t most = start;
  for (int i = 0; i < path.count; ++i) most = std::max<std::size_t>(most, path.out_size[i]);
  return most;
}

// How many elements fit every buffer.
constexpr std::size_t block_elements(std::size_t widest_element) { return block_bytes / widest_element; }

}  // namespace suanzi
