// native/ops/creation/sparse_order.cpp: 7.2.1.14: elements of sparse tensors put in row-major order.
#include <bit>
#include <memory>

#include "core/without_gil.h"
#include "ops/creation/sparse.h"

namespace suanzi {
namespace {

// Sorts integers by their upper halves, of which `bits` are used; equal ones stay in their order.
std::uint64_t* sort_upper(std::uint64_t* keys, std::uint64_t* other, std::int64_t n, int bits) {
  if (n < 24) {
    for (std::int64_t i = 1; i < n; ++i) {
      std::uint64_t key = keys[i];
      std::int64_t to = i;
      for (; to > 0 && keys[to - 1] > key; --to) keys[to] = keys[to - 1];
      keys[to] = key;
    }
    return keys;
  }
  if (n < 48) {
    std::sort(keys, keys + n);  // the lower halves rise
    return keys;
  }
  for (int shift = 32; shift < 32 + bits; shift += 8) {
    std::int64_t starts[257] = {};
    for (std::int64_t i = 0; i < n; ++i) ++starts[(keys[i] >> shift & 255) + 1];
    for (int d = 0; d < 255; ++d) starts[d + 1] += starts[d];
    for (std::int64_t i = 0; i < n; ++i) other[starts[keys[i] >> shift & 255]++] = keys[i];
    std::swap(keys, other);
  }
  return keys;
}

// Sorts keys, a column above the number of a value, and writes the columns and the values in their order.
template <std::size_t size>
void sort_row(std::uint64_t* keys, std::uint64_t* scratch, const std::byte* values, std::int64_t n, int bits,
              std::int64_t* to, std::byte* out) {
  const std::uint64_t* sorted = sort_upper(keys, scratch, n, bits);
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<std::int64_t>(sorted[i] >> 32);
    std::memcpy(out + i * static_cast<std::int64_t>(size), values + (sorted[i] & 0xffffffff) * size, size);
  }
}

using SortRow = void (*)(std::uint64_t*, std::uint64_t*, const std::byte*, std::int64_t, int, std::int64_t*,
                         std::byte*);
constexpr SortRow sort_rows_of[size_count] = {sort_row<1>, sort_row<2>, sort_row<4>, sort_row<8>, sort_row<16>};

std::uint64_t key_of(std::int64_t column, std::int64_t number) {
  return static_cast<std::uint64_t>(column) << 32 | static_cast<std::uint64_t>(number);
}

std::int64_t longest_row(const RowPointers& pointers) {
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < pointers.rows(); ++r) longest = std::max(longest, pointers[r + 1] - pointers[r]);
  return longest;
}

// Calls body(row, scratch) for every row, with room for so many keys; false if memory is too short.
template <class Body>
bool each_row_with_room(std::int64_t rows, std::int64_t elements, std::int64_t room, Body&& body) {
  std::atomic<bool> enough{true};
  std::int64_t part = std::max<std::int64_t>(grain / (elements / std::max<std::int64_t>(rows, 1) + 1), 1);
  parallel_for(rows, part, [&](std::int64_t begin, std::int64_t end) {
    std::unique_ptr<std::uint64_t[]> scratch(new (std::nothrow) std::uint64_t[static_cast<std::size_t>(room)]);
    if (!scratch) enough.store(false, std::memory_order_relaxed);
    for (std::int64_t r = begin; scratch && r < end; ++r) body(r, scratch.get());
  });
  return enough;
}

nb::object sort_rows(nb::handle pointers_object, nb::handle columns_object, nb::handle values_object) {
  const Tensor* columns = read_tensor(columns_object.ptr());
  if (!columns || columns->dtype != Dtype::int32 || columns->ndim() != 1 || !columns->row_major ||
      columns->size > INT32_MAX)
    throw nb::value_error("not what sort_rows takes");
  auto* from = reinterpret_cast<const std::int32_t*>(columns->data());
  std::int64_t count = columns->size;
  const RowPointers pointers(pointers_object, count);
  const Tensor& values = values_of(values_object, count);
  std::int64_t rows = pointers.rows(), longest = longest_row(pointers);
  nb::object sorted_columns = new_list(Dtype::int64, count), sorted_values = new_list(values.dtype, count);
  auto* to = data_of<std::int64_t>(sorted_columns);
  auto* out = data_of<std::byte>(sorted_values);
  auto bytes = static_cast<std::int64_t>(values.itemsize());
  const std::byte* data = values.data();
  SortRow sort = sort_rows_of[layer_of(values.dtype).log2_size];
  bool enough = true;
  run_over(count, {columns, &values}, [&] {
    std::int32_t highest = 0;
    for (std::int64_t i = 0; i < count; ++i) highest |= from[i];
    int bits = std::bit_width(static_cast<std::uint32_t>(highest));
    enough = each_row_with_room(rows, count, 2 * longest, [&](std::int64_t r, std::uint64_t* scratch) {
      std::int64_t k = pointers[r], n = pointers[r + 1] - k;
      for (std::int64_t i = 0; i < n; ++i) scratch[i] = key_of(from[k + i], i);
      sort(scratch, scratch + n, data + k * bytes, n, bits, to + k, out + k * bytes);
    });
  });
  if (!enough) throw std::bad_alloc();
  return nb::make_tuple(sorted_columns, sorted_values);
}

// ---- from coordinates ---------------------------------------------------------------------------

// Coordinates of elements in any order, put into rows: first into groups of rows, then each group, which fits the
// caches, by its rows, and each row by its columns.
class Entries {
 public:
  Entries(std::int64_t rows, std::int64_t count, const std::int64_t* row, const std::int64_t* column)
      : rows_(rows), count_(count), row_(row), column_(column),
        shift_(std::max(0, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows - 1))) - 8)),
        groups_(((rows - 1) >> shift_) + 1) {}

  // False where a row is not one of the rows, or a column not below 2^31. `rises`: nothing is to be done.
  bool look(bool& rises) {
    std::uint64_t bad = 0;
    std::int64_t before = -1, before_column = -1;
    bool in_order = true;
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t r = row_[i], c = column_[i];
      bad |= static_cast<std::uint64_t>(r >= rows_) | static_cast<std::uint64_t>(r | c | (INT32_MAX - c)) >> 63;
      in_order &= static_cast<bool>((r > before) | ((r == before) & (c > before_column)));
      highest_ |= c;
      before = r, before_column = c;
    }
    rises = in_order;
    return bad == 0;
  }
  int column_bits() const { return std::bit_width(static_cast<std::uint64_t>(highest_ & INT32_MAX)); }
  std::int64_t groups() const { return groups_; }
  std::int64_t largest_group() const {
    std::int64_t largest = 0;
    for (std::int64_t g = 0; g < groups_; ++g) largest = std::max(largest, starts_[g + 1] - starts_[g]);
    return largest;
  }

  // Rows may be changed by another thread meanwhile: then elements are wrong, but none is outside.
  void put_into_groups(std::uint64_t* keys, std::uint32_t* rows) {
    std::fill(starts_, starts_ + groups_ + 1, 0);
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t r = row_[i];  // read once
      if (is_row(r)) ++starts_[(r >> shift_) + 1];
    }
    for (std::int64_t g = 0; g < groups_; ++g) starts_[g + 1] += starts_[g];
    starts_[groups_] = count_;
    std::int64_t next[most_groups];
    std::copy(starts_, starts_ + groups_, next);
    for (std::int64_t i = 0; i < count_; ++i) {
      std::int64_t r = row_[i];
      if (!is_row(r)) continue;
      std::int64_t at = next[r >> shift_]++;
      if (at >= count_) continue;
      keys[at] = key_of(column_[i] & INT32_MAX, i);
      rows[at] = static_cast<std::uint32_t>(r & ((std::int64_t{1} << shift_) - 1));
    }
    for (std::int64_t g = 0; g < groups_; ++g)
      for (std::int64_t at = next[g]; at < starts_[g + 1]; ++at) keys[at] = 0, rows[at] = 0;  // not there any more
    keys_ = keys, row_in_group_ = rows;
  }

  // Calls body(keys, n, first) for the rows of a group, of which `first` is where they begin.
  template <class Body>
  void each_row_of(std::int64_t group, std::int64_t* pointers, std::uint64_t* scratch, Body&& body) const {
    std::int64_t begin = starts_[group], end = starts_[group + 1], first = group << shift_;
    std::int64_t n_rows = std::min(rows_ - first, std::int64_t{1} << shift_), at = begin;
    std::int64_t* starts = pointers + first;
    auto row = [&](std::int64_t i) { return std::min<std::int64_t>(row_in_group_[i], n_rows - 1); };
    std::fill_n(starts, n_rows, 0);
    for (std::int64_t i = begin; i < end; ++i) ++starts[row(i)];
    for (std::int64_t r = 0; r < n_rows; ++r) at += std::exchange(starts[r], at);
    for (std::int64_t i = begin; i < end; ++i) scratch[starts[row(i)]++ - begin] = keys_[i];
    // Each is where it ends now, which is where the next one begins.
    for (std::int64_t r = 0, from = begin; r < n_rows; ++r) {
      std::int64_t to = std::exchange(starts[r], from);
      body(scratch + (from - begin), to - from, from);
      from = to;
    }
  }

 private:
  static constexpr std::int64_t most_groups = 256;
  bool is_row(std::int64_t r) const { return static_cast<std::uint64_t>(r) < static_cast<std::uint64_t>(rows_); }

  std::int64_t rows_, count_;
  const std::int64_t *row_, *column_;
  int shift_;
  std::int64_t groups_, highest_ = 0, starts_[most_groups + 1];
  const std::uint64_t* keys_ = nullptr;
  const std::uint32_t* row_in_group_ = nullptr;
};

// Elements of equal columns: which of those that are left they go to, where each such run begins among their values,
// and these.
struct Runs {
  std::vector<std::int64_t> which, starts;
  std::vector<std::byte> values;

  nb::object made(Dtype dtype, std::int64_t bytes) const {
    auto list = [](Dtype of, const auto& from, std::int64_t count) {
      nb::object to = new_list(of, count);
      std::memcpy(data_of<std::byte>(to), from.data(), from.size() * sizeof from[0]);
      return to;
    };
    auto count = static_cast<std::int64_t>(which.size());
    return nb::make_tuple(list(Dtype::int64, which, count), list(Dtype::int64, starts, count),
                          list(dtype, values, static_cast<std::int64_t>(values.size()) / bytes));
  }
};

// Leaves the first of equal columns of each row, in place, piece by piece between those that are repeated.
Runs without_repeats(std::int64_t* pointers, std::int64_t rows, std::int64_t* columns, std::byte* values,
                     std::int64_t bytes) {
  Runs runs;
  std::int64_t left = 0, piece = 0, begin = 0;
  auto close = [&](std::int64_t end) {
    std::memmove(columns + left, columns + piece, static_cast<std::size_t>(end - piece) * 8);
    std::memmove(values + left * bytes, values + piece * bytes, static_cast<std::size_t>((end - piece) * bytes));
    left += end - piece;
  };
  auto keep = [&](std::int64_t i) {
    runs.values.insert(runs.values.end(), values + i * bytes, values + (i + 1) * bytes);
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t end = pointers[r + 1];
    pointers[r] = left + (begin - piece);
    for (std::int64_t i = begin + 1; i < end; ++i) {
      if (columns[i] != columns[i - 1]) continue;
      std::int64_t first = i - 1, column = columns[i];
      runs.which.push_back(left + first - piece);
      runs.starts.push_back(static_cast<std::int64_t>(runs.values.size()) / bytes);
      for (keep(first); i < end && columns[i] == column; ++i) keep(i);
      close(first + 1);
      piece = i;  // which differs from the last of the run
    }
    begin = end;
  }
  close(begin);
  pointers[rows] = left;
  return runs;
}

nb::object rows_in_order(nb::handle rows_object, nb::handle columns_object, nb::handle values_object,
                         std::int64_t rows) {
  const Tensor *row = read_tensor(rows_object.ptr()), *column = read_tensor(columns_object.ptr());
  for (const Tensor* t : {row, column})
    if (!t || t->dtype != Dtype::int64 || t->ndim() != 1 || !t->row_major || t->size > INT32_MAX || rows < 1 ||
        rows == INT64_MAX || t->size != row->size)
      throw nb::value_error("not what rows_in_order takes");
  std::int64_t count = row->size;
  Entries entries(rows, count, reinterpret_cast<const std::int64_t*>(row->data()),
                  reinterpret_cast<const std::int64_t*>(column->data()));
  const Tensor& values = values_of(values_object, count);
  bool rises = true, good = true;
  run_over(count, {row, column}, [&] { good = entries.look(rises); });
  if (!good) throw nb::value_error("a place is outside the tensor");
  if (rises) return nb::none();
  nb::object pointers = new_list(Dtype::int64, rows + 1), sorted_columns = new_list(Dtype::int64, count),
             sorted_values = new_list(values.dtype, count), grouped = new_list(Dtype::int64, count),
             grouped_rows = new_list(Dtype::int32, count);
  auto *starts = data_of<std::int64_t>(pointers), *to = data_of<std::int64_t>(sorted_columns);
  auto* out = data_of<std::byte>(sorted_values);
  auto bytes = static_cast<std::int64_t>(values.itemsize());
  const std::byte* data = values.data();
  SortRow sort = sort_rows_of[layer_of(values.dtype).log2_size];
  std::atomic<std::int64_t> repeats{0};
  bool enough = true;
  run_over(count, {row, column, &values}, [&] {
    entries.put_into_groups(data_of<std::uint64_t>(grouped), data_of<std::uint32_t>(grouped_rows));
    std::int64_t largest = entries.largest_group();
    int bits = entries.column_bits();
    auto whole = [&](std::int64_t group, std::uint64_t* scratch) {
      std::int64_t again = 0;
      entries.each_row_of(group, starts, scratch, [&](std::uint64_t* keys, std::int64_t n, std::int64_t first) {
        sort(keys, scratch + largest, data, n, bits, to + first, out + first * bytes);
        for (std::int64_t i = first + 1; i < first + n; ++i) again += to[i] == to[i - 1];
      });
      repeats.fetch_add(again, std::memory_order_relaxed);
    };
    enough = each_row_with_room(entries.groups(), count, 2 * largest, whole);
    starts[rows] = count;
  });
  if (!enough) throw std::bad_alloc();
  if (repeats == 0) return nb::make_tuple(pointers, sorted_columns, sorted_values, nb::none());
  std::int64_t left = count - repeats;
  Runs runs = without_repeats(starts, rows, to, out, bytes);
  return nb::make_tuple(pointers, shortened(sorted_columns, left), shortened(sorted_values, left),
                        runs.made(values.dtype, bytes));
}

}  // namespace

void init_sparse_order(nb::module_& m) {
  define(m, "def sort_rows(pointers: Any, columns: Any, values: Any) -> tuple[Tensor, Tensor]",
         "Columns, of int32 and at least 0, in rising order within each row, as int64; and the values with them.",
         sort_rows);
  define(m,
         "def rows_in_order(rows: Any, columns: Any, values: Any, count: int) -> tuple[Tensor, Tensor, Tensor, "
         "tuple[Tensor, Tensor, Tensor] | None] | None",
         "Row pointers, columns and values in row-major order, the first of each place; where some are repeated, which "
         "these are, and where the values of each begin among all of theirs. None where they are in order already.",
         rows_in_order);
}

}  // namespace suanzi
