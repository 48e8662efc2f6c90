// native/ops/creation_sparse.cpp: 7.2.1.14: rows of sparse tensors: united, intersected, summed.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/threads.h"
#include "core/without_gil.h"
#include "ops/creation_sparse.h"

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

// Merges two rising lists, and says of each column where it is from. Returns how many there are.
// There are no branches but the ends: which list is next cannot be foreseen.
std::int64_t unite(const std::int64_t* __restrict a, std::int64_t a_count, const std::int64_t* __restrict b,
                   std::int64_t b_count, std::int64_t* __restrict columns, std::uint8_t* __restrict from) {
  std::int64_t i = 0, j = 0, k = 0;
  while (i < a_count && j < b_count) {
    std::int64_t x = a[i], y = b[j];
    std::int64_t of_a = x <= y, of_b = y <= x;
    columns[k] = std::min(x, y);
    from[k++] = static_cast<std::uint8_t>(of_a | of_b << 1);
    i += of_a;
    j += of_b;
  }
  std::int64_t rest = i < a_count ? a_count - i : b_count - j;
  std::copy_n(i < a_count ? a + i : b + j, rest, columns + k);
  std::fill_n(from + k, rest, i < a_count ? in_a : in_b);
  return k + rest;
}

// Puts the values of some rows, `count` of them, where they are from, and zeros elsewhere.
template <class Bits>
void spread(const std::byte* __restrict values, std::int64_t count, const std::uint8_t* __restrict from, int side,
            std::int64_t n, std::byte* __restrict out) {
  if (count == 0) {
    std::memset(out, 0, static_cast<std::size_t>(n) * sizeof(Bits));
    return;
  }
  std::int64_t i = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    int mine = from[k] >> side & 1;
    Bits bits;
    std::memcpy(&bits, values + std::min(i, count - 1) * static_cast<std::int64_t>(sizeof(Bits)), sizeof(Bits));
    bits &= static_cast<Bits>(-static_cast<Bits>(mine));
    std::memcpy(out + k * static_cast<std::int64_t>(sizeof(Bits)), &bits, sizeof(Bits));
    i += mine;
  }
}

__extension__ using Bits128 = unsigned __int128;
using Spread = void (*)(const std::byte*, std::int64_t, const std::uint8_t*, int, std::int64_t, std::byte*);
constexpr Spread spreads[size_count] = {spread<std::uint8_t>, spread<std::uint16_t>, spread<std::uint32_t>,
                                        spread<std::uint64_t>, spread<Bits128>};

nb::object unite_rows(nb::handle a_pointers, nb::handle a_columns, nb::handle a_values, nb::handle b_pointers,
                      nb::handle b_columns, nb::handle b_values) {
  Places a(a_pointers, a_columns), b(b_pointers, b_columns);
  const Tensor &of_a = values_of(a_values, a.count), &of_b = values_of(b_values, b.count);
  if (a.rows != b.rows) throw nb::value_error("another number of rows");
  Kept kept_a(of_a), kept_b(of_b);  // another thread may destroy them while columns are merged
  const std::byte *data_a = of_a.data(), *data_b = of_b.data();
  // Each group of rows is merged at the offset it has if no column is common; then the gaps are closed.
  nb::object loose_columns = new_list(Dtype::int64, a.count + b.count),
             loose_from = new_list(Dtype::uint8, a.count + b.count);
  nb::object pointers = new_list(Dtype::int64, a.rows + 1);
  auto *loose = data_of<std::int64_t>(loose_columns), *starts = data_of<std::int64_t>(pointers);
  auto* loose_sides = data_of<std::uint8_t>(loose_from);
  starts[0] = 0;
  std::int64_t groups = (a.rows + group - 1) / group;
  run_over(a.count + b.count, {a.tensor, b.tensor}, [&] {
    each_row(groups, a.count + b.count, [&](std::int64_t g) {
      std::int64_t begin = g * group, end = std::min(begin + group, a.rows), k = a.pointers[begin] + b.pointers[begin];
      for (std::int64_t r = begin; r < end; ++r) {
        std::int64_t i = a.pointers[r], j = b.pointers[r];
        starts[r + 1] = unite(a.columns + i, a.pointers[r + 1] - i, b.columns + j, b.pointers[r + 1] - j, loose + k,
                              loose_sides + k);
        k += starts[r + 1];
      }
    });
    for (std::int64_t r = 0; r < a.rows; ++r) starts[r + 1] += starts[r];
  });
  std::int64_t count = starts[a.rows];
  bool apart = count == a.count + b.count;
  nb::object columns = apart ? loose_columns : new_list(Dtype::int64, count),
             from = apart ? loose_from : new_list(Dtype::uint8, count);
  nb::object spread_a = new_list(of_a.dtype, count), spread_b = new_list(of_b.dtype, count);
  auto* to = data_of<std::int64_t>(columns);
  auto* sides = data_of<std::uint8_t>(from);
  Spread put_a = spreads[layer_of(of_a.dtype).log2_size], put_b = spreads[layer_of(of_b.dtype).log2_size];
  auto a_bytes = static_cast<std::int64_t>(of_a.itemsize()), b_bytes = static_cast<std::int64_t>(of_b.itemsize());
  std::byte *out_a = data_of<std::byte>(spread_a), *out_b = data_of<std::byte>(spread_b);
  run_over(count, {}, [&] {
    each_row(groups, count, [&](std::int64_t g) {
      std::int64_t begin = g * group, end = std::min(begin + group, a.rows);
      std::int64_t i = a.pointers[begin], j = b.pointers[begin], k = starts[begin], n = starts[end] - k;
      if (!apart) {
        std::memcpy(to + k, loose + i + j, static_cast<std::size_t>(n) * 8);
        std::memcpy(sides + k, loose_sides + i + j, static_cast<std::size_t>(n));
      }
      put_a(data_a + i * a_bytes, a.pointers[end] - i, sides + k, 0, n, out_a + k * a_bytes);
      put_b(data_b + j * b_bytes, b.pointers[end] - j, sides + k, 1, n, out_b + k * b_bytes);
    });
  });
  return nb::make_tuple(pointers, columns, spread_a, spread_b, from);
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
  using namespace nb::literals;
  m.def("unite_rows", &unite_rows, "a_pointers"_a, "a_columns"_a, "a_values"_a, "b_pointers"_a, "b_columns"_a,
        "b_values"_a,
        nb::sig("def unite_rows(a_pointers: Any, a_columns: Any, a_values: Any, b_pointers: Any, b_columns: Any, "
                "b_values: Any) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]"),
        "Row pointers and columns of both, the values of each with zeros between, and where columns are from: 1, 2 or "
        "3.");
  m.def("common_rows", &common_rows, "a_pointers"_a, "a_columns"_a, "b_pointers"_a, "b_columns"_a,
        nb::sig("def common_rows(a_pointers: Any, a_columns: Any, b_pointers: Any, b_columns: Any) -> tuple[Tensor, "
                "Tensor, Tensor]"),
        "Row pointers of the places that are in both, and where these are in each.");
  m.def("sum_rows", &sum_rows, "pointers"_a, "values"_a, nb::sig("def sum_rows(pointers: Any, values: Any) -> Tensor"),
        "The sum of each row of float32, made in float64.");
  m.def("sum_columns", &sum_columns, "columns"_a, "values"_a, "count"_a,
        nb::sig("def sum_columns(columns: Any, values: Any, count: int) -> Tensor"),
        "The sum of the float32 values in each column, made in float64.");
  m.def("fill_rows", &fill_rows, "target"_a, "pointers"_a, "columns"_a, "values"_a,
        nb::sig("def fill_rows(target: Any, pointers: Any, columns: Any, values: Any) -> None"),
        "Writes zeros, and the values in their columns, to a tensor seen as rows.");
}

}  // namespace suanzi
