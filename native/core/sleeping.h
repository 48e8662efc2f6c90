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

  // Returns when the number is not `seen`, and now and then before.
  void wait(std::uint32_t seen) noexcept {
#if defined(__linux__)
    syscall(SYS_futex, &value, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
#else
    std::unique_lock lock(mutex_);
    if (value.load() == seen) changed_.wait(lock);
#endif
  }

  void wake(int count) noexcept {
#if defined(__linux__)
    syscall(SYS_futex, &value, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
#else
    {
      std::lock_guard lock(mutex_);
    }  // who has compared sleeps now
    for (int i = 0; i < count; ++i) changed_.notify_one();
#endif
  }

#if !defined(__linux__)
 private:
  std::mutex mutex_;
  std::condition_variable changed_;
#endif
};

}  // namespace suanzi
