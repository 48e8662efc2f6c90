// native/threads.h: a pool of threads that share one loop.
#pragma once

#include <cstdint>
#include <functional>

namespace suanzi {

// How many threads large loops use; at least 1.
int thread_count() noexcept;
void set_thread_count(int count) noexcept;

// Calls body(begin, end) for parts that together are [0, n), each at least `grain` long, on as many
// threads as are worth it, the calling one among them. Returns when all are done. `body` must not
// throw, and what it computes for an element must not depend on where the parts begin.
void parallel_for(std::int64_t n, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body) noexcept;

}  // namespace suanzi
