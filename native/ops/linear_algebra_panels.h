// native/ops/linear_algebra_panels.h: 7.2.17.3, 7.2.17.7, 7.2.17.9: LU of a large real matrix in panels, what it
// solves, and its inverse, by kernels of our own where this processor has them.
//
// Halves of columns, recursively, so that nearly all is products of large blocks. Every number is added up in an order
// that the shape alone determines, so that neither threads nor the strips of columns that they share change a bit.
#pragma once

#include <numeric>

#include "kernels/kernels.h"
#include "kernels/linear_algebra_products_tiles.h"
#include "ops/linear_algebra_lapack.h"

namespace suanzi {

// The kernels for a type, or null.
template <class T>
const FactorKernels<T>* factor_kernels() {
#if defined(__x86_64__)
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

template <class T>
bool wants_panels(std::int64_t order) {
  return order > panels_order && factor_kernels<T>();
}

// Calls body(i) for each task, each of about so many products, on several threads if they are worth it.
template <class Body>
void share_tasks(std::int64_t count, double products, Body&& body) {
  constexpr double worth_a_thread = 1 << 18;  // about 20 per ns
  auto grain_of = static_cast<std::int64_t>(std::max(1.0, worth_a_thread / std::max(products, 1.0)));
  parallel_for(count, grain_of, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) body(i);
  });
}

// The largest of what body(i) gives; not finite if one is not.
template <class Body>
auto largest_of(std::int64_t count, double products, Body&& body) {
  using T = decltype(body(std::int64_t{0}));
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
        panels_((rows + high - 1) / high), apart_(all_ * high), step_(panels_ * high + gap) {}

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
    share_tasks(panels_, 4.0 * static_cast<double>(columns_ * high), [&](std::int64_t p) {
      k.pack(from + p * high, rows_, std::min(high, rows_ - p * high), columns_, a_ + p * apart_, apart_);
    });
  }
  void write(T* to) const {
    share_tasks(panels_, 4.0 * static_cast<double>(columns_ * high), [&](std::int64_t p) {
      k.unpack(a_ + p * apart_, apart_, std::min(high, rows_ - p * high), columns_, to + p * high, rows_);
    });
  }
  const int* swaps() const { return swaps_; }
  T pivot(std::int64_t j) const { return at(j / high, j)[j % high]; }
  // The largest sum of magnitudes in a row or in a column; not finite if an element is not.
  T largest_row() const {
    return largest_of(panels_, static_cast<double>(columns_ * high),
                      [&](std::int64_t p) { return k.largest_row(at(p, 0), apart_, 1, columns_); });
  }
  T largest_column() const {
    return largest_of((columns_ + 31) / 32, 32.0 * static_cast<double>(rows_), [&](std::int64_t i) {
      return k.largest_column(at(0, i * 32), apart_, panels_, std::min<std::int64_t>(32, columns_ - i * 32));
    });
  }

  // The first pivot that is 0, counted from 1, or 0.
  int factorise() {
    info_ = 0;
    factorise(0, rank_);
    if (rank_ < columns_) update(0, rank_, rank_, columns_);
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
    share_tasks((columns_ + 31) / 32, 32.0 * static_cast<double>(rows_), [&](std::int64_t i) {
      k.negate(a_, apart_, panels_, i * 32, std::min<std::int64_t>(32, columns_ - i * 32), left_, step_);
    });
    T* reciprocals = vectors_;
    for (std::int64_t j = 0; j < rank_; ++j) reciprocals[j] = 1 / pivot(j);
    int* columns = swaps_ + rank_;
    std::iota(columns, columns + rank_, 0);
    for (std::int64_t j = rank_ - 1; j >= 0; --j) std::swap(columns[j], columns[swaps_[j]]);
    // As many panels at a time as share what they are multiplied by in the first-level cache.
    std::int64_t most = std::clamp<std::int64_t>((1 << 19) / (rank_ * high * std::int64_t{sizeof(T)}), 1, 4);
    std::int64_t each = std::clamp<std::int64_t>(panels_ / thread_count(), 1, most);
    std::int64_t tasks = (panels_ + each - 1) / each;
    return largest_of(tasks, 0.67 * static_cast<double>(rank_ * rank_ * high * each), [&](std::int64_t i) {
      // The first ones have most to do, and the last ones least.
      std::int64_t first = (i % 2 ? tasks - 1 - i / 2 : i / 2) * each, count = std::min(each, panels_ - first);
      T* x = a_ + first * apart_;
      k.invert(left_, step_, reciprocals, rank_, first, count, x);
      for (std::int64_t p = first; p < first + count; ++p)
        for (std::int64_t j = 0; j < rank_; ++j)
          k.unpack(at(p, columns[j]), 0, std::min(high, rank_ - p * high), 1, to + j * rank_ + p * high, 0);
      return k.largest_row(x, apart_, count, columns_);
    });
  }

 private:
  static constexpr std::int64_t gap = 16;      // rows that are not a power of two apart
  static constexpr std::int64_t depth = 256;   // along which products are added up at a time
  static constexpr std::int64_t widest = 168;  // columns of a strip
  static constexpr std::int64_t narrowest = 28;

  T* at(std::int64_t panel, std::int64_t column) const { return a_ + panel * apart_ + column * high; }

  // Calls body(column, count) for strips of columns, each column being worth so many products.
  template <class Body>
  void for_each_strip(std::int64_t begin, std::int64_t end, double products, Body&& body) const {
    std::int64_t count = end - begin, each = widest;
    if (products * static_cast<double>(count) > 1 << 20)
      each = std::clamp((count + thread_count() - 1) / thread_count(), narrowest, widest);
    each = (each + 13) / 14 * 14;
    share_tasks((count + each - 1) / each, products * static_cast<double>(each),
                [&](std::int64_t i) { body(begin + i * each, std::min(each, count - i * each)); });
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
    for_each_strip(begin, end, products, [&](std::int64_t column, std::int64_t count) {
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
    });
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
        panels_((rows + high - 1) / high), blocks_((rank_ + high - 1) / high), apart_(all_ * high) {}

  std::size_t workspace() const {
    std::int64_t reflections = blocks_ * (panels_ + 2) * square, rest = (panels_ + 2) * square + 2 * all_ * high;
    return sizeof(T) * static_cast<std::size_t>(panels_ * apart_ + reflections + rest) + 64;
  }
  void begin_in(std::byte* memory) {
    auto address = reinterpret_cast<std::uintptr_t>(memory);
    a_ = reinterpret_cast<T*>((address + 63) / 64 * 64);
    v_ = a_ + panels_ * apart_;
    t_ = v_ + blocks_ * panels_ * square;
    transposed_ = t_ + 2 * blocks_ * square;
    products_ = transposed_ + panels_ * square;
    left_ = products_ + 2 * square;
  }

  // From a matrix column by column to R, of `width` rows, column by column. False if it has to be computed with care.
  bool factorise(const T* from, std::int64_t width, T* r) {
    share_tasks(panels_, 4.0 * static_cast<double>(columns_ * high), [&](std::int64_t p) {
      k.pack(from + p * high, rows_, std::min(high, rows_ - p * high), columns_, at(p, 0), apart_);
    });
    for (std::int64_t b = 0; b < blocks_; ++b) {
      std::int64_t first = b * high, count = std::min(high, rank_ - first);
      T* taus = products_ + square;
      std::fill_n(taus, high, T{0});
      if (!k.reflect(a_, apart_, panels_, first, count, taus)) return false;
      k.copy_reflections(at(b, 0), apart_, panels_ - b, first, count, reflections(b), transposed_);
      std::fill_n(products_, square, T{0});
      for (std::int64_t p = 0; p < panels_ - b; ++p)
        k.add(reflections(b) + p * square, high, transposed_ + p * square, high, products_, high, high, high);
      T *t = t_ + 2 * b * square, *rows = t + square;
      k.join_reflections(products_, taus, t);
      for (std::int64_t i = 0; i < high; ++i)
        for (std::int64_t j = 0; j < high; ++j) rows[i * high + j] = t[j * high + i];
      apply(b, rows, first + count, columns_);
    }
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
    for (std::int64_t b = blocks_ - 1; b >= 0; --b) {
      if (b < blocks_ - 1) {  // those of the last one are still there
        T* v = reflections(b);
        share_tasks(panels_ - b, 4.0 * square, [&](std::int64_t p) {
          for (std::int64_t c = 0; c < high; ++c)
            for (std::int64_t i = 0; i < high; ++i)
              transposed_[p * square + i * high + c] = v[p * square + c * high + i];
        });
      }
      apply(b, t_ + 2 * b * square, b * high, width_);
    }
    share_tasks(panels_, 4.0 * static_cast<double>(width_ * high), [&](std::int64_t p) {
      k.unpack(at(p, 0), apart_, std::min(high, rows_ - p * high), width_, q + p * high, rows_);
    });
  }

 private:
  T* at(std::int64_t panel, std::int64_t column) const { return a_ + panel * apart_ + column * high; }
  T* reflections(std::int64_t block) const { return v_ + block * panels_ * square; }

  // Applies a block, whose reflections are in transposed_, too, to some columns: c += v (v* c)* t, t being row by row.
  void apply(std::int64_t block, const T* t, std::int64_t begin, std::int64_t end) {
    std::int64_t panels = panels_ - block, count = end - begin;
    if (count <= 0) return;
    std::int64_t each = std::clamp<std::int64_t>((count + thread_count() - 1) / thread_count(), 14, 112);
    each = (each + 13) / 14 * 14;
    double products = 2.0 * static_cast<double>(panels * square * each);
    share_tasks((count + each - 1) / each, products, [&](std::int64_t i) {
      std::int64_t column = begin + i * each, some = std::min(each, end - column);
      T *w = left_ + column * high, *y = left_ + (all_ + column) * high;
      std::fill_n(w, some * high, T{0});
      std::fill_n(y, some * high, T{0});
      for (std::int64_t p = 0; p < panels; ++p)
        k.add(at(block + p, column), high, transposed_ + p * square, high, w, high, some, high);
      k.add(w, high, t, high, y, high, some, high);
      for (std::int64_t p = 0; p < panels; ++p)
        k.add(y, high, reflections(block) + p * square, high, at(block + p, column), high, some, high);
    });
  }

  const FactorKernels<T>& k = *factor_kernels<T>();
  std::int64_t rows_, columns_, rank_, width_, all_, panels_, blocks_, apart_;
  T *a_ = nullptr, *v_ = nullptr, *t_ = nullptr, *transposed_ = nullptr, *products_ = nullptr, *left_ = nullptr;
};

}  // namespace suanzi
