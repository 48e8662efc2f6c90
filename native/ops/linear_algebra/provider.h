// native/ops/linear_algebra/provider.h: 7.2.17: the library that BLAS and LAPACK come from.
#pragma once

#include "core/python.h"
#include "core/room.h"
#include "kernels/linear_algebra/products.h"

namespace suanzi {

enum class Lapack : std::uint8_t { getrf, getrs, getri, potrf, geqrf, orgqr, ormqr, trtrs, trcon, gesdd, geev, syevd };
inline constexpr std::size_t lapack_count = 12;

// OpenBLAS multiplies with threads from 2^18 multiplications on.
inline constexpr double single_work = 1 << 17;

// A library once it is loaded, which it stays: calls that run keep the one they began with. Its functions are those of
// Fortran, everything by address, with integers of 32 bits; each for float32, float64, complex64 and complex128.
struct Provider {
  std::string name;
  void* gemm[4] = {};
  void* lapack[lapack_count][4] = {};
  bool has_blas = false, has_lapack = false;  // all of them
  Library library = Library::scipy;

  // The rest is called with the GIL, but for `multiply`.
  //
  // While products run, BLAS must not use threads of its own: they would be too many, and would have a say in the order
  // of summation. False where memory is too short: then nothing has begun. Without `keeps_single`, BLAS is left
  // as it is, for what it computes on one thread anyway: to set the number takes as long as a small product.
  bool begin(bool keeps_single = true);
  void end(bool keeps_single = true);
  // Gives a library that nobody else uses as many threads as we have.
  void use_threads();

  // c = a b on the calling thread. Each matrix is dense along its rows or along its columns, and all that is counted
  // fits an int.
  void multiply(Sum sum, const Matrix& a, const Matrix& b, std::byte* c, std::int64_t c_row, std::int64_t m,
                std::int64_t n, std::int64_t k) const noexcept;

  // How it is kept on one thread: by functions of its own, or by one of Python's, which is called with True before
  // products, and with False after them.
  int (*get_threads)() = nullptr;
  void (*set_threads)(int) = nullptr;
  PyObject* limit = nullptr;
  int running = 0, threads_before = 1;
};

// The one in use, which Python loads the first time; null where there is none, or no memory for it. With the GIL.
Provider* provider();
// The same where it was loaded before, without the GIL.
const Provider& loaded_provider() noexcept;

}  // namespace suanzi
