// native/ops/creation/sparse.cpp: 7.2.1.14: rows of sparse tensors: united, intersected, summed.
#include <nanobind/stl/vector.h>

#include "core/without_gil.h"
#include "ops/creation/sparse.h"

namespace suanzi {
namespace {

// Calls body(row) for every row; threads share them.
template <class Body>
void each_row(std::int64_t rows, std::int64_t elements, Body&& body) {
  std::int64_t part = std::max<std::int64_t>(grain / (elements / std::max<std::int64_t>(rows, 1) + 1), 1);
  parallel_for(rows, part, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) body(r);
  });
}

// ---- union --------------------------------------------------------------------------------------

constexpr std::uint8_t in_a = 1, in_b = 2;
constexpr std::int64_t group = 256;  // rows that are merged one behind the other

// The columns of a row, and its values.
struct Side {
  const std::int64_t* columns;
  const std::byte* values;
  std::int64_t count;
};

template <class Bits>
Bits value_at(const std::byte* values, std::int64_t i) {
  Bits found;
  std::memcpy(&found, values + i * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
  return found;
}
template <class Bits>
void put_value(Bits x, std::byte* values, std::int64_t i) {
  std::memcpy(values + i * static_cast<std::int64_t>(sizeof(Bits)), &x, sizeof(Bits));
}

// Merges two rising lists, says of each column where it is from, and spreads the values of either, with zeros where it
// has none. Returns how many there are. There are no branches but the ends: which list is next cannot be foreseen.
template <class A, class B>
std::int64_t unite(Side a, Side b, std::int64_t* __restrict columns, std::uint8_t* __restrict from,
                   std::byte* __restrict of_a, std::byte* __restrict of_b) {
  std::int64_t i = 0, j = 0, k = 0;
  for (; i < a.count && j < b.count; ++k) {
    std::int64_t x = a.columns[i], y = b.columns[j];
    bool is_a = x <= y, is_b = y <= x;
    columns[k] = std::min(x, y);
    from[k] = static_cast<std::uint8_t>(is_a * in_a | is_b * in_b);
    put_value<A>(value_at<A>(a.values, i) & static_cast<A>(-static_cast<A>(is_a)), of_a, k);
    put_value<B>(value_at<B>(b.values, j) & static_cast<B>(-static_cast<B>(is_b)), of_b, k);
    i += is_a;
    j += is_b;
  }
  for (; i < a.count; ++i, ++k) {
    columns[k] = a.columns[i];
    from[k] = in_a;
    put_value<A>(value_at<A>(a.values, i), of_a, k);
    put_value<B>(0, of_b, k);
  }
  for (; j < b.count; ++j, ++k) {
    columns[k] = b.columns[j];
    from[k] = in_b;
    put_value<A>(0, of_a, k);
    put_value<B>(value_at<B>(b.values, j), of_b, k);
  }
  return k;
}

using Unite = std::int64_t (*)(Side, Side, std::int64_t*, std::uint8_t*, std::byte*, std::byte*);
__extension__ using Bits128 = unsigned __int128;
template <class A>
constexpr Unite unites_with[size_count] = {unite<A, std::uint8_t>, unite<A, std::uint16_t>, unite<A, std::uint32_t>,
                                           unite<A, std::uint64_t>, unite<A, Bits128>};
constexpr const Unite* unites[size_count] = {unites_with<std::uint8_t>, unites_with<std::uint16_t>,
                                             unites_with<std::uint32_t>, unites_with<std::uint64_t>,
                                             unites_with<Bits128>};

// What a union is made of: columns, where they are from, and the values of both.
struct United {
  nb::object lists[4];
  std::int64_t sizes[4];  // of an element, in bytes

  United(Dtype a, Dtype b, std::int64_t count) {
    Dtype dtypes[4] = {Dtype::int64, Dtype::uint8, a, b};
    for (int i = 0; i < 4; ++i) {
      lists[i] = new_list(dtypes[i], count);
      sizes[i] = static_cast<std::int64_t>(facts(dtypes[i]).itemsize);
    }
  }
  std::byte* at(int list, std::int64_t place) const { return data_of<std::byte>(lists[list]) + place * sizes[list]; }
  // Elements of another one; only where neither is read or written by others.
  void take(const United& other, std::int64_t from, std::int64_t to, std::int64_t count) const {
    for (int i = 0; i < 4; ++i) std::memcpy(at(i, to), other.at(i, from), static_cast<std::size_t>(count * sizes[i]));
  }
  void shorten(std::int64_t count) {
    for (nb::object& list : lists) list = shortened(list, count);
  }
};

nb::object unite_rows(nb::handle a_pointers, nb::handle a_columns, nb::handle a_values, nb::handle b_pointers,
                      nb::handle b_columns, nb::handle b_values) {
  Places a(a_pointers, a_columns), b(b_pointers, b_columns);
  const Tensor &of_a = values_of(a_values, a.count), &of_b = values_of(b_values, b.count);
  if (a.rows != b.rows) throw nb::value_error("another number of rows");
  Kept kept_a(of_a), kept_b(of_b);  // run_over keeps the columns
  const std::byte *data_a = of_a.data(), *data_b = of_b.data();
  Dtype dtype_a = of_a.dtype, dtype_b = of_b.dtype;
  std::int64_t most = a.count + b.count, groups = (a.rows + group - 1) / group;
  United loose(dtype_a, dtype_b, most);
  nb::object pointers = new_list(Dtype::int64, a.rows + 1);
  auto* starts = data_of<std::int64_t>(pointers);
  starts[0] = 0;
  Unite unite = unites[layer_of(dtype_a).log2_size][layer_of(dtype_b).log2_size];
  // One thread writes row behind row. Of several, each begins where a group does if no column is common.
  bool in_turn = thread_count() == 1;
  run_over(most, {a.tensor, b.tensor}, [&] {
    auto merge = [&](std::int64_t begin, std::int64_t end) {
      std::int64_t k = a.pointers[begin] + b.pointers[begin];
      for (std::int64_t r = begin; r < end; ++r) {
        std::int64_t i = a.pointers[r], j = b.pointers[r];
        Side left{a.columns + i, data_a + i * loose.sizes[2], a.pointers[r + 1] - i};
        Side right{b.columns + j, data_b + j * loose.sizes[3], b.pointers[r + 1] - j};
        starts[r + 1] = unite(left, right, reinterpret_cast<std::int64_t*>(loose.at(0, k)),
                              reinterpret_cast<std::uint8_t*>(loose.at(1, k)), loose.at(2, k), loose.at(3, k));
        k += starts[r + 1];
      }
    };
    if (in_turn) merge(0, a.rows);
    else each_row(groups, most, [&](std::int64_t g) { merge(g * group, std::min((g + 1) * group, a.rows)); });
    for (std::int64_t r = 0; r < a.rows; ++r) starts[r + 1] += starts[r];
  });
  std::int64_t count = starts[a.rows];
  bool is_whole = in_turn || count == most;
  auto tuple_of = [&](const United& made) {
    return nb::make_tuple(pointers, made.lists[0], made.lists[2], made.lists[3], made.lists[1]);
  };
  if (is_whole && count >= most - most / 8) {
    if (count < most) loose.shorten(count);
    return tuple_of(loose);
  }
  United made(dtype_a, dtype_b, count);
  run_over(count, [&] {
    if (is_whole) return made.take(loose, 0, 0, count);
    each_row(groups, count, [&](std::int64_t g) {
      std::int64_t begin = g * group, end = std::min(begin + group, a.rows), k = starts[begin];
      made.take(loose, a.pointers[begin] + b.pointers[begin], k, starts[end] - k);
    });
  });
  return tuple_of(made);
}

// ---- places -------------------------------------------------------------------------------------

// The coordinates of places counted through a dense tensor: a row for each axis. A place is seldom in another row
// than the one before it, where they rise; a division takes ten times as long as all else.
nb::object coordinates_of(nb::handle places_object, const std::vector<std::int64_t>& shape) {
  const Tensor* places = read_tensor(places_object.ptr());
  auto ndim = static_cast<std::int64_t>(shape.size());
  if (!places || places->dtype != Dtype::int64 || places->ndim() != 1 || !places->row_major || ndim < 1 ||
      std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; }))
    throw nb::value_error("not what coordinates_of takes");
  std::int64_t n = places->size, dims[2] = {ndim, n};
  nb::object made = raise_or(new_dense_tensor(Dtype::int64, 2, dims));
  auto* to = data_of<std::int64_t>(made);
  auto* from = reinterpret_cast<const std::int64_t*>(places->data());
  run_over(n * ndim, {places}, [&] {
    parallel_for(n, grain, [&](std::int64_t begin, std::int64_t end) {
      if (ndim == 1) std::copy(from + begin, from + end, to + begin);
      for (std::int64_t axis = ndim - 1; axis > 0; --axis) {
        std::int64_t size = shape[static_cast<std::size_t>(axis)], row = 0, first = 0;
        std::int64_t *within = to + axis * n, *above = within - n;
        const std::int64_t* rest = axis == ndim - 1 ? from : within;
        for (std::int64_t i = begin; i < end; ++i) {
          std::int64_t place = rest[i];
          if (static_cast<std::uint64_t>(place - first) >= static_cast<std::uint64_t>(size)) {
            row = place / size;
            first = row * size;
          }
          within[i] = place - first;
          above[i] = row;
        }
      }
    });
  });
  return made;
}

// ---- intersection -------------------------------------------------------------------------------

nb::object common_rows(nb::handle a_pointers, nb::handle a_columns, nb::handle b_pointers, nb::handle b_columns) {
  Places a(a_pointers, a_columns), b(b_pointers, b_columns);
  if (a.rows != b.rows) throw nb::value_error("another number of rows");
  nb::object loose_a = new_list(Dtype::int64, a.count), loose_b = new_list(Dtype::int64, a.count);
  nb::object pointers = new_list(Dtype::int64, a.rows + 1);
  auto *of_a = data_of<std::int64_t>(loose_a), *of_b = data_of<std::int64_t>(loose_b),
       *starts = data_of<std::int64_t>(pointers);
  starts[0] = 0;
  run_over(a.count + b.count, {a.tensor, b.tensor}, [&] {
    each_row(a.rows, a.count + b.count, [&](std::int64_t r) {
      std::int64_t i = a.pointers[r], j = b.pointers[r], i_end = a.pointers[r + 1], j_end = b.pointers[r + 1],
                   first = i, k = i;
      while (i < i_end && j < j_end) {
        std::int64_t x = a.columns[i], y = b.columns[j];
        of_a[k] = i;
        of_b[k] = j;
        k += x == y;
        i += x <= y;
        j += y <= x;
      }
      starts[r + 1] = k - first;
    });
    for (std::int64_t r = 0; r < a.rows; ++r) starts[r + 1] += starts[r];
  });
  nb::object places_a = new_list(Dtype::int64, starts[a.rows]), places_b = new_list(Dtype::int64, starts[a.rows]);
  auto *to_a = data_of<std::int64_t>(places_a), *to_b = data_of<std::int64_t>(places_b);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    std::int64_t from = a.pointers[r], n = starts[r + 1] - starts[r];
    std::copy_n(of_a + from, n, to_a + starts[r]);
    std::copy_n(of_b + from, n, to_b + starts[r]);
  }
  return nb::make_tuple(pointers, places_a, places_b);
}

// ---- sums, and all elements ---------------------------------------------------------------------

// Adds up each row of float32 in float64.
nb::object sum_rows(nb::handle pointers_object, nb::handle values_object) {
  const Tensor* values = read_tensor(values_object.ptr());
  if (!values || values->dtype != Dtype::float32 || values->ndim() != 1 || !values->row_major)
    throw nb::value_error("not what sum_rows takes");
  const RowPointers pointers(pointers_object, values->size);
  auto* data = reinterpret_cast<const float*>(values->data());
  std::int64_t rows = pointers.rows();
  nb::object sums = new_list(Dtype::float32, rows);
  auto* to = data_of<float>(sums);
  run_over(values->size, {values}, [&] {
    each_row(rows, values->size, [&](std::int64_t r) {
      std::int64_t begin = pointers[r], end = pointers[r + 1];
      double sum = begin < end ? data[begin] : 0;  // -0.0 alone keeps its sign
      for (std::int64_t i = begin + 1; i < end; ++i) sum += data[i];
      to[r] = static_cast<float>(sum);
    });
  });
  return sums;
}

// Adds up float32 by columns, all below `count`, in float64; a sum begins with a zero.
nb::object sum_columns(nb::handle columns_object, nb::handle values_object, std::int64_t count) {
  const Tensor *columns = read_tensor(columns_object.ptr()), *values = read_tensor(values_object.ptr());
  if (!columns || !values || columns->dtype != Dtype::int64 || values->dtype != Dtype::float32 ||
      columns->ndim() != 1 || values->ndim() != 1 || !columns->row_major || !values->row_major ||
      columns->size != values->size || count < 0)
    throw nb::value_error("not what sum_columns takes");
  nb::object wide = new_list(Dtype::float64, count), sums = new_list(Dtype::float32, count);
  auto* totals = data_of<double>(wide);
  auto* to = data_of<float>(sums);
  auto* places = reinterpret_cast<const std::int64_t*>(columns->data());
  auto* data = reinterpret_cast<const float*>(values->data());
  std::int64_t n = columns->size;
  bool good = true;
  run_over(n + count, {columns, values}, [&] {
    std::fill_n(totals, count, 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
      auto place = static_cast<std::uint64_t>(places[i]);  // read once: another thread may change it
      if (place < static_cast<std::uint64_t>(count)) totals[place] += data[i];
      else good = false;
    }
    for (std::int64_t c = 0; c < count; ++c) to[c] = static_cast<float>(totals[c]);
  });
  if (!good) throw nb::value_error("a column is outside its row");
  return sums;
}

template <std::size_t size>
bool fill_row(const std::int64_t* columns, const std::byte* values, std::int64_t n, std::int64_t width,
              std::byte* out) {
  std::memset(out, 0, static_cast<std::size_t>(width) * size);
  bool good = true;
  for (std::int64_t i = 0; i < n; ++i) {
    auto column = static_cast<std::uint64_t>(columns[i]);
    if (column < static_cast<std::uint64_t>(width))
      std::memcpy(out + column * size, values + static_cast<std::size_t>(i) * size, size);
    else good = false;
  }
  return good;
}

using FillRow = bool (*)(const std::int64_t*, const std::byte*, std::int64_t, std::int64_t, std::byte*);
constexpr FillRow fills[size_count] = {fill_row<1>, fill_row<2>, fill_row<4>, fill_row<8>, fill_row<16>};

// Writes all elements of a new tensor, seen as rows.
void fill_rows(nb::handle target, nb::handle pointers, nb::handle columns, nb::handle values_object) {
  const Tensor* t = read_tensor(target.ptr());
  Places places(pointers, columns);
  const Tensor& values = values_of(values_object, places.count);
  if (!t || !t->row_major || t->dtype != values.dtype || t->storage->read_only || t->storage == values.storage ||
      (places.rows ? t->size % places.rows : t->size))
    throw nb::value_error("not what fill_rows takes");
  if (!places.rows) return;
  std::int64_t width = t->size / places.rows;
  auto bytes = static_cast<std::int64_t>(t->itemsize());
  std::byte* out = t->data();
  const std::byte* data = values.data();
  FillRow fill = fills[layer_of(t->dtype).log2_size];
  std::atomic<bool> good{true};
  run_over(t->size + places.count, {t, places.tensor, &values}, [&] {
    each_row(places.rows, t->size + places.count, [&](std::int64_t r) {
      std::int64_t i = places.pointers[r];
      if (!fill(places.columns + i, data + i * bytes, places.pointers[r + 1] - i, width, out + r * width * bytes))
        good.store(false, std::memory_order_relaxed);
    });
  });
  if (!good) throw nb::value_error("a column is outside its row");
}

}  // namespace

void init_sparse(nb::module_& m) {
  define(m,
         "def unite_rows(a_pointers: Any, a_columns: Any, a_values: Any, b_pointers: Any, b_columns: Any, "
         "b_values: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]",
         "Row pointers and columns of both, the values of each with zeros between, and where columns are from: 1, 2 or "
         "3.",
         unite_rows);
  define(m, "def coordinates_of(places: Any, shape: Sequence[int]) -> Tensor",
         "A row of coordinates for each axis, of places counted through a dense tensor.", coordinates_of);
  define(m,
         "def common_rows(a_pointers: Any, a_columns: Any, b_pointers: Any, b_columns: Any) -> tuple[Tensor, "
         "Tensor, Tensor]",
         "Row pointers of the places that are in both, and where these are in each.", common_rows);
  define(m, "def sum_rows(pointers: Any, values: Any) -> Tensor", "The sum of each row of float32, made in float64.",
         sum_rows);
  define(m, "def sum_columns(columns: Any, values: Any, count: int) -> Tensor",
         "The sum of the float32 values in each column, made in float64.", sum_columns);
  define(m, "def fill_rows(target: Any, pointers: Any, columns: Any, values: Any) -> None",
         "Writes zeros, and the values in their columns, to a tensor seen as rows.", fill_rows);
}

}  // namespace suanzi
