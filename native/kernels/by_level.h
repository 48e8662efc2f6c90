// native/kernels/by_level.h: tables of kernels that few operators need, apart from the one that all of them see.
#pragma once

#include <cstring>

#include "kernels/kernels.h"

// Defines name(), which returns the table of the level in use: baseline_name() and, where there are such levels,
// avx2_name() and avx512_name().
#if defined(SUANZI_X86_LEVELS)
#define SUANZI_BY_LEVEL(Table, name)                                            \
  const Table& baseline_##name() noexcept;                                      \
  const Table& avx2_##name() noexcept;                                          \
  const Table& avx512_##name() noexcept;                                        \
  const Table& name() noexcept {                                                \
    const char* level = kernels().level;                                        \
    if (std::strcmp(level, "avx512") == 0) return avx512_##name();              \
    return std::strcmp(level, "avx2") == 0 ? avx2_##name() : baseline_##name(); \
  }
#else  // ARM's second level has nothing of its own here
#define SUANZI_BY_LEVEL(Table, name)       \
  const Table& baseline_##name() noexcept; \
  const Table& name() noexcept { return baseline_##name(); }
#endif
