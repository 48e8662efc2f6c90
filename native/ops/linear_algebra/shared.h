// native/ops/linear_algebra/shared.h: 7.2.17.3, 7.2.17.7, 7.2.17.9: LU of one large matrix, and what it solves, shared
// among threads.
//
// LAPACK factorises panels, and BLAS, on one thread for each part, the rest. Parts depend on the shape and on how many
// processors the machine has, and not on the number of threads, so that results do not, either.
#pragma once

#include "ops/linear_algebra/panels.h"

namespace suanzi {

// Above this order. Below, one thread needs a tenth of a millisecond.
inline constexpr std::int64_t shared_order = 128;

inline bool is_shared(std::int64_t order) { return order > shared_order && loaded_provider().has_blas; }
template <class T>
Threads threads_of(std::int64_t order) {
  return is_shared(order) || wants_panels<T>(order) ? Threads::of_ours : Threads::of_lapack;
}

// Columns in equal strips, as many as there are processors if they are wide enough, or so many times as many.
class Strips {
 public:
  Strips(std::int64_t begin, std::int64_t end, std::int64_t times = 1) : begin_(begin), width_(end - begin) {
    // Each strip has the matrix next to it packed once more: two cost 2 percent, four of them 6.
    std::int64_t least = processor_count() > 4 ? 64 : 32;
    std::int64_t wanted = times * std::clamp<std::int64_t>(width_ / least, 1, processor_count());
    each_ = ((width_ + wanted - 1) / wanted + 7) / 8 * 8;
  }
  std::int64_t count() const { return (width_ + each_ - 1) / each_; }
  // Calls body(first, count) for a strip.
  void run(std::int64_t i, FunctionRef<void(int, int)> body) const {
    body(static_cast<int>(begin_ + i * each_), static_cast<int>(std::min(each_, width_ - i * each_)));
  }

 private:
  std::int64_t begin_, width_, each_;
};

// Calls body(i) for each task, on several threads if all are worth it.
inline void for_each_task(std::int64_t count, double operations, bool shares, FunctionRef<void(std::int64_t)> body) {
  constexpr double worth_it = 200000;  // about 4 per ns
  auto run = [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) body(i);
  };
  if (shares && operations >= worth_it) parallel_for(count, 1, run);
  else run(0, count);
}

// Calls body(first, count) for strips of columns.
inline void for_each_strip(std::int64_t begin, std::int64_t end, double operations, bool shares,
                           FunctionRef<void(int, int)> body) {
  Strips strips(begin, end);
  for_each_task(strips.count(), operations, shares, [&](std::int64_t i) { strips.run(i, body); });
}

// The LU of a matrix column by column, in place, as getrf has it: half of the columns, what they make of the others,
// and the other half.
template <class T>
class SharedLu {
 public:
  SharedLu(T* a, std::int64_t rows, std::int64_t columns, int* swaps)
      : a_(a), rows_(static_cast<int>(rows)), columns_(static_cast<int>(columns)), swaps_(swaps),
        shares_(may_call_at_once()) {}

  // What getrf says of it: the first pivot that is 0, counted from 1, or 0.
  int run() {
    int rank = std::min(rows_, columns_);
    factorise(0, rank);
    if (rank < columns_) update(0, rank, rank, columns_);
    return info_;
  }

 private:
  static constexpr int panel = 48;  // as measured: from 32 to 64 are within 2 percent

  T* at(int row, int column) const { return a_ + static_cast<std::int64_t>(column) * rows_ + row; }

  void factorise(int first, int last) {
    int width = last - first;
    if (width <= panel) return factorise_panel(first, width);
    int middle = first + std::max(panel, (width / 2 + 15) / 16 * 16);
    factorise(first, middle);
    update(first, middle, middle, last);
    factorise(middle, last);
    for_each_strip(first, middle, 4.0 * width * width, shares_,
                   [&](int column, int count) { exchange(column, count, middle, last); });
  }

  void factorise_panel(int first, int width) {
    int rows = rows_ - first, info = 0;
    call_lapack<T>(Lapack::getrf, &rows, &width, at(first, first), &rows_, swaps_ + first, &info);
    if (info > 0 && !info_) info_ = info + first;
    for (int i = first; i < first + width; ++i) swaps_[i] += first;
  }

  // Exchanges rows of some columns, as was done to the columns from `first` to `last`.
  void exchange(int column, int count, int first, int last) const {
    for (int c = column; c < column + count; ++c) {
      T* x = at(0, c);
      for (int i = first; i < last; ++i) std::swap(x[i], x[swaps_[i] - 1]);
    }
  }

  // What the factors of the columns from `first` to `last` make of those from `begin` to `end`.
  void update(int first, int last, int begin, int end) const {
    double products = static_cast<double>(last - first) * (rows_ - first) * (end - begin);
    for_each_strip(begin, end, products, shares_, [&](int column, int count) {
      exchange(column, count, first, last);
      int depth = last - first, below = rows_ - last, info = 0;
      char lower = 'L', plain = 'N', unit = 'U';
      call_lapack<T>(Lapack::trtrs, &lower, &plain, &unit, &depth, &count, at(first, first), &rows_, at(first, column),
                     &rows_, &info);
      if (below > 0)
        multiply_add('N', T{-1}, at(last, first), rows_, at(first, column), rows_, T{1}, at(last, column), rows_, below,
                     count, depth);
    });
  }

  T* a_;
  int rows_, columns_;
  int* swaps_;
  bool shares_;
  int info_ = 0;
};

// The LU of a matrix, column by column, in place; returns what getrf does.
template <class T>
int factorise_lu(T* a, std::int64_t rows, std::int64_t columns, int* swaps) {
  if (is_shared(std::min(rows, columns))) return SharedLu<T>(a, rows, columns, swaps).run();
  int m = static_cast<int>(rows), n = static_cast<int>(columns), info = 0;
  call_lapack<T>(Lapack::getrf, &m, &n, a, &m, swaps, &info);
  return info;
}

// Solves equations of a factorised matrix, right-hand sides being columns, in place.
template <class T>
void solve_factorised(char trans, T* lu, int n, int* swaps, T* sides, int width) {
  auto some = [&](int column, int count) {
    int info = 0;
    call_lapack<T>(Lapack::getrs, &trans, &n, &count, lu, &n, swaps, sides + static_cast<std::int64_t>(column) * n, &n,
                   &info);
  };
  if (is_shared(n)) for_each_strip(0, width, 2.0 * n * n * width, may_call_at_once(), some);
  else some(0, width);
}

// The inverse of a factorised matrix, which is that of U, times that of L, with the columns exchanged back.
template <class T>
void invert_factorised(T* lu, int n, const int* swaps, T* inverse) {
  std::fill_n(inverse, static_cast<std::int64_t>(n) * n, T{});
  auto at = [n](T* x, int row, int column) { return x + static_cast<std::int64_t>(column) * n + row; };
  auto invert = [&](int column, int count) {
    for (int i = 0; i < count; ++i) *at(inverse, column + i, column + i) = T{1};
    char lower = 'L', upper = 'U', plain = 'N', unit = 'U', any = 'N';
    int order = n, below = n - column, info = 0;  // what is above the diagonal of L's inverse is 0
    call_lapack<T>(Lapack::trtrs, &lower, &plain, &unit, &below, &count, at(lu, column, column), &order,
                   at(inverse, column, column), &order, &info);
    call_lapack<T>(Lapack::trtrs, &upper, &plain, &any, &order, &count, lu, &order, at(inverse, 0, column), &order,
                   &info);
  };
  // The first strips have most to do, and the last ones least: one of each is a task, but where there are many
  // processors, as each strip has BLAS pack both triangles once more (a Xeon with 16, one thread: 16 strips of 512
  // columns took 1.7 times as long as getri).
  bool pairs = processor_count() <= 4;
  Strips strips(0, n, pairs ? 2 : 1);
  std::int64_t last = strips.count() - 1;
  for_each_task(pairs ? last / 2 + 1 : last + 1, 1.3 * n * n * n, may_call_at_once(), [&](std::int64_t i) {
    strips.run(i, invert);
    if (pairs && last - i != i) strips.run(last - i, invert);
  });
  for (int j = n - 1; j >= 0; --j)
    if (int other = swaps[j] - 1; other != j)
      std::swap_ranges(at(inverse, 0, j), at(inverse, 0, j) + n, at(inverse, 0, other));
}

}  // namespace suanzi
