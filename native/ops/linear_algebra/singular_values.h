// native/ops/linear_algebra/singular_values.h: 7.2.17.6, 7.2.17.8: calls of LAPACK's gesdd, and its workspaces.
#pragma once

#include "ops/linear_algebra/lapack.h"

namespace suanzi {

// Workspaces that grow with the square of the order have fewer than 2^31 numbers up to here.
inline constexpr std::int64_t largest_order = 16000;

// The length of a workspace as LAPACK gives it; 0 if 32 bits do not hold it.
template <class T>
int length_of(T asked) {
  double found =
      std::ceil(static_cast<double>(std::real(asked)) * (1 + 0x1p-20));  // a float32 holds no large size exactly
  return found < 0x1p31 ? static_cast<int>(found) : 0;
}

// Calls gesdd; `parts` is only for complex numbers.
template <class T>
int call_gesdd(char job, int m, int n, T* a, Part<T>* s, T* u, T* vt, T* work, int length, Part<T>* parts,
               int* indices) {
  int info = 0, height = job == 'A' ? n : std::min(m, n);
  if constexpr (is_complex<T>)
    call_lapack<T>(Lapack::gesdd, &job, &m, &n, a, &m, s, u, &m, vt, &height, work, &length, parts, indices, &info);
  else call_lapack<T>(Lapack::gesdd, &job, &m, &n, a, &m, s, u, &m, vt, &height, work, &length, indices, &info);
  return info;
}

// How many numbers it wants to work with; 0 if too many.
template <class T>
int gesdd_length(char job, int m, int n) {
  T wanted{}, none{};
  Part<T> part{};
  int index = 0;
  bool good = call_gesdd<T>(job, m, n, &none, &part, &none, &none, &wanted, -1, &part, &index) == 0;
  return good ? length_of(wanted) : 0;
}

// How many real numbers it works with besides.
template <class T>
std::size_t gesdd_parts(char job, int m, int n) {
  auto small = static_cast<std::size_t>(std::min(m, n)), large = static_cast<std::size_t>(std::max(m, n));
  if (job == 'N') return is_complex<T> ? 7 * small + 1 : 0;
  return is_complex<T> ? std::max(5 * small * small + 5 * small, 2 * large * small + 2 * small * small + small) : 0;
}

}  // namespace suanzi
