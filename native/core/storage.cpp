// native/core/storage.cpp: the pool behind allocate_storage.
//
// A fresh block from the system page-faults once per 4 KiB when it is first written, which costs
// more than the arithmetic on it. So freed blocks are kept, by size class, up to a bound; the
// largest are given back first. Blocks of a huge page or more are mappings of their own, whose
// pages can be dropped and are zeros when they are next touched.
#include "core/storage.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Large blocks are pages of the system, but not under the sanitizer: its own allocator surrounds a block with memory
// out of bounds, and refuses what is too large.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define SUANZI_MAPS_PAGES
#endif

// Under the sanitizer the rest of a block behind the data is out of bounds, and nothing is kept, so
// that it sees every use of memory that was freed.
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

namespace suanzi {
namespace {

constexpr std::size_t header = (sizeof(Storage) + alignment - 1) / alignment * alignment;
// From here on a header is kept apart, so that a block of 2^n bytes is not the next larger one.
constexpr std::size_t large = std::size_t{1} << 16;
constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t small_page = 4096;

// Four classes to a doubling, so that at most a quarter of a block is wasted.
constexpr std::size_t smallest_log2 = 7;
constexpr std::size_t class_count = (48 - smallest_log2) * 4;

std::size_t class_of(std::size_t bytes) noexcept {
  if (bytes <= (std::size_t{1} << smallest_log2)) return 0;
  std::size_t log2 = std::bit_width(bytes - 1) - 1;  // 2^log2 < bytes <= 2^(log2+1)
  std::size_t quarter = (bytes - 1 - (std::size_t{1} << log2)) >> (log2 - 2);
  return (log2 - smallest_log2) * 4 + quarter + 1;
}

std::size_t size_of(std::size_t size_class) noexcept {
  if (size_class == 0) return std::size_t{1} << smallest_log2;
  std::size_t log2 = (size_class - 1) / 4 + smallest_log2, quarter = (size_class - 1) % 4 + 1;
  return (std::size_t{1} << log2) + quarter * (std::size_t{1} << (log2 - 2));
}

// The bytes of this machine's memory.
std::size_t memory_size() noexcept {
  static const std::size_t bytes = [] {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page)
                                 : std::size_t{1} << 46;
  }();
  return bytes;
}

std::size_t default_bound() noexcept {
#if defined(__SANITIZE_ADDRESS__)
  return 0;
#else
  return std::min(memory_size() / 4, std::size_t{2} << 30);
#endif
}

#if defined(SUANZI_MAPS_PAGES)
constexpr bool can_map = true;

// Pages of nobody else, from the start of a huge page on, which take no memory before they are touched.
void* map_pages(std::size_t bytes) noexcept {
  void* made = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  auto* first = static_cast<std::byte*>(made);
  std::size_t before = -reinterpret_cast<std::uintptr_t>(first) % huge_page;
  if (before) munmap(first, before);
  munmap(first + before + bytes, huge_page - before);
#if defined(MADV_HUGEPAGE)
  madvise(first + before, bytes, MADV_HUGEPAGE);
#endif
  return first + before;
}
#else
constexpr bool can_map = false;
#endif

bool is_mapping(std::size_t bytes) noexcept { return can_map && bytes >= huge_page; }

void* from_system(std::size_t bytes) noexcept {
#if defined(SUANZI_MAPS_PAGES)
  if (is_mapping(bytes)) return map_pages(bytes);
#endif
  // x86 takes a read for one of what was just written where the addresses agree in their last 12 bits, and waits: of
  // two blocks in a row, 64 bytes more than a page's multiple apart, functions take three times as long. All from the
  // start of a page, nothing is written shortly before its like is read.
#if defined(__x86_64__)
  std::size_t start = bytes >= large ? small_page : alignment;
#else
  std::size_t start = alignment;
#endif
  return std::aligned_alloc(start, (bytes + start - 1) / start * start);
}

void to_system(void* block, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(SUANZI_MAPS_PAGES)
  if (is_mapping(bytes)) {
    munmap(block, bytes);
    return;
  }
#endif
  std::free(block);
}

// What it guards takes nanoseconds, so waiting is not worth a system call.
class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

class Pool {
 public:
  // A block, which `storages` more storages use.
  void* take(std::size_t size_class, int storages) noexcept {
    std::size_t bytes = size_of(size_class);
    {
      std::unique_lock lock(mutex_);
      if (Free* found = pop(size_class)) {
        set_cached(cached() - bytes);
        in_use_ += bytes;
        alive_ += storages;
        lock.unlock();
        return block_of(found, bytes);
      }
    }
    void* block = from_system(bytes);
    if (!block) {  // what is kept may be what is missing
      trim(0);
      block = from_system(bytes);
    }
    if (block) {
      std::lock_guard lock(mutex_);
      in_use_ += bytes;
      alive_ += storages;
    }
    return block;
  }

  void give(void* block, std::size_t size_class, int storages) noexcept {
    std::size_t bytes = size_of(size_class);
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    Free* entry = bytes <= bound_ ? entry_of(block, bytes) : nullptr;
    {
      std::lock_guard lock(mutex_);
      in_use_ -= bytes;
      alive_ -= storages;
      if (entry) {
        push(entry, size_class);
        set_cached(cached() + bytes);
      }
    }
    if (!entry) to_system(block, bytes);
    trim(bound_.load(std::memory_order_relaxed));
  }

  // Frees cached blocks, the largest first, until at most `bytes` are kept.
  void trim(std::size_t bytes) noexcept {
    if (cached() <= bytes) return;
    std::lock_guard lock(mutex_);
    for (std::size_t size_class = class_count; size_class-- > 0;) {
      while (cached() > bytes) {
        Free* found = pop(size_class);
        if (!found) break;
        std::size_t size = size_of(size_class);
        set_cached(cached() - size);
        to_system(block_of(found, size), size);
      }
    }
  }

  void bound(std::size_t bytes) noexcept {
    bound_ = bytes;
    trim(bytes);
  }

  // Counts a storage over foreign memory.
  void count_foreign(int change) noexcept {
    std::lock_guard lock(mutex_);
    alive_ += change;
  }

  PoolInfo info() noexcept {
    std::lock_guard lock(mutex_);
    return {in_use_, cached(), bound_, alive_};
  }

  void lock() noexcept { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }

 private:
  // Written under the lock alone, so that no write needs a locked instruction; read anywhere.
  std::size_t cached() const noexcept { return cached_.load(std::memory_order_relaxed); }
  void set_cached(std::size_t bytes) noexcept { cached_.store(bytes, std::memory_order_relaxed); }

  // A free block, listed in its own first bytes; but a mapping apart, so that a page of it is not touched.
  struct Free {
    Free* next;
    void* block;
  };

  // Null if memory is too short to list a block.
  static Free* entry_of(void* block, std::size_t bytes) noexcept {
    void* place = is_mapping(bytes) ? std::malloc(sizeof(Free)) : block;
    return place ? new (place) Free{nullptr, block} : nullptr;
  }
  static void* block_of(Free* entry, std::size_t bytes) noexcept {
    void* block = entry->block;
    if (is_mapping(bytes)) std::free(entry);
    return block;
  }

  Free* pop(std::size_t size_class) noexcept {
    Free* entry = free_[size_class];
    if (entry) free_[size_class] = entry->next;
    return entry;
  }
  void push(Free* entry, std::size_t size_class) noexcept {
    entry->next = free_[size_class];
    free_[size_class] = entry;
  }

  SpinLock mutex_;
  std::array<Free*, class_count> free_{};
  std::size_t in_use_ = 0;
  std::int64_t alive_ = 0;
  std::atomic<std::size_t> cached_{0};
  std::atomic<std::size_t> bound_{default_bound()};
};

Pool& pool() noexcept {
  // Never destroyed: tensors may outlive every static object. A fork must not catch the mutex
  // locked by a thread that the child does not have.
  static Pool* the_pool = [] {
    auto* made = new Pool;
    pthread_atfork([] { pool().lock(); }, [] { pool().unlock(); }, [] { pool().unlock(); });
    return made;
  }();
  return *the_pool;
}

}  // namespace

Storage* allocate_storage(Dtype dtype, std::int64_t size) noexcept {
  std::size_t item = facts(dtype).itemsize;
  std::size_t bytes;
  if (size < 0 || __builtin_mul_overflow(static_cast<std::size_t>(size), item, &bytes) || bytes > memory_size())
    return nullptr;  // the system might promise what it does not have, and end the process later
  bool apart = bytes >= large;
  std::size_t size_class = class_of(apart ? bytes : header + bytes);
  void* block = pool().take(size_class, 1);
  void* head = block && apart ? pool().take(class_of(header), 0) : block;
  if (!head) {
    if (block) pool().give(block, size_class, 1);
    return nullptr;
  }
  auto* storage = new (head) Storage{};
  storage->references.store(1, std::memory_order_relaxed);
  storage->dtype = dtype;
  storage->size = size;
  storage->bytes = bytes;
  storage->data = static_cast<std::byte*>(block) + (apart ? 0 : header);
  storage->block = size_class + 1;
  ASAN_POISON_MEMORY_REGION(storage->data + bytes, size_of(size_class) - (apart ? 0 : header) - bytes);
  return storage;
}

Storage* adopt_storage(Dtype dtype, std::int64_t size, void* data, bool read_only, void (*release)(void*),
                       void* owner) noexcept {
  auto* storage = new (std::nothrow) Storage{};
  if (!storage) return nullptr;
  storage->references.store(1, std::memory_order_relaxed);
  storage->dtype = dtype;
  storage->read_only = read_only;
  storage->size = size;
  storage->bytes = static_cast<std::size_t>(size) * facts(dtype).itemsize;
  storage->data = static_cast<std::byte*>(data);
  storage->release = release;
  storage->owner = owner;
  pool().count_foreign(1);
  return storage;
}

void release_storage(Storage* storage) noexcept {
  // The only reference is ours to drop without asking anybody.
  if (storage->references.load(std::memory_order_acquire) != 1 &&
      storage->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
    return;
  if (storage->block) {
    std::size_t size_class = storage->block - 1;
    bool apart = storage->bytes >= large;
    void* data = storage->data;
    storage->~Storage();
    pool().give(apart ? data : storage, size_class, 1);
    if (apart) pool().give(storage, class_of(header), 0);
  } else {
    if (storage->release) storage->release(storage->owner);
    delete storage;
    pool().count_foreign(-1);
  }
}

bool has_own_pages(const Storage& storage) noexcept { return storage.block && is_mapping(size_of(storage.block - 1)); }

void zero_pages(std::byte* data, std::size_t bytes) noexcept {
#if defined(__linux__)
  constexpr std::size_t asked_for = 8 * huge_page;
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
  unsigned char resident[asked_for / 4096];
  std::size_t dropped = 0;  // where pages begin that nobody touched
  for (std::size_t at = 0; at < bytes; at += huge_page) {
    std::size_t in_group = at % asked_for, size = std::min(huge_page, bytes - at);
    if (in_group == 0 && mincore(data + at, std::min(asked_for, bytes - at), resident))
      std::memset(resident, 1, sizeof resident);
    bool touched = std::memchr(resident + in_group / page, 1, (size + page - 1) / page);
    if (!touched && at + size < bytes) continue;
    // Pages that are not in memory may be swapped out: dropped, they are zeros again.
    std::size_t end = touched ? at : bytes;
    if (dropped < end && madvise(data + dropped, end - dropped, MADV_DONTNEED))
      std::memset(data + dropped, 0, end - dropped);
    if (touched) std::memset(data + at, 0, size);
    dropped = at + size;
  }
#else
  std::memset(data, 0, bytes);
#endif
}

PoolInfo pool_info() noexcept { return pool().info(); }
void trim_pool() noexcept { pool().trim(0); }
void bound_pool(std::size_t bytes) noexcept { pool().bound(bytes); }

}  // namespace suanzi
