// native/core/storage.h: the memory of tensors: aligned, counted, and pooled.
#pragma once

#include <atomic>

#include "core/dtypes.h"

namespace suanzi {

// A block of memory that tensors share. The header and the data of a small one are one allocation,
// so that it costs one; large data is apart, and foreign memory has a header alone.
struct Storage {
  std::atomic<std::int64_t> references;
  Dtype dtype;
  bool read_only;
  std::int64_t size;       // elements
  std::size_t bytes;       // of data
  std::byte* data;         // 64-byte aligned unless foreign
  std::size_t block;       // size class of the allocation, 0 for foreign memory
  void (*release)(void*);  // frees foreign memory; null for our own
  void* owner;

  void retain() noexcept { references.fetch_add(1, std::memory_order_relaxed); }
};

inline constexpr std::size_t alignment = 64;

// Returns a storage of `size` elements with one reference, its data uninitialised, or null when
// there is no memory.
Storage* allocate_storage(Dtype dtype, std::int64_t size) noexcept;

// Returns a storage over foreign memory, which `release(owner)` frees, or null when there is no
// memory; then `release` is not called.
Storage* adopt_storage(Dtype dtype, std::int64_t size, void* data, bool read_only, void (*release)(void*),
                       void* owner) noexcept;

// Whether its data begins a mapping that is ours alone, as that of large storages does.
bool has_own_pages(const Storage& storage) noexcept;
// Makes such data zeros, from the start of a huge page (2 MiB) on. Pages that were not touched since the system gave
// them are left so: they take no time and no memory before they are.
void zero_pages(std::byte* data, std::size_t bytes) noexcept;

// Drops one reference.
void release_storage(Storage* storage) noexcept;

struct PoolInfo {
  std::size_t in_use;        // bytes handed out
  std::size_t cached;        // bytes kept for reuse
  std::size_t bound;         // the most that is kept
  std::int64_t allocations;  // storages alive
};

PoolInfo pool_info() noexcept;
// Gives every cached byte back to the system.
void trim_pool() noexcept;
// Sets how many bytes may be kept, and gives back what is above.
void bound_pool(std::size_t bytes) noexcept;

}  // namespace suanzi
