// native/kernels/linear_algebra/factors.h: 7.2.17.3, 7.2.17.5, 7.2.17.7, 7.2.17.9: the table of steps of factorisations
// of large real matrices.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// A matrix in panels of as many rows as two vectors have elements: element (i, j) is at (i / rows) apart + j rows +
// i % rows. What is below the last row is 0.
template <class T>
inline constexpr std::int64_t panel_rows = 128 / sizeof(T);

// The most columns that `factorise` takes.
inline constexpr std::int64_t narrow_columns = 8;

template <class T>
struct FactorKernels {
  // To panels from columns that are `step` apart, and back.
  void (*pack)(const T* from, std::int64_t step, std::int64_t rows, std::int64_t columns, T* to, std::int64_t apart);
  void (*unpack)(const T* from, std::int64_t apart, std::int64_t rows, std::int64_t columns, T* to, std::int64_t step);
  // The largest sum of magnitudes in a row or in a column; not finite if an element is not.
  T (*largest_row)(const T* a, std::int64_t apart, std::int64_t panels, std::int64_t columns);
  T (*largest_column)(const T* a, std::int64_t apart, std::int64_t panels, std::int64_t columns);
  // c[j] += left[j][0] right[0] + left[j][1] right[1] + ..., for `rows` of c, each of two vectors; steps are from row
  // to row.
  void (*add)(const T* left, std::int64_t left_step, const T* right, std::int64_t right_step, T* c, std::int64_t c_step,
              std::int64_t rows, std::int64_t depth);
  // LU of few columns from (first, first) on, in place, with the rows that were exchanged, in these columns alone.
  // Returns the first pivot that is 0, counted from 1, or 0.
  int (*factorise)(T* a, std::int64_t apart, std::int64_t panels, std::int64_t first, std::int64_t count, int* swaps);
  // Exchanges rows `first` to `last` and those in `swaps` in some columns.
  void (*exchange)(T* a, std::int64_t apart, std::int64_t column, std::int64_t count, std::int64_t first,
                   std::int64_t last, const int* swaps);
  // Solves L x = c for rows `top` to `top + high` of a panel of `count` columns, in place, which L, of unit diagonal,
  // begins at; rows below become what L leaves of them. Writes -x to `left`, too.
  void (*solve_lower)(const T* lower, std::int64_t top, std::int64_t high, T* c, std::int64_t count, T* left,
                      std::int64_t left_step);
  // Solves U x = c for the first `high` rows of a panel.
  void (*solve_upper)(const T* upper, std::int64_t high, T* c, std::int64_t count, T* left, std::int64_t left_step);
  // The sum of products of a column of panels and a vector.
  T (*dot)(const T* column, std::int64_t apart, const T* x, std::int64_t panels);
  // -a[i][j] at out[j step + i], for columns of a matrix in panels.
  void (*negate)(const T* a, std::int64_t apart, std::int64_t panels, std::int64_t column, std::int64_t count, T* out,
                 std::int64_t step);
  // Some panels of the inverse of L U, from what `negate` makes of it and the reciprocals of the pivots.
  void (*invert)(const T* left, std::int64_t step, const T* reciprocals, std::int64_t order, std::int64_t first,
                 std::int64_t count, T* x, std::int64_t apart);
  // QR of a block of at most panel_rows columns, from (first, first) on, in place: what is below the diagonal are
  // reflections 1 - tau v v*. False if squares of numbers do not tell how large these are; then nothing is of use.
  bool (*reflect)(T* a, std::int64_t apart, std::int64_t panels, std::int64_t first, std::int64_t count, T* taus);
  // The reflections of a block whose first panel `a` begins at, as columns of panels and as rows; what is missing is 0.
  void (*copy_reflections)(const T* a, std::int64_t apart, std::int64_t panels, std::int64_t first, std::int64_t count,
                           T* v, T* transposed);
  // -t, column by column, of which the reflections of a block are 1 - v t v*, from v* v.
  void (*join_reflections)(const T* products, const T* taus, T* t);
  // The root L (Cholesky) of a square of a panel, in place, its diagonal's reciprocals, and -L at left[i step + j].
  // Returns the first pivot that is not positive, counted from 1, or 0.
  int (*take_root)(T* a, std::int64_t count, T* reciprocals, T* left, std::int64_t step);
  // What is L's in a panel below: x of x L* = c, in place, from -L and the reciprocals; and -x at left[i step + j].
  void (*solve_root)(const T* root, std::int64_t step, const T* reciprocals, std::int64_t count, T* x, T* left);
  // To one panel from rows that are `step` apart.
  void (*pack_rows)(const T* from, std::int64_t step, std::int64_t rows, std::int64_t columns, T* to);
};

struct FactorTables {
  FactorKernels<float> f32;
  FactorKernels<double> f64;
};

}  // namespace suanzi
