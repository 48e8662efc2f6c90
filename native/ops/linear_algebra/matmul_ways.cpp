// native/ops/linear_algebra/matmul_ways.cpp: 7.2.17.1, 7.2.17.2, 7.2.17.12: how each product is computed, in parts.
//
// Matrices of floats are multiplied in tiles where this processor has kernels for that, else by BLAS, which is given
// parts of the output that depend on the shape alone, each on one thread, so that the number of threads changes no
// result. Everything else is multiplied by suanzi's kernels, too: integers, what is small, and vectors.
#include "ops/linear_algebra/matmul_ways.h"

#include "loops/axes.h"
#include "loops/blocks.h"
#include "loops/copies.h"
#include "ops/linear_algebra/matmul_turned.h"
#include "ops/linear_algebra/provider.h"

namespace suanzi {

Way way_of(Dtype promoted, Dtype a, Dtype b, bool matrices) {
  if (facts(promoted).is_complex()) {
    if (promoted == Dtype::complex128) return {promoted, promoted, Sum::c128};
    return {Dtype::complex64, Dtype::complex64, Sum::c64};
  }
  if (facts(promoted).is_float()) {
    if (promoted == Dtype::float64) return {promoted, promoted, Sum::f64};
    return {Dtype::float32, Dtype::float32, Sum::f32};
  }
  const ProductKernels& own = *kernels().products;
  auto fits = [](Dtype x) { return x == Dtype::int8 || x == Dtype::uint8 || x == Dtype::int16 || x == Dtype::boolean; };
  if (facts(promoted).bits == 64) return {Dtype::int64, Dtype::int64, Sum::w64};
  if (matrices && a == b && (a == Dtype::int8 || a == Dtype::uint8))
    if (Multiply bytes = own.multiply_bytes[a == Dtype::uint8]) return {a, Dtype::int32, Sum::w32, bytes};
  if (matrices && fits(a) && fits(b)) return {Dtype::int16, Dtype::int32, Sum::w32, own.multiply_pairs};
  if (!matrices && facts(promoted).bits == 8) return {Dtype::int8, Dtype::int8, Sum::w8};
  if (facts(promoted).bits <= 16) return {Dtype::int16, Dtype::int16, Sum::w16};
  return {Dtype::int32, Dtype::int32, Sum::w32};
}

bool make_contiguous(Matrix& x, Dtype dtype, Dtype wanted, std::int64_t rows, std::int64_t columns, OwnMemory& memory) {
  auto from_item = static_cast<std::int64_t>(item(dtype)), to_item = static_cast<std::int64_t>(item(wanted));
  std::int64_t count, bytes;
  if (__builtin_mul_overflow(rows, columns, &count) || __builtin_mul_overflow(count, to_item, &bytes)) return false;
  std::byte* to = memory.take(bytes);
  if (!to) return false;
  const std::int64_t dims[] = {rows, columns}, strides[] = {x.row, x.column};
  if (count > 0) run_move(Move::to_dense(to, wanted, x.data, dtype, 2, dims, strides, from_item));
  x = {to, columns, 1};
  return true;
}

namespace {

class Multiplication : TurnedProducts {
 public:
  explicit Multiplication(const Product& product) noexcept : TurnedProducts(product) {}

  // False when there was no memory.
  bool run() noexcept {
    std::int64_t count = p.count();
    // Many products are shared among threads; the parts of a few large ones are.
    bool few = p.work() >= 1 << 24 && count < 2 * thread_count();
    shares_each_ = few || count == 1;
    if (few)
      for (std::int64_t i = 0; i < count; ++i) one(i);
    else for_each(count, p.work(), [&](std::int64_t i) { one(i); });
    return !failed_;
  }

 private:
  void one(std::int64_t number) noexcept {
    auto [at_a, at_b] = offsets_of(number, p.batch_ndim, p.batch, p.a.batch, p.b.batch);
    Matrix a{p.a.data + at_a * static_cast<std::int64_t>(item(p.a.dtype)), p.a.row, p.a.column};
    Matrix b{p.b.data + at_b * static_cast<std::int64_t>(item(p.b.dtype)), p.b.row, p.b.column};
    std::byte* out = p.out + number * p.m * p.n * out_item;
    if (is_direct_) own.multiply[lane](a, b, out, p.n, p.m, p.n, p.k, false);
    else if (p.is_of_matrices()) matrices(a, b, out);
    else if (p.n == 1) vector(a, p.a.dtype, p.m, Matrix{b.data, 0, b.row}, p.b.dtype, out);
    else vector(Matrix{b.data, b.column, b.row}, p.b.dtype, p.n, a, p.a.dtype, out);
  }

  // -- matrices

  // Whether BLAS takes a matrix as it lies.
  static bool suits_blas(const Matrix& x, std::int64_t rows, std::int64_t columns) noexcept {
    return (x.column == 1 && x.row >= columns && x.row <= INT_MAX) ||
           (x.row == 1 && x.column >= rows && x.column <= INT_MAX);
  }

  void matrices(Matrix a, Matrix b, std::byte* out) noexcept {
    OwnMemory dense_left, dense_right, left, right;  // in the order in which they are taken
    // Layouts with gaps are to give the bits of others.
    auto make_dense = [&](Matrix& x, std::int64_t rows, std::int64_t columns, OwnMemory& memory) {
      return x.column == 1 || x.row == 1 || make_contiguous(x, Dtype::bfloat16, Dtype::bfloat16, rows, columns, memory);
    };
    if (p.of_bf16 && (!make_dense(a, p.m, p.k, dense_left) || !make_dense(b, p.k, p.n, dense_right))) return fail();
    bool is_tried = p.of_bf16 && own.multiply_places && a.column == 1 && b.row == 1 && p.m <= most_places;
    if (is_tried && by_places(a, b, out)) return;
    bool is_direct = p.of_bf16 && !is_tried && keeps_small_numbers(a, b), in_tiles = !is_direct && p.by_tiles;
    // Whether an operand is not multiplied as it lies.
    auto is_copied = [&](const Matrix& x, Dtype dtype, std::int64_t rows, std::int64_t columns) {
      if (is_direct || (in_tiles && stored_as(dtype) != Stored::as_summed)) return false;
      return !same_bits(dtype, p.way.operand) || (p.blas && !suits_blas(x, rows, columns));
    };
    if (in_tiles && suits_turned(a, b)) return turned(a, b, out);
    Stored a_stored = stored_as(p.a.dtype), b_stored = stored_as(p.b.dtype);
    auto a_item = static_cast<std::int64_t>(item(p.a.dtype)), b_item = static_cast<std::int64_t>(item(p.b.dtype));
    if (is_copied(a, p.a.dtype, p.m, p.k)) {
      if (!make_contiguous(a, p.a.dtype, p.way.operand, p.m, p.k, left)) return fail();
      a_item = item_;
    }
    if (is_copied(b, p.b.dtype, p.k, p.n)) {
      if (!make_contiguous(b, p.b.dtype, p.way.operand, p.k, p.n, right)) return fail();
      b_item = item_;
    }
    bool blas_now = !is_direct && p.blas && suits_blas(a, p.m, p.k) && suits_blas(b, p.k, p.n);
    Multiply multiply = is_direct ? p.of_bf16 : p.way.own ? p.way.own : own.multiply[lane];
    if (in_tiles && suits_panels() && by_panels(a, a_stored, a_item, b, b_stored, b_item, out)) return;
    for_parts(in_tiles ? parts_in_tiles() : parts_of(blas_now), 0, p.n, true, out,
              [&](std::int64_t i0, std::int64_t j0, std::int64_t m, std::int64_t n, std::byte* c, std::int64_t c_row) {
                Matrix some{a.data + i0 * a.row * a_item, a.row, a.column};
                Matrix part{b.data + j0 * b.column * b_item, b.row, b.column};
                OwnMemory blocks;
                std::byte* memory = in_tiles ? blocks.take(tile_memory) : nullptr;
                if (in_tiles && !memory) return fail();
                if (p.k == 0)
                  for (std::int64_t r = 0; r < m; ++r)
                    std::memset(c + r * c_row * sum_item, 0, static_cast<std::size_t>(n * sum_item));
                else if (in_tiles) p.by_tiles(some, a_stored, part, b_stored, c, c_row, m, n, p.k, memory);
                else if (blas_now) p.blas->multiply(p.way.kernel, some, part, c, c_row, m, n, p.k);
                else multiply(some, part, c, c_row, m, n, p.k, false);
              });
  }

  struct Parts {
    std::int64_t rows, columns;
  };

  // Makes the sums of parts of `width` columns from `first` on by body(row, column, rows, columns, sums, sums in a
  // row), and stores them if nothing is to be added.
  template <class F>
  void for_parts(Parts parts, std::int64_t first, std::int64_t width, bool is_whole, std::byte* out,
                 F&& body) noexcept {
    std::int64_t rows = parts.rows, columns = parts.columns;
    std::int64_t across = (width + columns - 1) / columns, down = (p.m + rows - 1) / rows;
    double work = static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(p.k + 1);
    for_each(across * down, work, [&](std::int64_t i) {
      std::int64_t i0 = i / across * rows, j0 = first + i % across * columns;
      std::int64_t m = std::min(rows, p.m - i0), n = std::min(columns, first + width - j0);
      std::byte* to = out + (i0 * p.n + j0) * out_item;
      OwnMemory sums;
      std::byte* c = in_place ? to : sums.take(m * n * sum_item);
      if (!c) return fail();
      std::int64_t c_row = in_place ? p.n : n;
      body(i0, j0, m, n, c, c_row);
      if (!is_whole || (in_place && !p.bias)) return;
      const std::byte* bias = p.bias ? p.bias + j0 * sum_item : nullptr;
      bool at_once = !bias && n == p.n && c_row == n;  // rows without gaps between them are one
      std::int64_t lines = at_once ? 1 : m, length = at_once ? m * n : n;
      for (std::int64_t r = 0; r < lines; ++r)
        for (std::int64_t j = 0; j < length; j += widest_row)
          finish(c + (r * c_row + j) * sum_item, bias ? bias + j * sum_item : nullptr, false,
                 to + (r * p.n + j) * out_item, std::min(widest_row, length - j));
    });
  }

  // -- in panels: the right operand is copied once for all parts, some columns and blocks along k at a time

  // What one thread copies is to stay in the second-level cache until all rows have met it; threads wait for one
  // another after each copy.
  static constexpr std::int64_t own_panels = std::int64_t{1} << 20, shared_panels = std::int64_t{1} << 23;

  // Operands that the caches hold are read as they lie; those of many products come from memory.
  bool suits_panels() const noexcept {
    double least = p.count() >= 16 ? 1 << 21 : 1 << 26;
    return p.m >= least_panels && p.k >= 64 && p.k <= 1 << 16 && p.work() >= least;
  }

  // False when there was no memory for a copy.
  bool by_panels(const Matrix& a, Stored a_stored, std::int64_t a_item, const Matrix& b, Stored b_stored,
                 std::int64_t b_item, std::byte* out) noexcept {
    const TileKernels& tiles = *own.tiles;
    std::int64_t bytes = shares_each_ && thread_count() > 1 ? shared_panels : own_panels;
    constexpr std::int64_t least_columns = 256;
    // Sums that are not the result are there for one pass.
    std::int64_t deep = in_place ? round_up(bytes / (least_columns * sum_item * 4), block_depth) : p.k;
    deep = std::min(deep, p.k);
    std::int64_t most = std::max(least_columns, bytes / (deep * sum_item) / panel_columns * panel_columns);
    std::int64_t group = equal_part(p.n, std::min(most, p.n), panel_columns);
    OwnMemory copied;
    std::byte* panels = copied.take(deep * round_up(group, panel_columns) * sum_item);
    if (!panels) return false;
    for (std::int64_t first = 0; first < p.n; first += group)
      for (std::int64_t above = 0; above < p.k; above += deep) {
        std::int64_t n = std::min(group, p.n - first), width = round_up(n, panel_columns);
        std::int64_t k = std::min(deep, p.k - above);
        copy_panels(Matrix{b.data + (above * b.row + first * b.column) * b_item, b.row, b.column}, b_stored, b_item, n,
                    k, panels);
        for_parts(parts_in_panels(n), first, n, above + deep >= p.k, out,
                  [&](std::int64_t i0, std::int64_t j0, std::int64_t rows, std::int64_t columns, std::byte* c,
                      std::int64_t c_row) {
                    OwnMemory blocks;
                    std::byte* memory = blocks.take(tile_memory);
                    if (!memory) return fail();
                    Matrix some{a.data + (i0 * a.row + above * a.column) * a_item, a.row, a.column};
                    tiles.multiply_panels[lane](some, a_stored, Panels{panels, width, j0 - first}, c, c_row, rows,
                                                columns, k, above > 0, memory);
                  });
      }
    return true;
  }

  void copy_panels(const Matrix& b, Stored stored, std::int64_t b_item, std::int64_t n, std::int64_t depth,
                   std::byte* panels) const noexcept {
    constexpr std::int64_t strip = 4 * panel_columns;
    std::int64_t strips = (n + strip - 1) / strip, blocks = (depth + block_depth - 1) / block_depth;
    for_each(strips * blocks, static_cast<double>(strip * block_depth), [&](std::int64_t i) {
      std::int64_t p0 = i / strips * block_depth, j0 = i % strips * strip, deep = std::min(block_depth, depth - p0);
      Matrix from{b.data + (p0 * b.row + j0 * b.column) * b_item, b.row, b.column};
      own.tiles->pack_panels[lane](from, stored, std::min(strip, n - j0), deep,
                                   panels + (p0 * round_up(n, panel_columns) + j0 * deep) * sum_item);
    });
  }

  // As many parts as threads and some more, rows first: each part copies its rows of the left operand. Sums that are
  // not the result are to stay in the second-level cache.
  Parts parts_in_panels(std::int64_t n) const noexcept {
    constexpr std::int64_t tall = 14;
    Parts found{in_place ? p.m : equal_part(p.m, 256, tall), in_place ? n : equal_part(n, 256, panel_columns)};
    if (!shares_each_ || thread_count() == 1) return found;
    auto count = [&] { return (p.m + found.rows - 1) / found.rows * ((n + found.columns - 1) / found.columns); };
    std::int64_t wanted = 3 * thread_count();
    while (count() < wanted && found.rows > 8 * tall) found.rows = round_up(found.rows / 2, tall);
    while (count() < wanted && found.columns > 2 * panel_columns)
      found.columns = round_up(found.columns / 2, panel_columns);
    while (count() < wanted && found.rows > 2 * tall) found.rows = round_up(found.rows / 2, tall);
    return found;
  }

  // How an operand that is multiplied in tiles lies, if it need not be converted before.
  Stored stored_as(Dtype dtype) const noexcept {
    if (dtype == Dtype::complex32 && p.way.operand == Dtype::complex64) return Stored::float16;
    if (p.way.operand != Dtype::float32) return Stored::as_summed;
    if (dtype == Dtype::float16) return Stored::float16;
    return dtype == Dtype::bfloat16 ? Stored::bfloat16 : Stored::as_summed;
  }

  // As many parts as threads, if each is worth being shared, and some more of large ones, since processors are not
  // equally fast. What they are changes no bit.
  Parts parts_in_tiles() const noexcept {
    constexpr std::int64_t panel = 32;
    // Sums are to stay in the second-level cache where they are not the result, or blocks along k add to them.
    constexpr std::int64_t high = 384, deep = 256, bytes = std::int64_t{1} << 19;
    bool is_once = in_place && p.k <= deep;
    Parts found{is_once ? p.m : equal_part(p.m, in_place ? high : 256, 2), is_once ? p.n : equal_part(p.n, 256, panel)};
    if (in_place && !is_once)
      found.columns = std::min(round_up(p.n, panel), round_up(bytes / sum_item / found.rows, panel));
    if (!shares_each_) return found;
    double each = p.way.kernel >= Sum::c64 ? 4 : 1;
    auto is_worth_halving = [&] {
      std::int64_t count = (p.m + found.rows - 1) / found.rows * ((p.n + found.columns - 1) / found.columns);
      double work = each * static_cast<double>(found.rows) * static_cast<double>(found.columns * p.k);
      return (count < thread_count() && work >= 1 << 18) || (count < 4 * thread_count() && work >= 1 << 25);
    };
    while (thread_count() > 1 && is_worth_halving()) {
      if (found.columns > found.rows && found.columns > panel) found.columns = round_up(found.columns / 2, panel);
      else if (found.rows > 16) found.rows = round_up(found.rows / 2, 2);
      else break;
    }
    return found;
  }
  bool keeps_small_numbers(const Matrix& a, const Matrix& b) const noexcept {
    return keeps_small_bf16(smallest(a, p.m, p.k), smallest(b, p.k, p.n));
  }

  // The parts of the output that threads share. Nothing but the shape, the dtype and the machine has a say in what BLAS
  // computes, and how many threads there are has none.
  Parts parts_of(bool by_blas) const noexcept {
    // Those of suanzi's kernels may depend on threads: a result is summed along k whatever they are.
    if (!by_blas) return {equal_part(p.m, thread_count() == 1 ? 1024 : 256, 16), equal_part(p.n, 256, 16)};
    // As measured with OpenBLAS: what costs least against one call for all.
    bool f64 = p.way.kernel == Sum::f64;
    auto part = [f64](std::int64_t size, std::int64_t wanted) { return equal_part(size, wanted, f64 ? 8 : 16); };
    std::int64_t rows = f64 ? 512 : 1024, columns = f64 ? 1024 : 512;
    if (p.count() >= 16) rows = columns = 2048;  // there is enough to share
    Parts found{part(p.m, rows), part(p.n, columns)};
    auto count = [&] {
      return (p.m + found.rows - 1) / found.rows * ((p.n + found.columns - 1) / found.columns) * p.count();
    };
    double each = p.way.kernel >= Sum::c64 ? 4 : 1;  // a product of complex numbers is four
    auto work = [&] { return each * static_cast<double>(found.rows) * static_cast<double>(found.columns * p.k); };
    // As many as there are processors, if each is still worth a call.
    while (count() < processor_count() && work() >= 1 << 20) {
      std::int64_t rows_before = found.rows, columns_before = found.columns;
      if (found.rows > found.columns) found.rows = part(p.m, found.rows / 2);
      else found.columns = part(p.n, found.columns / 2);
      // The least part is 16, however long the sums are.
      if (found.rows == rows_before && found.columns == columns_before) break;
    }
    return found;
  }

  // -- vectors

  static constexpr std::int64_t block = 2048, chunk = 32 * block, group = 64;
  // Rows that a vector multiplies are added up in so many chunks at most, each of so many rows at least, whatever the
  // number of threads is; and so many bytes of sums at a time, which stay in the first-level cache.
  static constexpr std::int64_t most_chunks = 64, least_chunk = 256, widest_bytes = 16384;

  // out[i] = the product of row i of a matrix and a vector, whose elements are `column` apart.
  void vector(Matrix x, Dtype x_dtype, std::int64_t rows, Matrix v, Dtype v_dtype, std::byte* out) noexcept {
    // A block is all there is to add up, or the order has no say, and what is added up is the result.
    bool is_one_block = p.k <= block, is_exact = p.way.kernel < Sum::f32;
    bool is_plain = (is_one_block || is_exact) && in_place && !p.bias && same_bits(x_dtype, p.way.operand);
    auto multiply = [&](std::int64_t first, std::int64_t n) {
      own.dots[lane](x.data + first * x.row * item_, x.row * item_, static_cast<std::size_t>(n), v.data,
                     out + first * out_item, static_cast<std::size_t>(p.k));
    };
    bool lies_side_by_side = x.column == 1 && v.column == 1 && same_bits(v_dtype, p.way.operand);
    if (is_plain && is_one_block && rows == 1 && lies_side_by_side) return multiply(0, 1);
    OwnMemory contiguous_vector, contiguous_matrix;
    if ((!same_bits(v_dtype, p.way.operand) || v.column != 1) &&
        !make_contiguous(v, v_dtype, p.way.operand, 1, p.k, contiguous_vector))
      return fail();
    bool by_rows = x.column == 1 || p.k <= 1, by_columns = x.row == 1 && rows > 1;
    if (!by_rows && !by_columns) {
      if (!make_contiguous(x, x_dtype, p.way.operand, rows, p.k, contiguous_matrix)) return fail();
      x_dtype = p.way.operand;
    }
    Path path{};
    if (!same_bits(x_dtype, p.way.operand)) path = cast_path(k, x_dtype, p.way.operand, false);
    auto x_item = static_cast<std::int64_t>(item(x_dtype));
    Dots dots = own.dots[lane];
    if (by_rows && own.dots_of_bf16 && x_dtype == Dtype::bfloat16 && p.way.kernel == Sum::f32)
      dots = own.dots_of_bf16, path = Path{};
    if (by_columns && !by_rows) {
      columns(x, x_item, path, rows, v.data, out);
    } else if (rows == 1 && p.k > chunk) {
      one_row(x.data, x_item, path, dots, v.data, out);
    } else {
      for_each((rows + group - 1) / group, static_cast<double>(p.k) * group, [&](std::int64_t i) {
        std::int64_t first = i * group, n = std::min(group, rows - first);
        if (is_plain) return multiply(first, n);
        alignas(64) std::byte sums[group * 16];
        std::memset(sums, 0, static_cast<std::size_t>(n * sum_item));
        const std::byte* some = x.data + first * x.row * x_item;
        for (std::int64_t start = 0; start < p.k; start += chunk)
          add_chunk(some, x.row * x_item, n, x_item, path, dots, v.data, start, sums);
        put(sums, first, n, out);
      });
    }
  }

  // The sums of n rows of a vector product, from `first` on, to the output.
  void put(std::byte* sums, std::int64_t first, std::int64_t n, std::byte* out) const noexcept {
    bool repeats = p.n == 1;
    for (std::int64_t j = 0; j < n; j += widest_row) {
      const std::byte* bias = !p.bias ? nullptr : repeats ? p.bias : p.bias + (first + j) * sum_item;
      finish(sums + j * sum_item, bias, repeats, out + (first + j) * out_item, std::min(widest_row, n - j));
    }
  }

  // The products of rows that lie side by side, as columns do: memory is read in the order in which it lies.
  void columns(const Matrix& x, std::int64_t x_item, const Path& path, std::int64_t size, const std::byte* v,
               std::byte* out) noexcept {
    std::int64_t deep = std::max(least_chunk, (p.k + most_chunks - 1) / most_chunks);
    std::int64_t down = std::max<std::int64_t>(1, (p.k + deep - 1) / deep), widest = widest_bytes / sum_item;
    // How many columns are added at a time has no say in their sums.
    std::int64_t share = down > 1 ? widest : (size / thread_count() + 63) / 64 * 64;
    std::int64_t width = std::clamp<std::int64_t>(share, 128, widest), across = (size + width - 1) / width;
    OwnMemory memory;
    std::byte* sums = memory.take(down * size * sum_item);
    if (!sums) return fail();
    for_each(down * across, static_cast<double>(std::min(deep, p.k) * width), [&](std::int64_t i) {
      std::int64_t top = i / across * deep, first = i % across * width, n = std::min(width, size - first);
      std::byte* to = sums + (i / across * size + first) * sum_item;
      std::memset(to, 0, static_cast<std::size_t>(n * sum_item));
      add_columns(x.data + top * x.column * x_item + first * x_item, x.column * x_item, path, x_item, v + top * item_,
                  std::min(deep, p.k - top), to, n);
      if (down == 1) put(to, first, n, out);
    });
    if (down == 1) return;
    for_each(across, static_cast<double>(down * width), [&](std::int64_t i) {
      std::int64_t first = i * width, n = std::min(width, size - first);
      std::byte* to = sums + first * sum_item;
      for (std::int64_t d = 1; d < down; ++d)
        own.add[lane](to + d * size * sum_item, false, to, static_cast<std::size_t>(n));
      put(to, first, n, out);
    });
  }

  void add_columns(const std::byte* columns, std::int64_t stride, const Path& path, std::int64_t x_item,
                   const std::byte* v, std::int64_t depth, std::byte* sums, std::int64_t n) const noexcept {
    if (path.count == 0)
      return own.add_rows[lane](v, columns, stride, static_cast<std::size_t>(depth), sums, static_cast<std::size_t>(n));
    constexpr std::int64_t together = 8;
    alignas(64) std::byte rows[together * widest_row * 16];
    Buffer buffers[2];
    for (std::int64_t q = 0; q < depth; q += together) {
      std::int64_t count = std::min(together, depth - q);
      for (std::int64_t j = 0; j < n; j += widest_row) {
        auto some = static_cast<std::size_t>(std::min(widest_row, n - j));
        for (std::int64_t r = 0; r < count; ++r)
          follow_to(path, columns + (q + r) * stride + j * x_item, some, static_cast<std::size_t>(item_),
                    rows + r * widest_row * item_, buffers[0].bytes, buffers[1].bytes);
        own.add_rows[lane](v + q * item_, rows, widest_row * item_, static_cast<std::size_t>(count),
                           sums + j * sum_item, some);
      }
    }
  }

  // A long row is cut into chunks whatever the number of threads is.
  void one_row(const std::byte* row, std::int64_t x_item, const Path& path, Dots dots, const std::byte* v,
               std::byte* out) noexcept {
    std::int64_t count = (p.k + chunk - 1) / chunk;
    OwnMemory memory;
    std::byte* parts = memory.take(count * sum_item);
    if (!parts) return fail();
    for_each(count, chunk, [&](std::int64_t i) {
      std::memset(parts + i * sum_item, 0, static_cast<std::size_t>(sum_item));
      add_chunk(row, 0, 1, x_item, path, dots, v, i * chunk, parts + i * sum_item);
    });
    for (std::int64_t i = 1; i < count; ++i) own.add[lane](parts + i * sum_item, true, parts, 1);
    put(parts, 0, 1, out);
  }

  // Adds the products of at most `chunk` elements from `start` on to the sums of at most `group` rows,
  // one block after the other.
  void add_chunk(const std::byte* rows, std::int64_t stride, std::int64_t count, std::int64_t x_item, const Path& path,
                 Dots dots, const std::byte* v, std::int64_t start, std::byte* sums) const noexcept {
    alignas(64) std::byte whole[group * 16], parts[chunk / block][group * 16];
    alignas(64) std::byte buffers[2][block * 16];
    auto many = static_cast<std::size_t>(count);
    if (path.count == 0 && p.way.kernel < Sum::f32) {  // exact, whatever the order is
      own.dots[lane](rows + start * x_item, stride, many, v + start * item_, whole,
                     static_cast<std::size_t>(std::min(p.k - start, chunk)));
      return own.add[lane](whole, false, sums, many);
    }
    std::memset(whole, 0, static_cast<std::size_t>(count * sum_item));
    std::int64_t end = std::min(p.k, start + chunk), together = path.count == 0 ? own.rows_at_once : 1;
    // Few rows to their ends, since memory is read faster in the order in which it lies.
    for (std::int64_t r = 0; r < count; r += together)
      for (std::int64_t i = start; i < end; i += block) {
        auto n = static_cast<std::size_t>(std::min(block, end - i));
        const std::byte* x = rows + r * stride + i * x_item;
        if (path.count != 0) x = follow(path, x, n, buffers[0], buffers[1]);
        dots(x, stride, static_cast<std::size_t>(std::min(together, count - r)), v + i * item_,
             parts[(i - start) / block] + r * sum_item, n);
      }
    for (std::int64_t i = 0; i < (end - start + block - 1) / block; ++i) own.add[lane](parts[i], false, whole, many);
    own.add[lane](whole, false, sums, many);
  }
};

}  // namespace

bool run_product(const Product& product) noexcept { return Multiplication(product).run(); }

}  // namespace suanzi
