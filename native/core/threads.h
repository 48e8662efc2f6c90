// native/core/threads.h: a pool of threads that share one loop.
#pragma once

#include <cstdint>
#include <functional>

namespace suanzi {

inline constexpr int max_threads = 1024;
// Minimum cheap elements per thread.
inline constexpr std::int64_t grain = 1 << 15;

// How many threads large loops use; from 1 to max_threads.
int thread_count() noexcept;
void set_thread_count(int count) noexcept;
// How many processors this machine has, however many of them are used.
int processor_count() noexcept;

namespace detail {
void share(std::int64_t n, std::int64_t grain, std::int64_t threads,
           const std::function<void(std::int64_t, std::int64_t)>& body) noexcept;
}

// Calls body(begin, end) for parts that together are [0, n), each at least `grain` long, on as many
// threads as are worth it, the calling one among them. Returns when all are done. `body` must not
// throw, and what it computes for an element must not depend on where the parts begin.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, Body&& body) noexcept {
  if (n < 2 * grain) {
    if (n > 0) body(std::int64_t{0}, n);
    return;
  }
  std::int64_t threads = thread_count() < n / grain ? thread_count() : n / grain;
  if (threads <= 1) body(std::int64_t{0}, n);
  else detail::share(n, grain, threads, std::ref(body));
}

}  // namespace suanzi
