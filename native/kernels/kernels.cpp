// native/kernels/kernels.cpp: chooses the level of kernels: the best this machine has, or the one asked for.
#include "kernels/kernels.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace suanzi {

const Kernels& baseline_kernels() noexcept;
#if defined(SUANZI_X86_LEVELS)
const Kernels& avx2_kernels() noexcept;
const Kernels& avx512_kernels() noexcept;
#elif defined(SUANZI_ARM_LEVELS)
const Kernels& armv82_kernels() noexcept;
#endif

namespace {

std::atomic<const Kernels*> active{nullptr};

#if defined(SUANZI_ARM_LEVELS)
// Whether the processor computes in float16 and has dot products of bytes.
bool has_armv82() noexcept {
#if defined(__linux__)
  constexpr unsigned long wanted = HWCAP_ASIMDHP | HWCAP_FPHP | HWCAP_ASIMDDP;
  return (getauxval(AT_HWCAP) & wanted) == wanted;
#else
  return true;  // every Apple processor that macOS runs on
#endif
}
#endif

const Kernels* find(const char* level) noexcept {
  for (const Kernels* table : available_kernels())
    if (table && std::strcmp(table->level, level) == 0) return table;
  return nullptr;
}

const Kernels* choose() noexcept {
  const char* wanted = std::getenv("SUANZI_LEVEL");
  const Kernels* table = wanted ? find(wanted) : nullptr;
  return table ? table : available_kernels()[0];
}

}  // namespace

std::array<const Kernels*, 3> available_kernels() noexcept {
  std::array<const Kernels*, 3> found{};
  std::size_t count = 0;
#if defined(SUANZI_X86_LEVELS)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
    found[count++] = &avx512_kernels();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    found[count++] = &avx2_kernels();
#elif defined(SUANZI_ARM_LEVELS)
  if (has_armv82()) found[count++] = &armv82_kernels();
#endif
  found[count] = &baseline_kernels();
  return found;
}

const Kernels& kernels() noexcept {
  const Kernels* table = active.load(std::memory_order_relaxed);
  if (!table) {
    table = choose();
    active.store(table, std::memory_order_relaxed);
  }
  return *table;
}

bool use_kernels(const char* level) noexcept {
  const Kernels* table = find(level);
  if (table) active.store(table, std::memory_order_relaxed);
  return table != nullptr;
}

}  // namespace suanzi
