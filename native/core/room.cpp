// native/core/room.cpp: asks the system for memory and gives it back, so that a library will find it.
//
// OpenBLAS waits for ever, or ends the process, where it gets none.
#include "core/room.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "core/storage.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#endif
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace suanzi {

#if defined(__unix__) || defined(__APPLE__)

namespace {

bool is_set(int which) noexcept {
  rlimit limit{};
  return getrlimit(static_cast<decltype(RLIMIT_AS)>(which), &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

// Whether the system grants no more than there is; it grants everything on most machines.
bool counts_what_it_grants() noexcept {
  static const bool strict = [] {
    std::FILE* file = std::fopen("/proc/sys/vm/overcommit_memory", "r");
    if (!file) return false;
    int mode = std::fgetc(file);
    std::fclose(file);
    return mode == '2';
  }();
  return strict;
}

bool can_map(std::size_t bytes) noexcept {
  void* there = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (there == MAP_FAILED) return false;
  munmap(there, bytes);
  return true;
}

}  // namespace

bool has_call_room(Library library, bool alone) noexcept {
  // It keeps the buffers of calls that were. At a fork it ends its threads, and starts them at the next call, in the
  // parent and in the child.
  static std::atomic<bool> has_buffer[2], has_threads[2];
  static const int registered = pthread_atfork([] { has_threads[0] = has_threads[1] = false; }, nullptr, nullptr);
  (void)registered;
  auto which = static_cast<std::size_t>(library);
  if (memory_is_limited()) {
    std::size_t needed = call_room;
    if (!has_buffer[which] || !alone) needed += blas_buffer;
    if (!has_threads[which]) needed += thread_room * std::max(1u, std::thread::hardware_concurrency());
    if (!has_room(needed)) return false;
  }
  has_buffer[which] = has_threads[which] = true;
  return true;
}

bool memory_is_limited() noexcept {
  return is_set(static_cast<int>(RLIMIT_AS)) || is_set(static_cast<int>(RLIMIT_DATA)) || counts_what_it_grants();
}

bool has_room(std::size_t bytes) noexcept {
  if (bytes == 0 || !memory_is_limited() || can_map(bytes)) return true;
  trim_pool();  // what is kept may be what is missing
  return can_map(bytes);
}

#if defined(__linux__)

void deepen_stack() noexcept {
  constexpr std::size_t depth = std::size_t{1} << 20;  // the largest kernel has a frame of 300 KB
  rlimit limit{};
  bool is_main = syscall(SYS_gettid) == getpid();
  if (!is_main || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur < 4 * depth || !has_room(2 * depth)) return;
  auto* lowest = static_cast<volatile char*>(__builtin_alloca(depth));
  *lowest = 0;  // the system maps all that is above, and fills one page
}

#else

void deepen_stack() noexcept {}

#endif

#else

void deepen_stack() noexcept {}
bool memory_is_limited() noexcept { return false; }
bool has_room(std::size_t) noexcept { return true; }
bool has_call_room(Library, bool) noexcept { return true; }

#endif

}  // namespace suanzi
