// native/core/own_memory.h: memory that a thread keeps.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "core/storage.h"

namespace suanzi {

// What a thread keeps at most.
inline constexpr std::size_t most_own_memory = std::size_t{1} << 20;

// So many bytes that this thread has from one call to the next, so that they are in its caches: the pool's go from
// thread to thread. Null if there are none. By a key: a thread_local variable is made when a thread first touches
// it, and where there is no memory for that, the system ends the process.
inline std::byte* own_memory(std::size_t bytes) noexcept {
  struct Key {
    pthread_key_t key{};
    bool made = pthread_key_create(&key, std::free) == 0;
  };
  static const Key kept;
  if (!kept.made) return nullptr;
  auto* block = static_cast<std::byte*>(pthread_getspecific(kept.key));
  std::size_t there = 0;
  if (block) std::memcpy(&there, block, sizeof there);  // its first bytes say how many follow
  if (bytes <= there) return block + alignment;
  pthread_setspecific(kept.key, nullptr);
  std::free(block);
  bytes = (bytes + alignment - 1) / alignment * alignment;
  block = static_cast<std::byte*>(std::aligned_alloc(alignment, alignment + bytes));
  if (!block || pthread_setspecific(kept.key, block) != 0) {
    std::free(block);
    return nullptr;
  }
  std::memcpy(block, &bytes, sizeof bytes);
  return block + alignment;
}

}  // namespace suanzi
