// native/loops/row_copies.h: copies of one row after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace suanzi {

// Copies a row that is to be followed by the next one in memory.
inline void copy_row(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::size_t done = 0;
#if defined(__aarch64__)
  // In order: memcpy writes the end before all else, and the processor does not take the rows for one stream.
  typedef std::uint64_t Sixteen __attribute__((vector_size(16)));
  for (; done + 64 <= bytes; done += 64) {
    Sixteen some[4];
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&some[i], from + done + 16 * i, 16);
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(to + done + 16 * i, &some[i], 16);
  }
#endif
  std::memcpy(to + done, from + done, bytes - done);
}

}  // namespace suanzi
