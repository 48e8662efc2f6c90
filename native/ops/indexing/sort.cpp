// native/ops/indexing/sort.cpp: 7.2.14: elements in order, without their former positions.
//
// Keys are sorted as in indexing_sort_rows.cpp, but alone, which is half of what is moved. Zeros and NaNs,
// of which a key does not say all, are put in afterwards in the order in which they came.
#include <bit>

#include "calls/arguments.h"
#include "core/without_gil.h"
#include "ops/indexing/digits.h"
#include "ops/indexing/sort_rows.h"
#include "ops/indexing/workspace.h"

namespace suanzi {
namespace {

// Sorts keys that differ in their last 33 bits alone; `other` has room for as many twice.
void sort_run(std::uint64_t* keys, std::int64_t n, std::uint64_t* other) {
  if (n <= by_insertion) {
    for (std::int64_t i = 1; i < n; ++i) {
      std::uint64_t key = keys[i];
      std::int64_t j = i;
      for (; j > 0 && keys[j - 1] > key; --j) keys[j] = keys[j - 1];
      keys[j] = key;
    }
  } else if (n <= by_short_digits) {
    std::sort(keys, keys + n);
  } else {
    std::uint64_t *a = other, *b = other + n;
    std::copy(keys, keys + n, b);
    auto source = [b](std::int64_t i) { return b[i]; };
    sort_digits<11, 3>(n, 0, a, b, source, [keys](std::int64_t at, std::uint64_t key) { keys[at] = key; });
  }
}

// Sorts keys, which lie in the second half of the scratch memory.
template <class U>
void sort_keys(std::int64_t n, U* scratch, U* sorted) {
  U *a = scratch, *b = scratch + n;
  auto source = [b](std::int64_t i) { return b[i]; };
  auto sink = [sorted](std::int64_t at, U key) { sorted[at] = key; };
  if constexpr (sizeof(U) == 1) {
    sort_digits<8, 1>(n, 0, a, b, source, sink);
  } else if constexpr (sizeof(U) == 2) {
    sort_digits<8, 2>(n, 0, a, b, source, sink);
  } else {
    U differing = 0;
    for (std::int64_t i = 0; i < n; ++i) differing |= b[i] ^ b[0];
    bool is_short = n <= by_short_digits;
    int shift = std::max(static_cast<int>(std::bit_width(differing)) - (is_short ? 32 : 33), 0);
    if (is_short) sort_digits<8, 4>(n, shift, a, b, source, sink);
    else sort_digits<11, 3>(n, shift, a, b, source, sink);
    if constexpr (sizeof(U) == 8) {
      U low = (U{1} << shift) - 1;
      for (std::int64_t i = 0, end; i < n && shift > 0; i = end) {
        for (end = i + 1; end < n && (sorted[end] ^ sorted[i]) <= low;) ++end;
        if (end - i > 1) sort_run(sorted + i, end - i, scratch);
      }
    }
  }
}

// The keys that do not say all of their elements: those of the zeros, and of the NaNs.
template <class U>
struct Special {
  bool there;
  U keys[2];

  explicit Special(const RowOrder& how) : there(how.order >= Order::float8_e4m3fn), keys{} {
    const U elements[2] = {U{0}, static_cast<U>(~U{0})};
    if (there) make_keys(how, reinterpret_cast<const std::byte*>(elements), 2, keys);
  }
};

inline void values_of(const RowOrder& how, void* keys, std::int64_t n) {
  kernels().rankings->values[static_cast<std::size_t>(how.order)][!how.descending](keys, keys,
                                                                                   static_cast<std::size_t>(n));
}

// Makes values of the sorted keys of rows; `keys` has room for those of a row as it was.
template <class U>
void keys_to_values(const RowOrder& how, const U* in, std::int64_t rows, std::int64_t n, U* sorted, U* keys) {
  Special<U> special(how);
  U any = special.there;
  if (rows > 1 && special.there) {
    any = 0;
    for (std::int64_t i = 0; i < rows * n; ++i) {
      bool alike = (sorted[i] == special.keys[0]) | (sorted[i] == special.keys[1]);
      any |= static_cast<U>(alike ? ~U{0} : U{0});
    }
  }
  if (!any) return values_of(how, sorted, rows * n);
  for (std::int64_t row = 0; row < rows; ++row, in += n, sorted += n) {
    std::pair<U*, U*> alike[2];
    for (int i = 0; i < 2; ++i) alike[i] = std::equal_range(sorted, sorted + n, special.keys[i]);
    values_of(how, sorted, n);
    if (alike[0].first == alike[0].second && alike[1].first == alike[1].second) continue;
    make_keys(how, reinterpret_cast<const std::byte*>(in), n, keys);
    // Another thread may have written to the tensor meanwhile, so that there are more of them, or fewer.
    for (int i = 0; i < 2; ++i)
      for (std::int64_t j = 0; j < n && alike[i].first < alike[i].second; ++j)
        if (keys[j] == special.keys[i]) *alike[i].first++ = in[j];
  }
}

template <class U>
void sort_row(const RowOrder& how, const U* in, std::int64_t n, U* sorted, U* scratch) {
  auto* from = reinterpret_cast<const std::byte*>(in);
  if (is_ranked(n)) {
    std::int64_t places[ranked_room];
    return order_by_ranks<U>(how, from, n, n, reinterpret_cast<std::byte*>(sorted), places);
  }
  if (n > how.longest) {
    make_keys(how, from, n, sorted);
    std::sort(sorted, sorted + n);
  } else {
    make_keys(how, from, n, scratch + n);
    sort_keys(n, scratch, sorted);
  }
  keys_to_values(how, in, 1, n, sorted, scratch);
}

// As many short rows as there are keys in `sorted_bytes`, side by side.
constexpr std::int64_t most_in_columns = 64;

template <class U>
void sort_in_columns(const RowOrder& how, const U* in, std::int64_t n, U* sorted) {
  constexpr std::int64_t rows = sorted_bytes / sizeof(U);
  alignas(64) U keys[rows * most_in_columns], columns[rows * most_in_columns];
  make_keys(how, reinterpret_cast<const std::byte*>(in), rows * n, keys);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t row = 0; row < rows; ++row) columns[i * rows + row] = keys[row * n + i];
  kernels().rankings->sort_columns[std::countr_zero(sizeof(U))](columns, static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < n; ++i) sorted[row * n + i] = columns[i * rows + row];
  keys_to_values(how, in, rows, n, sorted, keys);
}

template <class U>
void sort_some_rows(const RowOrder& how, const std::byte* from, std::int64_t rows, std::int64_t n, std::byte* to,
                    std::byte* memory) {
  constexpr std::int64_t together = sorted_bytes / sizeof(U);
  auto* in = reinterpret_cast<const U*>(from);
  auto *sorted = reinterpret_cast<U*>(to), *scratch = reinterpret_cast<U*>(memory);
  std::int64_t row = 0;
  if (n <= most_in_columns)
    for (; row + together <= rows; row += together) sort_in_columns(how, in + row * n, n, sorted + row * n);
  for (; row < rows; ++row) sort_row(how, in + row * n, n, sorted + row * n, scratch);
}

auto rows_sorter(std::size_t itemsize) {
  switch (itemsize) {
    case 1: return sort_some_rows<std::uint8_t>;
    case 2: return sort_some_rows<std::uint16_t>;
    case 4: return sort_some_rows<std::uint32_t>;
    default: return sort_some_rows<std::uint64_t>;
  }
}

// Rows of x in order; false when there is no memory.
bool sort_rows(const RowOrder& how, const AxisLast& x, const AxisLast& values) noexcept {
  auto item = static_cast<std::int64_t>(how.itemsize);
  std::int64_t n = x.length, scratch = is_ranked(n) ? 0 : (n > how.longest ? 1 : 2) * n * item;
  Rows in(x, Rows::Use::read), sorted(values, Rows::Use::write);
  if (!in.data() || !sorted.data()) return false;
  auto sort = rows_sorter(how.itemsize);
  std::atomic<bool> good{true};
  parallel_rows(x.rows, n * sorting_cost, [&](std::int64_t begin, std::int64_t end) {
    Workspace own(scratch);
    if (own.data())
      sort(how, in.data() + begin * n * item, end - begin, n, sorted.data() + begin * n * item, own.data());
    else good.store(false, std::memory_order_relaxed);
  });
  if (!good.load(std::memory_order_relaxed)) return false;
  sorted.finish();
  return true;
}

nb::object sort_values(nb::handle input, int axis, bool descending, std::int64_t longest) {
  const Tensor* t = read_tensor(input.ptr());
  RowOrder how{};
  how.descending = descending;
  how.longest = std::min<std::int64_t>(longest, UINT32_MAX);
  if (!t || !order_of(t->dtype, how.order) || axis < 0 || axis >= t->ndim())
    throw nb::value_error("not what sort takes");
  how.itemsize = t->itemsize();
  nb::object values = raise_or(new_dense_tensor(t->dtype, t->ndim(), t->dims()));
  if (t->size == 0) return values;
  AxisLast x(*t, axis), to(*tensor_of(values.ptr()), axis);
  bool good = true;
  run_over(t->size, {t}, [&] { good = sort_rows(how, x, to); });
  if (!good) throw std::bad_alloc();
  return values;
}

}  // namespace

void init_sort(nb::module_& m) {
  define(m, "def sort_values(input: Any, axis: int, descending: bool, longest: int = 4294967295) -> Tensor",
         "The elements along an axis in order; rows above `longest` are sorted by comparisons.", sort_values,
         UINT32_MAX);
}

}  // namespace suanzi
