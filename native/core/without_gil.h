// native/core/without_gil.h: long loops run without the GIL, over memory that is kept meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "core/rules.h"
#include "core/tensor.h"

namespace suanzi {

// Elements from which on a loop is long enough to let other Python threads run.
inline constexpr std::int64_t long_loop = 1 << 15;

// Keeps the memory of a tensor.
class Kept {
 public:
  explicit Kept(const Tensor& t) : storage_(t.storage) { storage_->retain(); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() { release_storage(storage_); }

 private:
  Storage* storage_;
};

// Runs a body without the GIL. Other threads may destroy tensors meanwhile, whose memory is kept;
// a null is passed over.
template <class F>
void run_without_gil(Storage* const* kept, int count, F&& body) {
  for (int i = 0; i < count; ++i)
    if (kept[i]) kept[i]->retain();
  SaturatingKept saturating;
  PyThreadState* state = PyEval_SaveThread();
  std::exception_ptr problem;
  try {
    body();
  } catch (...) {
    problem = std::current_exception();
  }
  // Where Python has ended meanwhile, this ends the thread: so it must not stand in a destructor.
  PyEval_RestoreThread(state);
  for (int i = 0; i < count; ++i)
    if (kept[i]) release_storage(kept[i]);
  if (problem) std::rethrow_exception(problem);
}

// Runs a loop of `size` elements over some tensors, without the GIL if it is long.
template <std::size_t n, class F>
void run_over(std::int64_t size, const Tensor* const (&tensors)[n], F&& body) {
  if (size < long_loop) return body();
  Storage* kept[n];
  for (std::size_t i = 0; i < n; ++i) kept[i] = tensors[i]->storage;
  run_without_gil(kept, static_cast<int>(n), body);
}

// The same where the loop reads no tensor that others may destroy.
template <class F>
void run_over(std::int64_t size, F&& body) {
  if (size < long_loop) return body();
  run_without_gil(nullptr, 0, body);
}

}  // namespace suanzi
