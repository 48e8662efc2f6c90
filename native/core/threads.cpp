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

#include <unistd.h>

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

  std::int64_t left() const noexcept { return parts - next.load(std::memory_order_relaxed); }
  void work() noexcept {
    for (;;) {
      std::int64_t i = next.fetch_add(1, std::memory_order_relaxed);
      if (i >= parts) return;
      std::int64_t begin = i * part;
      (*body)(begin, std::min(n, begin + part));
    }
  }
};

// Waits a moment for something that mostly comes at once, as being woken costs more than many loops do; a few
// microseconds and no more, so that nothing is taken from who else has work.
template <class F>
bool happens_soon(F&& happened) noexcept {
  auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(10);
  for (int i = 1; !happened(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
    if (i % 16 == 0 && std::chrono::steady_clock::now() >= end) return false;
  }
  return true;
}

// Threads take a job, and leave it, without a lock: one says that it is inside before it looks for the job, and who
// has set the job takes it away before looking whether any is inside; so, as all these are in one order
// (memory_order_seq_cst, the default), either the thread finds no job or the other sees it. Only who sleeps, and who
// wakes a sleeper, takes the mutex.
class Pool {
 public:
  // Runs a job with the help of `helpers` threads; false if another job is running.
  bool run(Job& job, int helpers) noexcept {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    grow(helpers);
    job_ = &job;
    ++generation_;
    wake_some(job);
    job.work();
    job_ = nullptr;  // a thread that wakes only now finds nothing to do
    auto all_left = [&] { return inside_ == 0; };
    if (!happens_soon(all_left)) {
      std::unique_lock lock(mutex_);
      awaited_ = true;
      finished_.wait(lock, all_left);
      awaited_ = false;
    }
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

  // Each thread that wakes wakes two more, if there is work: one alone would need as long for all as all of them
  // for the loop.
  void wake_some(const Job& job) noexcept {
    int sleepers = sleeping_;
    if (sleepers == 0 || job.left() <= 0) return;
    { std::lock_guard lock(mutex_); }  // who is about to sleep does
    wake_.notify_one();
    if (sleepers > 1 && job.left() > 1) wake_.notify_one();
  }

  void sleep(std::uint64_t seen) noexcept {
    std::unique_lock lock(mutex_);
    ++sleeping_;
    wake_.wait(lock, [&] { return generation_ != seen; });
    --sleeping_;
  }

  void serve() noexcept {
    std::uint64_t seen = 0;
    for (;;) {
      if (!happens_soon([&] { return generation_.load(std::memory_order_acquire) != seen; })) sleep(seen);
      seen = generation_;
      ++inside_;
      if (Job* job = job_) {
        wake_some(*job);
        job->work();
      }
      if (--inside_ == 0 && awaited_) {
        std::lock_guard lock(mutex_);
        finished_.notify_one();
      }
    }
  }

  std::mutex turn_, mutex_;
  std::condition_variable wake_, finished_;
  // Each on a line of its own: all threads look at the first while they wait.
  alignas(64) std::atomic<std::uint64_t> generation_{0};
  alignas(64) std::atomic<Job*> job_{nullptr};
  alignas(64) std::atomic<int> inside_{0};
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<bool> awaited_{false};
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

int processor_count() noexcept {
  static const int found = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF)));
  return found;
}

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
