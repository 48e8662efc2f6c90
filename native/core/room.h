// native/core/room.h: whether there is memory for what a library takes without asking.
#pragma once

#include <cstddef>

namespace suanzi {

// What OpenBLAS takes for each call that runs at the same time as others, and keeps.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr std::size_t blas_buffer = std::size_t{128} << 20;
#else
inline constexpr std::size_t blas_buffer = std::size_t{32} << 20;
#endif
// What a call takes besides: a deeper stack, and lists of what its threads do.
inline constexpr std::size_t call_room = std::size_t{16} << 20;

// What a thread of its takes besides, its stack above all.
inline constexpr std::size_t thread_room = std::size_t{8} << 20;

// Whether this process may run out of address space before the machine runs out of memory.
bool memory_is_limited() noexcept;
// Whether so many bytes are available; without a limit the system promises any number of them.
bool has_room(std::size_t bytes) noexcept;

// Makes the stack of the main thread deep enough for every kernel, where it can. The system lets it grow as it is
// used, and ends the process where a limit of address space is in the way; other threads have all of theirs at once.
void deepen_stack() noexcept;

// Which OpenBLAS, `own` one that only we use: each has buffers and threads of its own.
enum class Library { scipy, own };
// Whether there is room for a call of it; `alone` says that no other call runs.
bool has_call_room(Library library, bool alone) noexcept;

}  // namespace suanzi
