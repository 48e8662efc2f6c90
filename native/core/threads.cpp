// native/core/threads.cpp: the threads behind parallel_for.
//
// Threads are started by the first large loop and wait for the next one. A fork leaves the child
// without them; it starts its own. Loops from several Python threads take turns.
#include "core/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace suanzi {

namespace {

int usable_cores() noexcept {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

int default_count() noexcept {
  if (const char* wanted = std::getenv("SUANZI_NUM_THREADS")) {
    int count = std::atoi(wanted);
    if (count > 0) return std::min(count, max_threads);
  }
  return usable_cores();
}

std::atomic<int> wanted_count{0};  // 0: not asked yet

using Body = std::function<void(std::int64_t, std::int64_t)>;

struct Job {
  const Body* body;
  std::int64_t n, part, parts;
  std::atomic<std::int64_t> next{0};

  void work() noexcept {
    for (;;) {
      std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= parts) return;
      std::int64_t begin = i * part;
      (*body)(begin, std::min(n, begin + part));
    }
  }
};

// Waits a moment for something that mostly comes at once: being woken costs more than many loops do.
template <class F>
void await_briefly(F&& happened) noexcept {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
  for (int i = 1; !happened(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
    if (i % 64 == 0 && std::chrono::steady_clock::now() >= end) return;
  }
}

class Pool {
 public:
  // Runs a job with the help of `helpers` threads; false if another job is running.
  bool run(Job& job, int helpers) noexcept {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    grow(helpers);
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      inside_ = 0;
      generation_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    job.work();
    {
      std::lock_guard lock(mutex_);
      job_ = nullptr;  // a thread that wakes only now finds nothing to do
    }
    await_briefly([&] { return inside_.load(std::memory_order_acquire) == 0; });
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return inside_ == 0; });
    return true;
  }

 private:
  void grow(int helpers) noexcept {
    while (count_ < helpers) {
      try {
        std::thread([this] { serve(); }).detach();
      } catch (...) {
        return;  // no more threads to be had: fewer must do
      }
      ++count_;
    }
  }

  void serve() noexcept {
    std::uint64_t seen = 0;
    for (;;) {
      await_briefly([&] { return generation_.load(std::memory_order_acquire) != seen; });
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return generation_ != seen; });
      seen = generation_;
      Job* job = job_;
      if (!job) continue;
      ++inside_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--inside_ == 0) finished_.notify_one();
    }
  }

  std::mutex turn_, mutex_;
  std::condition_variable wake_, finished_;
  Job* job_ = nullptr;
  // Written under the mutex; read without it while waiting briefly.
  std::atomic<int> inside_{0};
  std::atomic<std::uint64_t> generation_{0};
  int count_ = 0;
};

// Replaced, not repaired, in the child of a fork: its threads and the state of its locks are gone.
std::atomic<Pool*> the_pool{nullptr};

Pool* pool() noexcept {
  Pool* found = the_pool.load(std::memory_order_acquire);
  if (found) return found;
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr, std::memory_order_release); });
  (void)registered;
  auto* made = new (std::nothrow) Pool;
  if (made && !the_pool.compare_exchange_strong(found, made)) {
    delete made;
    return found;
  }
  return made;
}

}  // namespace

int thread_count() noexcept {
  int count = wanted_count.load(std::memory_order_relaxed);
  if (count == 0) {
    count = default_count();
    wanted_count.store(count, std::memory_order_relaxed);
  }
  return count;
}

void set_thread_count(int count) noexcept {
  wanted_count.store(std::clamp(count, 1, max_threads), std::memory_order_relaxed);
}

void detail::share(std::int64_t n, std::int64_t grain, std::int64_t threads, const Body& body) noexcept {
  // Several parts per thread even out a busy core. Of elements, of which many are worth a thread,
  // they stay multiples of a cache line; of rows or tiles, few may be all there are.
  std::int64_t parts = std::min(threads * 4, n / grain), line = grain >= 1024 ? 1024 : 1;
  Job job{};
  job.body = &body;
  job.n = n;
  job.part = ((n + parts - 1) / parts + line - 1) / line * line;
  job.parts = (n + job.part - 1) / job.part;
  Pool* helpers = pool();
  if (!helpers || !helpers->run(job, static_cast<int>(threads) - 1)) job.work();
}

}  // namespace suanzi
