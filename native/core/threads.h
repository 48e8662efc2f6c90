// native/core/threads.h: a pool of threads that share one loop.
#pragma once

#include <cstdint>

#include "core/function_ref.h"

namespace suanzi {

inline constexpr int max_threads = 1024;
// Minimum cheap elements per thread.
inline constexpr std::int64_t grain = 1 << 15;

// How many threads large loops use; from 1 to max_threads.
int thread_count() noexcept;
void set_thread_count(int count) noexcept;
// How many processors this machine has, however many of them are used.
int processor_count() noexcept;

// What a loop does with the elements from one to before another.
using LoopBody = FunctionRef<void(std::int64_t, std::int64_t)>;

// Calls body(begin, end) for parts that together are [0, n), each at least `grain` long, on as many
// threads as are worth it, the calling one among them. Returns when all are done. `body` must not
// throw, and what it computes for an element must not depend on where the parts begin.
void parallel_for(std::int64_t n, std::int64_t grain, LoopBody body) noexcept;

}  // namespace suanzi
