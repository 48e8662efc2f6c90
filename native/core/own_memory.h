// native/core/own_memory.h: memory that a thread keeps.
#pragma once

#include <pthread.h>

#include <cstdlib>
#include <new>

#include "core/scratch.h"

namespace suanzi {

// What a thread keeps; pages of it that were never touched take no memory.
inline constexpr std::size_t most_own_memory = std::size_t{1} << 20;

// Memory for a while that this thread has from one call to the next, so that it is in its caches: the pool's goes from
// thread to thread. What is taken later is given back earlier; what does not fit is the pool's. Null if there is none.
class OwnMemory {
 public:
  OwnMemory() = default;
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;
  ~OwnMemory() { give_back(); }

  std::byte* take(std::int64_t bytes) noexcept {
    give_back();
    if (bytes < 0) return nullptr;
    auto wanted = (static_cast<std::size_t>(bytes) + alignment - 1) / alignment * alignment;
    Block* block = wanted <= most_own_memory ? own_block() : nullptr;
    if (!block || block->used + wanted > most_own_memory) return scratch_.take(Dtype::uint8, bytes);
    block_ = block;
    taken_ = wanted;
    block->used += wanted;
    return reinterpret_cast<std::byte*>(block) + alignment + (block->used - wanted);
  }

 private:
  struct Block {
    std::size_t used;
  };

  // By a key: a thread_local variable is made when a thread first touches it, and where memory is short,
  // the system ends the process.
  static Block* own_block() noexcept {
    struct Key {
      pthread_key_t key{};
      bool made = pthread_key_create(&key, std::free) == 0;
    };
    static const Key kept;
    if (!kept.made) return nullptr;
    auto* block = static_cast<Block*>(pthread_getspecific(kept.key));
    if (block) return block;
    void* memory = std::aligned_alloc(alignment, alignment + most_own_memory);
    if (!memory || pthread_setspecific(kept.key, memory) != 0) {
      std::free(memory);
      return nullptr;
    }
    return new (memory) Block{0};
  }

  void give_back() noexcept {
    if (block_) block_->used -= taken_;
    block_ = nullptr;
  }

  Scratch scratch_;
  Block* block_ = nullptr;
  std::size_t taken_ = 0;
};

// Several of them, all or none.
template <std::size_t count>
struct OwnMemories {
  OwnMemory memory[count];
  std::byte* at[count];
  bool take(const std::int64_t (&bytes)[count]) noexcept {
    for (std::size_t i = 0; i < count; ++i)
      if (!(at[i] = memory[i].take(bytes[i]))) return false;
    return true;
  }
};

}  // namespace suanzi
