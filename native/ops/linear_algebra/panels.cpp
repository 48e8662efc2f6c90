// native/ops/linear_algebra/panels.cpp: 7.2.17.3: the order in which threads factorise blocks of columns.
#include "ops/linear_algebra/panels.h"

#include <atomic>
#include <thread>

namespace suanzi {
namespace {

// Waits for another thread to be done with what it is at.
template <class Ready>
void await(Ready&& ready) {
  for (int i = 1; !ready(); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (i % 256 == 0) std::this_thread::yield();
  }
}

}  // namespace

void factorise_blocks(std::int64_t panels, std::int64_t blocks, std::int64_t workers,
                      FunctionRef<void(std::int64_t)> panel, FunctionRef<void(std::int64_t, std::int64_t)> update) {
  std::atomic<std::int64_t> next{0}, factorised{0}, updated[most_blocks];
  for (std::int64_t c = 0; c < blocks; ++c) updated[c].store(0, std::memory_order_relaxed);
  auto run_panel = [&](std::int64_t s) {
    await([&] { return updated[s].load(std::memory_order_acquire) == s; });
    panel(s);
    factorised.store(s + 1, std::memory_order_release);
  };
  auto run_update = [&](std::int64_t s, std::int64_t c) {
    await([&] {
      return factorised.load(std::memory_order_acquire) > s && updated[c].load(std::memory_order_acquire) == s;
    });
    update(s, c);
    updated[c].store(s + 1, std::memory_order_release);
  };
  auto run = [&](std::int64_t i) {
    if (i == 0) return run_panel(0), true;
    --i;
    for (std::int64_t s = 0; s < panels; ++s) {
      std::int64_t behind = blocks - s - 1, tasks = behind + (s + 1 < panels);
      if (i < tasks) {
        if (i == 1 && s + 1 < panels) run_panel(s + 1);
        else run_update(s, s + 1 + (i > 1 && s + 1 < panels ? i - 1 : i));
        return true;
      }
      i -= tasks;
    }
    return false;
  };
  parallel_for(workers, 1, [&](std::int64_t, std::int64_t) {
    while (run(next.fetch_add(1, std::memory_order_relaxed))) {}
  });
}

}  // namespace suanzi
