// native/core/sleeping.h: a number that threads sleep on until it is another one.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#else
#include <condition_variable>
#include <mutex>
#endif

namespace suanzi {

// Who changes it, wakes those that sleep. One that is about to sleep, and is not counted yet, sees the change instead:
// the system compares before it lets a thread sleep.
class Awaited {
 public:
  std::atomic<std::uint32_t> value{0};
  static constexpr std::uint32_t anyone = ~std::uint32_t{0};

  // Returns when the number is not `seen`, and now and then before. Who wakes may choose by the bits of `who`.
  void wait(std::uint32_t seen, std::uint32_t who = anyone) noexcept {
#if defined(__linux__)
    syscall(SYS_futex, &value, FUTEX_WAIT_BITSET_PRIVATE, seen, nullptr, nullptr, who);
#else
    (void)who;
    std::unique_lock lock(mutex_);
    if (value.load() == seen) changed_.wait(lock);
#endif
  }

  // Wakes so many that have one of these bits; on other systems, all.
  void wake(int count, std::uint32_t whom = anyone) noexcept {
#if defined(__linux__)
    syscall(SYS_futex, &value, FUTEX_WAKE_BITSET_PRIVATE, count, nullptr, nullptr, whom);
#else
    (void)count, (void)whom;
    { std::lock_guard lock(mutex_); }  // who has compared sleeps now
    changed_.notify_all();
#endif
  }

#if !defined(__linux__)
 private:
  std::mutex mutex_;
  std::condition_variable changed_;
#endif
};

}  // namespace suanzi
