// native/ops/linear_algebra/small.h: 7.2.17.3 to 7.2.17.9: small real matrices side by side, and LAPACK for those that
// need more care.
//
// Which of the two computes a matrix, its order and its elements decide alone, whatever else is in the batch.
#pragma once

#include <bit>

#include "core/without_gil.h"
#include "kernels/linear_algebra/small.h"
#include "ops/linear_algebra/lapack.h"

namespace suanzi {

template <class T>
const SmallKernels<T>& small_kernels_of() {
  if constexpr (sizeof(T) == 4) return small_kernels().f32;
  else return small_kernels().f64;
}

// Whether matrices are computed side by side.
inline bool are_small(const Matrices& x) {
  return std::max(x.rows, x.columns) <= small_order && (x.computed == Dtype::float32 || x.computed == Dtype::float64);
}

// Calls body(T{}) with the type that real numbers of a dtype are computed in.
template <class Body>
auto with_small_type(Dtype computed, Body&& body) {
  return computed == Dtype::float32 ? body(float{}) : body(double{});
}

// Matrices one behind the other, each row by row, in the dtype that is computed in: where they are, or a copy.
class Rows {
 public:
  explicit Rows(const Matrices& x) : data_(nullptr) {
    const Tensor& t = *x.tensor;
    if (!t.storage) return;
    if (t.row_major && t.dtype == x.computed) {
      kept_ = t.storage, data_ = t.data();
      kept_->retain();
    } else if (std::byte* to = copy_.take(x.computed, t.size); to && copy_by_rows(x, to)) {
      data_ = to;
    }
  }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
  ~Rows() {
    if (kept_) release_storage(kept_);
  }
  explicit operator bool() const { return data_ != nullptr; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }

 private:
  Scratch copy_;
  Storage* kept_ = nullptr;
  const std::byte* data_;
};

inline constexpr std::size_t most_lanes = 16;

// The first elements of matrices that lie one behind the other, from one of them on.
template <class T>
struct Places {
  T* at[most_lanes];
  Places(T* data, std::int64_t each, std::int64_t first, std::size_t count) {
    for (std::size_t l = 0; l < count; ++l) at[l] = data + (first + static_cast<std::int64_t>(l)) * each;
  }
};

// Runs some(first, count), which sets a bit for items that are good, over all items, each of about so many operations;
// then calls one(i, workspace), with LAPACK, for the verdict on each that is not good.
bool for_each_small(Outcome& outcome, std::int64_t count, std::int64_t lanes, std::int64_t order, double operations,
                    std::size_t workspace, FunctionRef<std::uint32_t(std::int64_t, std::size_t)> some,
                    FunctionRef<Verdict(std::int64_t, std::byte*)> one);

// Computes matrices in `data`, one behind the other, each row by row or column by column. Where `from` has the rows of
// small ones, kernel(from, first, count) computes them side by side, and sets a bit for good ones. For the others,
// which are copied to their place, one(i, a, workspace, again) gives the verdict; again(a) copies the matrix once more.
template <class T, class Kernel, class One>
bool compute_matrices(Outcome& outcome, const Matrices& x, const T* from, T* data, bool by_columns, double operations,
                      std::size_t workspace, Threads threads, Kernel&& kernel, One&& one) {
  std::int64_t each = x.rows * x.columns, order = std::max(x.rows, x.columns);
  auto compute = [&](std::int64_t i, std::byte* work) {
    auto again = [&](T* a) { copy_again(x, i, reinterpret_cast<std::byte*>(a), by_columns); };
    if (from) again(data + i * each);
    return one(i, data + i * each, work, again);
  };
  if constexpr (!is_complex<T>)
    if (from) {
      auto lanes = static_cast<std::int64_t>(small_kernels_of<T>().lanes);
      return for_each_small(
          outcome, x.count, lanes, order, operations, workspace,
          [&](std::int64_t first, std::size_t count) {
            return kernel(small_kernels_of<T>(), Places(from, each, first, count).at,
                          Places(data, each, first, count).at, first, count);
          },
          compute);
    }
  return for_each_matrix(outcome, x.count, order, operations, workspace, compute, threads);
}

// Calls run(from, data) for small matrices or for others, which were copied to `to`. False if there is no memory.
template <class Run>
bool with_matrices(const Matrices& x, std::byte* to, bool by_columns, Run&& run) {
  if (are_small(x)) {
    Rows rows(x);
    return rows && with_small_type(x.computed, [&]<class T>(T) { return run(rows.as<T>(), reinterpret_cast<T*>(to)); });
  }
  return (by_columns ? copy_by_columns(x, to) : copy_by_rows(x, to)) && with_lapack_type(x.computed, [&]<class T>(T) {
           return run(static_cast<const T*>(nullptr), reinterpret_cast<T*>(to));
         });
}

// A matrix of rows one behind the other, column by column.
template <class T>
void copy_to_columns(const T* from, std::int64_t m, std::int64_t n, T* to) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[j * m + i] = from[i * n + j];
}

}  // namespace suanzi
