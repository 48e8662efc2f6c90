// native/core/threads.cpp: the threads behind parallel_for.
//
// Threads are started by the first large loop and wait for the next one. A fork leaves the child
// without them; it starts its own. Loops from several Python threads take turns.
#include "core/threads.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

#include "core/sleeping.h"

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

// The parts of a loop that one thread begins with, so that in the next loop over as many elements it finds its own in
// its caches; the others take them where their own are done.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

struct Job {
  const Body& body;
  std::int64_t n, part, parts;
  int threads;
  Share* shares = nullptr;
  std::atomic<int> places{threads - 1};  // for those who help

  bool has_place() noexcept { return places.fetch_sub(1, std::memory_order_relaxed) > 0; }
  void work(int seat) noexcept {
    for (int i = 0; i < threads; ++i) {
      Share& share = shares[(seat + i) % threads];
      while (share.next.load(std::memory_order_relaxed) < share.end) {
        std::int64_t at = share.next.fetch_add(1, std::memory_order_relaxed);
        if (at < share.end) body(at * part, std::min(n, at * part + part));
      }
    }
  }
};

// Waits a moment for something that mostly comes at once, as being woken costs more than many loops do: a few
// microseconds busily, and some more in which whoever else has work goes first. (With none of the latter, loops that
// follow one another took up to twice as long on 16 processors; with more than 50 they were no faster.)
template <class F>
bool happens_soon(F&& happened) noexcept {
  constexpr std::chrono::microseconds busily{5}, in_all{50};
  auto start = std::chrono::steady_clock::now();
  for (int i = 1; !happened(); ++i) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
    if (i % 16) continue;
    auto passed = std::chrono::steady_clock::now() - start;
    if (passed >= in_all) return false;
    if (passed >= busily) std::this_thread::yield();
  }
  return true;
}

// Threads take a job, and leave it, without a lock: one says that it is inside before it looks for the job, and who
// has set the job takes it away before looking whether any is inside; so, as all these are in one order
// (memory_order_seq_cst, the default), either the thread finds no job or the other sees it.
class Pool {
 public:
  // Runs a job; false if another one is running, or there is no memory.
  bool run(Job& job) noexcept {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn || !make_room(job.threads)) return false;
    for (int i = 0; i < job.threads; ++i) {
      shares_[i].next.store(i * job.parts / job.threads, std::memory_order_relaxed);
      shares_[i].end = (i + 1) * job.parts / job.threads;
    }
    job.shares = shares_.get();
    job_ = &job;
    ++generation_.value;
    wake_some(job);
    job.work(0);
    job_ = nullptr;  // a thread that wakes only now finds nothing to do
    if (!happens_soon([&] { return inside_.value == 0; })) {
      awaited_ = true;
      while (std::uint32_t there = inside_.value) inside_.wait(there);
      awaited_ = false;
    }
    return true;
  }

 private:
  // Starts threads that are missing; there may be fewer, which must do.
  bool make_room(int threads) noexcept {
    if (room_ < threads) {
      shares_.reset(new (std::nothrow) Share[static_cast<std::size_t>(threads)]);
      room_ = shares_ ? threads : 0;
      if (!shares_) return false;
    }
    try {
      for (; count_ < threads - 1; ++count_) std::thread([this, seat = count_ + 1] { serve(seat); }).detach();
    } catch (...) {}
    return true;
  }

  // A microsecond for each, so that of very many the first ones wake the others.
  void wake_some(const Job& job) noexcept {
    int useful = std::min({16, job.places.load(std::memory_order_relaxed), sleeping_.load()});
    if (useful > 0) generation_.wake(useful);
  }

  void sleep(std::uint32_t seen) noexcept {
    ++sleeping_;
    while (generation_.value == seen) generation_.wait(seen);
    --sleeping_;
  }

  void serve(int seat) noexcept {
    std::uint32_t seen = 0;
    for (;;) {
      if (!happens_soon([&] { return generation_.value.load(std::memory_order_acquire) != seen; })) sleep(seen);
      seen = generation_.value;
      ++inside_.value;
      if (Job* job = job_; job && job->has_place()) {
        wake_some(*job);
        job->work(seat);
      }
      if (--inside_.value == 0 && awaited_) inside_.wake(1);
    }
  }

  std::mutex turn_;
  // Each on a line of its own: all threads look at the first while they wait.
  alignas(64) Awaited generation_;
  alignas(64) std::atomic<Job*> job_{nullptr};
  alignas(64) Awaited inside_;
  alignas(64) std::atomic<int> sleeping_{0};
  std::atomic<bool> awaited_{false};
  int count_ = 0, room_ = 0;
  std::unique_ptr<Share[]> shares_;
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
  std::int64_t part = ((n + parts - 1) / parts + line - 1) / line * line;
  Job job{body, n, part, (n + part - 1) / part, static_cast<int>(threads)};
  Pool* helpers = pool();
  if (!helpers || !helpers->run(job)) body(0, n);
}

}  // namespace suanzi
