// native/core/without_gil.cpp: the only places where the GIL is taken.
//
// Up to Python 3.13, a thread that wants the GIL while Python is shutting down is ended by pthread_exit, and glibc
// unwinds its stack for that. Neither a noexcept function nor nanobind survives the unwinding. Asking first whether
// Python is shutting down is not enough, as it may begin a moment later; so the unwinding is caught here, and the
// thread waits for the process to end, as Python 3.14 lets it.
#include "core/without_gil.h"

#include <chrono>
#include <exception>
#include <thread>

namespace suanzi {

void wait_for_exit() noexcept {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void take_gil(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    wait_for_exit();
  }
}

void run_with_gil(void (*body)(void*), void* argument) noexcept {
  if (!Py_IsInitialized()) return;
  try {
    PyGILState_STATE state = PyGILState_Ensure();
    body(argument);
    PyGILState_Release(state);
  } catch (...) {
    wait_for_exit();
  }
}

void run_without_gil(Storage* const* kept, int count, FunctionRef<void()> body) {
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
  take_gil(state);
  for (int i = 0; i < count; ++i)
    if (kept[i]) release_storage(kept[i]);
  if (problem) std::rethrow_exception(problem);
}

}  // namespace suanzi
