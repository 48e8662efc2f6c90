// native/ops/linear_algebra/roots.h: 7.2.17.4: the triangular factor of a large real matrix (Cholesky) in panels, by
// suanzi's kernels where this processor has them.
//
// Blocks of columns, each once those before it were taken off. Every number is added up in an order that the shape
// alone determines: threads, which are at several blocks, and one, which is at one, give the same bits.
#pragma once

#include "ops/linear_algebra/panels.h"

namespace suanzi {

template <class T>
class PanelRoot {
 public:
  static constexpr std::int64_t high = panel_rows<T>;
  static constexpr std::int64_t largest = 8192;  // beyond, three times the memory is too much

  explicit PanelRoot(std::int64_t order)
      : n_(order), width_(order <= 1024 ? 32 : 128), blocks_((order + width_ - 1) / width_),
        panels_((order + high - 1) / high), apart_((order | 1) * high), step_(panels_ * high + 16) {}
  static bool is_wanted(std::int64_t order) { return order <= largest && wants_panels<T>(order); }

  std::size_t workspace() const {
    return sizeof(T) * static_cast<std::size_t>(panels_ * apart_ + panels_ * high * (step_ + 1)) + 64;
  }
  void begin_in(std::byte* memory) {
    auto address = reinterpret_cast<std::uintptr_t>(memory);
    a_ = reinterpret_cast<T*>((address + 63) / 64 * 64);
    left_ = a_ + panels_ * apart_;
    reciprocals_ = left_ + panels_ * high * step_;
  }

  // The factor of a matrix row by row, in place, of which one triangle is read, and the other one becomes 0. Returns
  // the order of the first minor that is not positive, or 0; then the matrix is as it was.
  int run(T* a, bool upper) {
    read(a, upper);
    bad_ = 0;
    if (std::int64_t workers = workers_for(n_, blocks_); workers > 1) {
      factorise_blocks(
          blocks_, blocks_, workers,
          [&](std::int64_t s) {
            if (!bad_) factorise(s);
          },
          [&](std::int64_t s, std::int64_t c) {
            if (!bad_)
              for (std::int64_t p = begin(c) / high; p < panels_; ++p) take_off(s, c, p);
          });
    } else {
      for (std::int64_t c = 0; c < blocks_ && !bad_; ++c) {
        for (std::int64_t p = begin(c) / high; p < panels_; ++p)
          for (std::int64_t s = 0; s < c; ++s) take_off(s, c, p);
        factorise(c);
      }
    }
    if (!bad_) write(a, upper);
    return bad_;
  }

 private:
  T* at(std::int64_t panel, std::int64_t column) const { return a_ + panel * apart_ + column * high; }
  T* left(std::int64_t row, std::int64_t column) const { return left_ + row * step_ + column; }
  std::int64_t begin(std::int64_t block) const { return block * width_; }
  std::int64_t end(std::int64_t block) const { return std::min(n_, (block + 1) * width_); }

  // Panels have the rows of a lower triangle, which are columns of an upper one.
  void read(const T* a, bool upper) {
    share_tasks(panels_, 2.0 * static_cast<double>(n_ * high), [&](std::int64_t p) {
      std::int64_t first = p * high, some = std::min(high, n_ - first);
      if (upper) k.pack(a + first * n_ + first, n_, n_ - first, some, at(p, first), apart_);
      else k.pack_rows(a + first * n_, n_, some, first + some, at(p, 0));
    });
  }
  void write(T* a, bool upper) const {
    share_tasks(panels_, 2.0 * static_cast<double>(n_ * high), [&](std::int64_t p) {
      for (std::int64_t i = p * high; i < std::min(n_, (p + 1) * high); ++i) {
        T* row = a + i * n_;
        if (upper) {
          k.unpack(at(p, i), apart_, n_ - p * high, 1, row + p * high, 0);
          std::fill_n(row, i, T{0});
        } else {
          std::transform(left(i, 0), left(i, i), row, std::negate<T>{});
          row[i] = at(p, i)[i - p * high];
          std::fill(row + i + 1, row + n_, T{0});
        }
      }
    });
  }

  // Takes the products of block s off a panel of block c, as far as its rows reach.
  void take_off(std::int64_t s, std::int64_t c, std::int64_t p) {
    std::int64_t columns = std::min(end(c), (p + 1) * high) - begin(c);
    k.add(left(begin(c), begin(s)), step_, at(p, begin(s)), high, at(p, begin(c)), high, columns, width_);
  }

  void factorise(std::int64_t block) {
    std::int64_t begin = this->begin(block);
    for (std::int64_t first = begin; first < end(block); first += high) {
      std::int64_t top = first / high, count = std::min(high, n_ - first);
      if (first > begin)
        for (std::int64_t p = top; p < panels_; ++p)
          k.add(left(first, begin), step_, at(p, begin), high, at(p, first), high, count, first - begin);
      T* reciprocals = reciprocals_ + first;
      if (int found = k.take_root(at(top, first), count, reciprocals, left(first, first), step_)) {
        bad_ = static_cast<int>(first) + found;
        return;
      }
      for (std::int64_t p = top + 1; p < panels_; ++p)
        k.solve_root(left(first, first), step_, reciprocals, count, at(p, first), left(p * high, first));
    }
  }

  const FactorKernels<T>& k = *factor_kernels<T>();
  std::int64_t n_, width_, blocks_, panels_, apart_, step_;
  T *a_ = nullptr, *left_ = nullptr, *reciprocals_ = nullptr;
  std::atomic<int> bad_{0};
};

}  // namespace suanzi
