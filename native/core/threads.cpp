// native/core/threads.cpp: the threads behind parallel_for.
//
// Threads are started by the first large loop and wait for the next one. A fork leaves the child
// without them; it starts its own. Loops from several Python threads take turns.
#include "core/threads.h"

#include <cxxabi.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <new>
#include <thread>

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
  return std::min(usable_cores(), max_threads);
}

std::atomic<int> wanted_count{0};  // 0: not asked yet

// What who runs a loop and one thread tell each other, on a line of the cache that nobody else needs: that there is a
// loop, that it is done, and the parts of it that the thread begins with, so that in the next loop over as many
// elements it finds its own in its caches.
struct alignas(64) Seat {
  enum State : std::uint32_t { idle, offered, taken, awaited };
  Awaited state;
  // The loop, the next part and the end of them, in one number: who looks may still see those of an earlier loop.
  std::atomic<std::uint64_t> parts{0};

  static std::uint64_t pack(std::uint32_t loop, std::int64_t next, std::int64_t end) noexcept {
    return std::uint64_t{loop} << 32 | static_cast<std::uint64_t>(next) << 16 | static_cast<std::uint64_t>(end);
  }
  // Takes a part, and returns its number or -1. The last one is left to the thread whose it is if that is at work: it
  // will come to it, and has the elements at hand.
  std::int64_t take(std::uint32_t loop, bool is_own) noexcept {
    std::uint64_t seen = parts.load(std::memory_order_relaxed);
    for (;;) {
      std::uint64_t next = seen >> 16 & 0xFFFF, end = seen & 0xFFFF;
      if (seen >> 32 != loop || next >= end) return -1;
      if (!is_own && next + 1 == end && state.value.load(std::memory_order_relaxed) != offered) return -1;
      if (parts.compare_exchange_weak(seen, seen + (1 << 16), std::memory_order_relaxed))
        return static_cast<std::int64_t>(next);
    }
  }
};

struct Job {
  LoopBody body;
  std::int64_t n, part, parts;
  int threads;
  std::uint32_t number = 0;

  void work(Seat* seats, int seat) const noexcept {
    for (int i = 0; i < threads; ++i)
      for (std::int64_t at; (at = seats[(seat + i) % threads].take(number, i == 0)) >= 0;)
        body(at * part, std::min(n, at * part + part));
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

class Pool {
 public:
  // Runs a job; false if another one is running.
  bool run(Job& job) noexcept {
    std::unique_lock turn(turn_, std::try_to_lock);
    if (!turn) return false;
    start_missing(job.threads);
    job.number = ++number_;
    job_ = &job;
    for (int i = 0; i < job.threads; ++i) {
      auto at = [&](int seat) { return seat * job.parts / job.threads; };
      seats_[i].parts.store(Seat::pack(job.number, at(i), at(i + 1)), std::memory_order_relaxed);
      if (i > 0) seats_[i].state.value.store(Seat::offered, std::memory_order_release);
    }
    wake(job.threads);
    job.work(seats_, 0);
    withdraw(job.threads);
    return true;
  }

 private:
  // How many seats share a bell: as many as a call that wakes can tell apart.
  static constexpr int row = 32, rows = max_threads / row;
  // When so many were woken, it is for them to wake those behind their rows.
  static constexpr int enough = 16;

  // There may be fewer threads than are wanted: those that are there take the parts of the others.
  void start_missing(int threads) noexcept {
    try {
      for (; count_ < threads - 1; ++count_) std::thread([this, seat = count_ + 1] { serve(seat); }).detach();
    } catch (...) {}
  }

  // Takes back what no thread has taken, and waits for the others.
  void withdraw(int threads) noexcept {
    for (int i = 1; i < threads; ++i) {
      std::uint32_t seen = Seat::offered;
      auto& state = seats_[i].state.value;
      if (state.load(std::memory_order_relaxed) == seen) state.compare_exchange_strong(seen, Seat::idle);
    }
    int i = 1;
    auto are_done = [&] {
      while (i < threads && seats_[i].state.value.load(std::memory_order_acquire) == Seat::idle) ++i;
      return i == threads;
    };
    if (happens_soon(are_done)) return;
    for (; i < threads; ++i) {
      Awaited& state = seats_[i].state;
      std::uint32_t seen = Seat::taken;
      if (!state.value.compare_exchange_strong(seen, Seat::awaited)) continue;  // it is idle
      while (state.value == Seat::awaited) state.wait(Seat::awaited);
    }
  }

  // Wakes threads that are to help, a row of them at once, which takes a microsecond for each. A thread that is about
  // to sleep says so before it looks for a loop a last time, and who offers one does so before asking who sleeps:
  // whichever of the two comes first, by changing the number, the other one sees it. Who is woken is not asked again.
  void wake(int threads) noexcept {
    for (int first = 0, woken = 0; first < threads && woken < enough; first += row) {
      std::uint32_t wanted = ~std::uint32_t{0} >> (row - std::min(threads - first, row));
      std::uint32_t found = asleep_[first / row].fetch_and(~wanted) & wanted;
      if (!found) continue;
      Awaited& bell = bells_[first / row];
      ++bell.value;
      bell.wake(row, found);
      woken += std::popcount(found);
    }
  }

  // Returns when it was woken, also if the loop is over by then: the next one may come soon.
  void sleep(int number) noexcept {
    std::uint32_t bit = std::uint32_t{1} << number % row;
    Awaited& bell = bells_[number / row];
    std::uint32_t seen = bell.value;
    asleep_[number / row].fetch_or(bit);
    if (seats_[number].state.value == Seat::idle) bell.wait(seen, bit);
    asleep_[number / row].fetch_and(~bit);
  }

  // What exceptions need of a thread is made when it first throws, and where memory is short, as bad_alloc
  // finds it, the system ends the process. A thread that has it not does not help: its parts are taken by others.
  static bool may_throw() noexcept {
    // Of each small size one: freed, they stay with this thread, and nobody takes them before it throws.
    void* volatile some[32];
    bool found = true;
    for (std::size_t i = 0; i < std::size(some); ++i) {
      void* one = std::malloc(16 * (i + 1));
      some[i] = one;
      found &= one != nullptr;
    }
    for (void* one : some) std::free(one);
    if (!found) return false;
    [[maybe_unused]] void* volatile made = abi::__cxa_get_globals();  // unused, it would be left out
    return true;
  }

  void serve(int number) noexcept {
    while (!may_throw()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    Seat& seat = seats_[number];
    for (;;) {
      if (!happens_soon([&] { return seat.state.value.load(std::memory_order_relaxed) == Seat::offered; }))
        sleep(number);
      std::uint32_t seen = Seat::offered;
      if (!seat.state.value.compare_exchange_strong(seen, Seat::taken)) continue;
      const Job& job = *job_;  // which stays until this seat is idle
      if (job.threads > row) wake(job.threads);
      job.work(seats_, number);
      if (seat.state.value.exchange(Seat::idle) == Seat::awaited) seat.state.wake(1);
    }
  }

  std::mutex turn_;
  std::uint32_t number_ = 0;
  int count_ = 0;
  alignas(64) std::atomic<const Job*> job_{nullptr};
  alignas(64) std::atomic<std::uint32_t> asleep_[rows] = {};  // a bit for each seat
  alignas(64) Awaited bells_[rows];                           // on which they sleep
  Seat seats_[max_threads];
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

void parallel_for(std::int64_t n, std::int64_t grain, LoopBody body) noexcept {
  if (n <= 0) return;
  std::int64_t threads = n < 2 * grain ? 1 : std::min<std::int64_t>(thread_count(), n / grain);
  if (threads <= 1) return body(0, n);
  // Several parts per thread even out a busy core. Of elements, of which many are worth a thread,
  // they stay multiples of a cache line; of rows or tiles, few may be all there are.
  std::int64_t parts = std::min(threads * 4, n / grain), line = grain >= 1024 ? 1024 : 1;
  std::int64_t part = ((n + parts - 1) / parts + line - 1) / line * line;
  Job job{body, n, part, (n + part - 1) / part, static_cast<int>(threads)};
  Pool* helpers = pool();
  if (!helpers || !helpers->run(job)) body(0, n);
}

}  // namespace suanzi
