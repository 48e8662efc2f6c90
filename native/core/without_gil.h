// native/core/without_gil.h: long loops run without the GIL, over memory that is kept alive meanwhile.
#pragma once

#include "core/function_ref.h"
#include "core/rules.h"
#include "core/tensor.h"

namespace suanzi {

// Elements from which on a loop is long enough to let other Python threads run.
inline constexpr std::int64_t long_loop = 1 << 15;

// Takes the GIL back after PyEval_SaveThread. Never returns, nor unwinds, once Python is shutting down.
void take_gil(PyThreadState* state) noexcept;
// Calls body(argument) with the GIL, from any thread; does nothing once Python has shut down.
void run_with_gil(void (*body)(void*), void* argument) noexcept;
// Waits until the process ends.
[[noreturn]] void wait_for_exit() noexcept;

// Keeps the memory of a tensor alive.
class Kept {
 public:
  explicit Kept(const Tensor& t) : storage_(t.storage) { storage_->retain(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { release_storage(storage_); }

 private:
  Storage* storage_;
};

// Runs a body without the GIL. Other threads may destroy tensors meanwhile: the memory in `kept` stays alive. Nulls
// are skipped.
void run_without_gil(Storage* const* kept, int count, FunctionRef<void()> body);

// Runs a loop of `size` elements over some tensors, without the GIL if it is long.
template <std::size_t n>
void run_over(std::int64_t size, const Tensor* const (&tensors)[n], FunctionRef<void()> body) {
  if (size < long_loop) return body();
  Storage* kept[n];
  for (std::size_t i = 0; i < n; ++i) kept[i] = tensors[i]->storage;
  run_without_gil(kept, static_cast<int>(n), body);
}

// The same where the loop reads no tensor that others may destroy.
inline void run_over(std::int64_t size, FunctionRef<void()> body) {
  if (size < long_loop) return body();
  run_without_gil(nullptr, 0, body);
}

}  // namespace suanzi
