// native/ops/linear_algebra/panels.h: 7.2.17.3, 7.2.17.7, 7.2.17.9: LU of a large real matrix in panels, what it
// solves, and its inverse, by suanzi's kernels where this processor has them.
//
// Halves of columns, recursively, so that nearly all is products of large blocks. Every number is added up in an order
// that the shape alone determines, so that neither threads nor the strips of columns that they share change a bit.
#pragma once

#include <numeric>

#include "kernels/kernels.h"
#include "kernels/linear_algebra/products_tiles.h"
#include "ops/linear_algebra/lapack.h"

namespace suanzi {

// The kernels for a type, or null.
template <class T>
const FactorKernels<T>* factor_kernels() {
#if defined(SUANZI_X86_LEVELS)
  if constexpr (!is_complex<T>)
    if (kernels().products->tiles) {
      if constexpr (sizeof(T) == 4) return &avx512_factor_kernels().f32;
      else return &avx512_factor_kernels().f64;
    }
#endif
  return nullptr;
}

// Above this order; below, LAPACK is as fast.
inline constexpr std::int64_t panels_order = 24;

// A library that was chosen computes by itself.
template <class T>
bool wants_panels(std::int64_t order) {
  return order > panels_order && loaded_provider().library == Library::scipy && factor_kernels<T>();
}

// Up to so many columns, and so many blocks of them, all threads work through blocks of columns; beyond, they share
// each step of a recursion, whose products are larger.
inline constexpr std::int64_t most_columns = 1024, most_blocks = 2 * most_columns / 16 + 1;

// How many threads are of use.
inline std::int64_t workers_for(std::int64_t columns, std::int64_t blocks) {
  return columns < 192 ? 1 : std::min<std::int64_t>(thread_count(), blocks * 3 / 4);
}

// Calls body(i) for each task, each of about so many products, on several threads if they are worth it.
inline void share_tasks(std::int64_t count, double products, FunctionRef<void(std::int64_t)> body) {
  constexpr double worth_a_thread = 1 << 18;  // about 20 per ns
  auto grain_of = static_cast<std::int64_t>(std::max(1.0, worth_a_thread / std::max(products, 1.0)));
  parallel_for(count, grain_of, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) body(i);
  });
}

// Factorises blocks of columns, the first `panels` of `blocks`: panel(s) for each, once update(s, c) was called for
// those before it, and update(s, c) for those behind. The next panel comes first, so that one thread is at it while
// others update. Tasks are taken in an order in which each comes after those that it waits for: any number of threads
// will do.
void factorise_blocks(std::int64_t panels, std::int64_t blocks, std::int64_t workers,
                      FunctionRef<void(std::int64_t)> panel, FunctionRef<void(std::int64_t, std::int64_t)> update);

// The largest of what body(i) gives; not finite if one is not.
template <class T>
T largest_of(std::int64_t count, double products, FunctionRef<T(std::int64_t)> body) {
  std::atomic<T> largest{0};
  share_tasks(count, products, [&](std::int64_t i) {
    T found = body(i), before = largest;
    while (!(found <= before) && std::isfinite(before) && !largest.compare_exchange_weak(before, found)) {}
  });
  return largest.load();
}

template <class T>
class PanelLu {
 public:
  static constexpr std::int64_t high = panel_rows<T>;

  // Of a matrix that has `sides` columns more, which are right-hand sides.
  PanelLu(std::int64_t rows, std::int64_t columns, std::int64_t sides = 0)
      : rows_(rows), columns_(columns), all_(columns + sides), rank_(std::min(rows, columns)),
        panels_((rows + high - 1) / high), apart_((all_ | 1) * high), step_(panels_ * high + gap) {}

  // Bytes of memory that begin_in takes.
  std::size_t workspace() const {
    return sizeof(T) * static_cast<std::size_t>(panels_ * apart_ + all_ * step_ + 3 * panels_ * high) +
           sizeof(int) * static_cast<std::size_t>(2 * rank_) + 64;
  }
  void begin_in(std::byte* memory) {
    auto address = reinterpret_cast<std::uintptr_t>(memory);
    a_ = reinterpret_cast<T*>((address + 63) / 64 * 64);
    left_ = a_ + panels_ * apart_;
    vectors_ = left_ + all_ * step_;
    swaps_ = reinterpret_cast<int*>(vectors_ + 3 * panels_ * high);
  }

  // From a matrix whose columns are dense, and back, with the pivots.
  void read(const T* from) {
    for_columns([&](std::int64_t column, std::int64_t count) {
      k.pack(from + column * rows_, rows_, rows_, count, at(0, column), apart_);
    });
  }
  void write(T* to) const {
    for_columns([&](std::int64_t column, std::int64_t count) {
      k.unpack(at(0, column), apart_, rows_, count, to + column * rows_, rows_);
    });
  }
  const int* swaps() const { return swaps_; }
  T pivot(std::int64_t j) const { return at(j / high, j)[j % high]; }
  // The largest sum of magnitudes in a row or in a column; not finite if an element is not.
  T largest_row() const {
    return largest_of<T>(panels_, static_cast<double>(columns_ * high),
                         [&](std::int64_t p) { return k.largest_row(at(p, 0), apart_, 1, columns_); });
  }
  T largest_column() const {
    return largest_of<T>((columns_ + 31) / 32, 32.0 * static_cast<double>(rows_), [&](std::int64_t i) {
      return k.largest_column(at(0, i * 32), apart_, panels_, std::min<std::int64_t>(32, columns_ - i * 32));
    });
  }

  // The first pivot that is 0, counted from 1, or 0.
  int factorise() {
    info_ = 0;
    if (columns_ <= most_columns) {
      factorise_blocks();
    } else {
      factorise(0, rank_);
      if (rank_ < columns_) update(0, rank_, rank_, columns_);
    }
    return info_;
  }

  // ---- of a square one -----

  // Right-hand sides and what solves them, in columns that are `step` apart.
  void read_side(std::int64_t side, const T* from) { k.pack(from, 0, rows_, 1, at(0, columns_ + side), apart_); }
  void write_side(std::int64_t side, T* to) const { k.unpack(at(0, columns_ + side), apart_, rows_, 1, to, 0); }
  // Solves for some of them.
  void solve(std::int64_t side, std::int64_t count) {
    update(0, rank_, columns_ + side, columns_ + side + count);
    for_each_strip(columns_ + side, columns_ + side + count, static_cast<double>(rank_ * rank_),
                   [&](std::int64_t column, std::int64_t some) { solve_upper(column, some); });
  }

  // Solves the equations of the transpose for one, in place.
  void solve_transposed(T* x) {
    T *y = vectors_, *z = y + panels_ * high;
    std::fill_n(y, 2 * panels_ * high, T{0});
    for (std::int64_t j = 0; j < rank_; ++j) y[j] = (x[j] - k.dot(at(0, j), apart_, y, j / high + 1)) / pivot(j);
    for (std::int64_t j = rank_ - 1; j >= 0; --j) {
      std::int64_t p = j / high;
      z[j] = y[j] - k.dot(at(p, j), apart_, z + p * high, panels_ - p);
    }
    std::copy_n(z, rank_, x);
    for (std::int64_t i = rank_ - 1; i >= 0; --i) std::swap(x[i], x[swaps_[i]]);
  }

  // The inverse, column by column; it takes the place of the factors. Returns the largest sum of magnitudes in a row.
  T invert(T* to) {
    for_columns(
        [&](std::int64_t column, std::int64_t count) { k.negate(a_, apart_, panels_, column, count, left_, step_); });
    T* reciprocals = vectors_;
    for (std::int64_t j = 0; j < rank_; ++j) reciprocals[j] = 1 / pivot(j);
    int* columns = swaps_ + rank_;
    std::iota(columns, columns + rank_, 0);
    for (std::int64_t j = rank_ - 1; j >= 0; --j) std::swap(columns[j], columns[swaps_[j]]);
    // As many panels at a time as share what they are multiplied by in the first-level cache.
    std::int64_t most = std::clamp<std::int64_t>((1 << 19) / (rank_ * high * std::int64_t{sizeof(T)}), 1, 4);
    std::int64_t each = std::clamp<std::int64_t>(panels_ / thread_count(), 1, most);
    std::int64_t tasks = (panels_ + each - 1) / each;
    return largest_of<T>(tasks, 0.67 * static_cast<double>(rank_ * rank_ * high * each), [&](std::int64_t i) {
      // The first ones have most to do, and the last ones least.
      std::int64_t first = (i % 2 ? tasks - 1 - i / 2 : i / 2) * each, count = std::min(each, panels_ - first);
      T* x = a_ + first * apart_;
      k.invert(left_, step_, reciprocals, rank_, first, count, x, apart_);
      for (std::int64_t j = 0; j < rank_; ++j)
        k.unpack(at(first, columns[j]), apart_, std::min(count * high, rank_ - first * high), 1,
                 to + j * rank_ + first * high, 0);
      return k.largest_row(x, apart_, count, columns_);
    });
  }

 private:
  static constexpr std::int64_t gap = 16;      // rows that are not a power of two apart
  static constexpr std::int64_t depth = 256;   // along which products are added up at a time
  static constexpr std::int64_t widest = 168;  // columns of a strip
  static constexpr std::int64_t narrowest = 28;

  using StripBody = FunctionRef<void(std::int64_t, std::int64_t)>;

  T* at(std::int64_t panel, std::int64_t column) const { return a_ + panel * apart_ + column * high; }

  // Calls body(column, count) for strips of columns, each column being worth so many products.
  void for_each_strip(std::int64_t begin, std::int64_t end, double products, StripBody body) const {
    std::int64_t count = end - begin, each = widest;
    if (products * static_cast<double>(count) > 1 << 20)
      each = std::clamp((count + thread_count() - 1) / thread_count(), narrowest, widest);
    each = (each + 13) / 14 * 14;
    share_tasks((count + each - 1) / each, products * static_cast<double>(each),
                [&](std::int64_t i) { body(begin + i * each, std::min(each, count - i * each)); });
  }

  // Calls body(column, count) for some columns at a time that are copied.
  void for_columns(StripBody body) const {
    constexpr std::int64_t some = 32;
    share_tasks((columns_ + some - 1) / some, 4.0 * static_cast<double>(some * rows_),
                [&](std::int64_t i) { body(i * some, std::min(some, columns_ - i * some)); });
  }

  void factorise_blocks() {
    constexpr std::int64_t width = 32;
    std::int64_t count = (rank_ + width - 1) / width, blocks = count + (columns_ - rank_ + width - 1) / width;
    auto begin = [&](std::int64_t c) { return c < count ? c * width : rank_ + (c - count) * width; };
    auto end = [&](std::int64_t c) { return std::min(begin(c) + width, c < count ? rank_ : columns_); };
    std::int64_t workers = workers_for(rank_, blocks);
    if (workers == 1) {  // the same in wider strips
      for (std::int64_t s = 0; s < count; ++s) {
        factorise(begin(s), end(s));
        for (std::int64_t column = end(s); column < columns_; column += widest)
          update_strip(begin(s), end(s), column, std::min(widest, columns_ - column));
      }
    } else {
      suanzi::factorise_blocks(
          count, blocks, workers, [&](std::int64_t s) { factorise(begin(s), end(s)); },
          [&](std::int64_t s, std::int64_t c) { update_strip(begin(s), end(s), begin(c), end(c) - begin(c)); });
    }
    // What was exchanged since is left.
    share_tasks(count - 1, 16.0 * static_cast<double>(width * rank_) / 2,
                [&](std::int64_t c) { k.exchange(a_, apart_, begin(c), width, end(c), rank_, swaps_); });
  }

  void factorise(std::int64_t first, std::int64_t last) {
    std::int64_t width = last - first;
    if (width <= narrow_columns) {
      int found = k.factorise(a_, apart_, panels_, first, width, swaps_);
      if (!info_) info_ = found;
      return;
    }
    std::int64_t multiple = width > high ? high : narrow_columns;
    std::int64_t middle = first + (width / 2 + multiple - 1) / multiple * multiple;
    factorise(first, middle);
    update(first, middle, middle, last);
    factorise(middle, last);
    for_each_strip(
        first, middle, 16.0 * static_cast<double>(last - middle),
        [&](std::int64_t column, std::int64_t count) { k.exchange(a_, apart_, column, count, middle, last, swaps_); });
  }

  // What the factors of the columns from `first` to `last` make of those from `begin` to `end`.
  void update(std::int64_t first, std::int64_t last, std::int64_t begin, std::int64_t end) {
    double products = static_cast<double>(last - first) * static_cast<double>(rows_ - (first + last) / 2 + 16);
    for_each_strip(begin, end, products,
                   [&](std::int64_t column, std::int64_t count) { update_strip(first, last, column, count); });
  }

  void update_strip(std::int64_t first, std::int64_t last, std::int64_t column, std::int64_t count) {
    k.exchange(a_, apart_, column, count, first, last, swaps_);
    std::int64_t p = first / high;
    for (; p * high < last; ++p) {
      std::int64_t top = std::max(first, p * high), bottom = std::min(last, (p + 1) * high);
      subtract(first, top, p, column, count);
      k.solve_lower(at(p, top), top - p * high, bottom - top, at(p, column), count, left_ + column * step_ + top,
                    step_);
    }
    for (std::int64_t from = first; from < last; from += depth)
      for (std::int64_t q = p; q < panels_; ++q) subtract(from, std::min(last, from + depth), q, column, count);
  }

  // Takes off a panel of some columns its columns from `first` to `last` times what was solved for these rows.
  void subtract(std::int64_t first, std::int64_t last, std::int64_t panel, std::int64_t column, std::int64_t count) {
    for (; first < last; first += depth)
      k.add(left_ + column * step_ + first, step_, at(panel, first), high, at(panel, column), high, count,
            std::min(depth, last - first));
  }

  void solve_upper(std::int64_t column, std::int64_t count) {
    for (std::int64_t p = panels_ - 1; p >= 0; --p) {
      subtract((p + 1) * high, rank_, p, column, count);
      k.solve_upper(at(p, p * high), std::min(high, rank_ - p * high), at(p, column), count,
                    left_ + column * step_ + p * high, step_);
    }
  }

  const FactorKernels<T>& k = *factor_kernels<T>();
  std::int64_t rows_, columns_, all_, rank_, panels_, apart_, step_;
  T *a_ = nullptr, *left_ = nullptr, *vectors_ = nullptr;
  int* swaps_ = nullptr;
  int info_ = 0;
};

// QR by blocks of reflections, each as one product of matrices (compact WY).
template <class T>
class PanelQr {
 public:
  static constexpr std::int64_t high = panel_rows<T>, square = high * high;

  // Q has `width` columns, or none.
  PanelQr(std::int64_t rows, std::int64_t columns, std::int64_t width)
      : rows_(rows), columns_(columns), rank_(std::min(rows, columns)), width_(width), all_(std::max(columns, width)),
        panels_((rows + high - 1) / high), blocks_((rank_ + high - 1) / high), apart_((all_ | 1) * high) {}

  std::size_t workspace() const {
    std::int64_t reflections = blocks_ * (2 * panels_ + 2) * square, rest = 2 * square + 2 * all_ * high;
    return sizeof(T) * static_cast<std::size_t>(panels_ * apart_ + reflections + rest) + 64;
  }
  void begin_in(std::byte* memory) {
    auto address = reinterpret_cast<std::uintptr_t>(memory);
    a_ = reinterpret_cast<T*>((address + 63) / 64 * 64);
    v_ = a_ + panels_ * apart_;
    t_ = v_ + blocks_ * panels_ * square;
    transposed_ = t_ + 2 * blocks_ * square;
    products_ = transposed_ + blocks_ * panels_ * square;
    left_ = products_ + 2 * square;
  }

  // From a matrix column by column to R, of `width` rows, column by column. False if it has to be computed with care.
  bool factorise(const T* from, std::int64_t width, T* r) {
    share_tasks((columns_ + 31) / 32, 128.0 * static_cast<double>(rows_), [&](std::int64_t i) {
      std::int64_t column = i * 32;
      k.pack(from + column * rows_, rows_, rows_, std::min<std::int64_t>(32, columns_ - column), at(0, column), apart_);
    });
    std::atomic<bool> good{true};
    auto panel = [&](std::int64_t b) {
      if (good && !factorise_block(b)) good = false;
    };
    std::int64_t blocks = blocks_ + (columns_ - rank_ + high - 1) / high, workers = workers_for(rank_, blocks);
    if (columns_ <= most_columns && workers > 1) {
      auto begin = [&](std::int64_t c) { return c < blocks_ ? c * high : rank_ + (c - blocks_) * high; };
      auto end = [&](std::int64_t c) { return std::min(begin(c) + high, c < blocks_ ? rank_ : columns_); };
      factorise_blocks(blocks_, blocks, workers, panel, [&](std::int64_t b, std::int64_t c) {
        if (good) apply_strip(b, t_rows(b), begin(c), end(c) - begin(c));
      });
    } else {
      for (std::int64_t b = 0; b < blocks_ && good; ++b) {
        panel(b);
        if (good) apply(b, t_rows(b), std::min(rank_, (b + 1) * high), columns_);
      }
    }
    if (!good) return false;
    share_tasks((columns_ + 31) / 32, 64.0 * static_cast<double>(width), [&](std::int64_t i) {
      for (std::int64_t j = i * 32; j < std::min(columns_, i * 32 + 32); ++j) {
        std::int64_t filled = std::min(j + 1, rank_);
        k.unpack(at(0, j), apart_, filled, 1, r + j * width, 0);
        std::fill(r + j * width + filled, r + (j + 1) * width, T{0});
      }
    });
    return true;
  }

  // Q, column by column, once R has been made.
  void make_q(T* q) {
    share_tasks(panels_, 4.0 * static_cast<double>(width_ * high), [&](std::int64_t p) {
      std::fill_n(at(p, 0), width_ * high, T{0});
      for (std::int64_t i = p * high; i < std::min(width_, (p + 1) * high); ++i) at(p, i)[i - p * high] = 1;
    });
    // Columns have nothing to do with each other.
    constexpr std::int64_t some = 28;
    std::int64_t tasks = (width_ + some - 1) / some;
    share_tasks(tasks, static_cast<double>(rank_ * rows_ * some), [&](std::int64_t i) {
      std::int64_t column = (tasks - 1 - i) * some, count = std::min(some, width_ - column);  // the longest first
      for (std::int64_t b = std::min(blocks_, (column + count + high - 1) / high) - 1; b >= 0; --b)
        apply_strip(b, t_ + 2 * b * square, column, count);
      k.unpack(at(0, column), apart_, rows_, count, q + column * rows_, rows_);
    });
  }

 private:
  T* at(std::int64_t panel, std::int64_t column) const { return a_ + panel * apart_ + column * high; }
  T* reflections(std::int64_t block) const { return v_ + block * panels_ * square; }

  T* transposed(std::int64_t block) const { return transposed_ + block * panels_ * square; }
  T* t_rows(std::int64_t block) const { return t_ + (2 * block + 1) * square; }

  bool factorise_block(std::int64_t b) {
    std::int64_t first = b * high, count = std::min(high, rank_ - first);
    T* taus = products_ + square;
    std::fill_n(taus, high, T{0});
    if (!k.reflect(a_, apart_, panels_, first, count, taus)) return false;
    k.copy_reflections(at(b, 0), apart_, panels_ - b, first, count, reflections(b), transposed(b));
    std::fill_n(products_, square, T{0});
    for (std::int64_t p = 0; p < panels_ - b; ++p)
      k.add(reflections(b) + p * square, high, transposed(b) + p * square, high, products_, high, high, high);
    T *t = t_ + 2 * b * square, *rows = t_rows(b);
    k.join_reflections(products_, taus, t);
    for (std::int64_t i = 0; i < high; ++i)
      for (std::int64_t j = 0; j < high; ++j) rows[i * high + j] = t[j * high + i];
    return true;
  }

  // Applies a block to some columns: c += v (v* c)* t, t being row by row.
  void apply(std::int64_t block, const T* t, std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t some = 28;
    double products = 2.0 * static_cast<double>((panels_ - block) * square * some);
    share_tasks((end - begin + some - 1) / some, products, [&](std::int64_t i) {
      std::int64_t column = begin + i * some;
      apply_strip(block, t, column, std::min(some, end - column));
    });
  }

  void apply_strip(std::int64_t block, const T* t, std::int64_t column, std::int64_t count) {
    std::int64_t panels = panels_ - block;
    T *w = left_ + column * high, *y = left_ + (all_ + column) * high;
    std::fill_n(w, count * high, T{0});
    std::fill_n(y, count * high, T{0});
    for (std::int64_t p = 0; p < panels; ++p)
      k.add(at(block + p, column), high, transposed(block) + p * square, high, w, high, count, high);
    k.add(w, high, t, high, y, high, count, high);
    for (std::int64_t p = 0; p < panels; ++p)
      k.add(y, high, reflections(block) + p * square, high, at(block + p, column), high, count, high);
  }

  const FactorKernels<T>& k = *factor_kernels<T>();
  std::int64_t rows_, columns_, rank_, width_, all_, panels_, blocks_, apart_;
  T *a_ = nullptr, *v_ = nullptr, *t_ = nullptr, *transposed_ = nullptr, *products_ = nullptr, *left_ = nullptr;
};

}  // namespace suanzi
