// native/ops/indexing/searchsorted.cpp: 7.2.14: the position of each element in a sorted row, for the array API.
//
// A NaN is larger than all numbers, as it is to argsort.
#include <cmath>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "core/threads.h"
#include "core/without_gil.h"

namespace suanzi {
namespace {

// How many of n elements in order come before a key: those below it, or with `right` those not above it.
template <class T, bool right>
std::int64_t count_before(const T* row, std::int64_t n, T key) {
  const T* at = row;
  while (n > 1) {
    std::int64_t half = n / 2;
    bool before = right ? at[half - 1] <= key : at[half - 1] < key;
    at += before ? half : 0;  // without a branch, which nobody could foresee
    n -= half;
  }
  if (n == 1) at += right ? *at <= key : *at < key;
  return at - row;
}

// The same for a key that is no less than the one before, of which `from` elements came before: by steps that double.
template <class T, bool right>
std::int64_t count_onwards(const T* row, std::int64_t n, T key, std::int64_t from) {
  std::int64_t low = from, step = 1;
  while (low + step <= n && (right ? row[low + step - 1] <= key : row[low + step - 1] < key)) {
    low += step;
    step *= 2;
  }
  return low + count_before<T, right>(row + low, std::min(step - 1, n - low), key);
}

template <class T, bool right>
void search(const T* row, std::int64_t n, const T* keys, std::int64_t count, std::int64_t* out) {
  std::int64_t numbers = n;  // which NaN follow
  if constexpr (std::is_floating_point_v<T>)
    numbers = std::partition_point(row, row + n, [](T x) { return !std::isnan(x); }) - row;
  std::int64_t cost = 1;
  for (std::int64_t i = n; i > 0; i /= 2) ++cost;
  parallel_for(count, std::max<std::int64_t>(grain / cost, 1), [&](std::int64_t begin, std::int64_t end) {
    // Keys that rise, as a sorted row's do, continue from where the last one was found.
    constexpr std::int64_t block = 64;
    bool rises = false;
    for (std::int64_t i = begin; i < end; ++i) {
      if ((i - begin) % block == 0) rises = std::is_sorted(keys + i, keys + std::min(i + block, end));
      if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(keys[i])) {
          out[i] = right ? n : numbers;
          continue;
        }
      }
      bool goes_on = rises && i > begin && keys[i - 1] <= keys[i];
      out[i] = goes_on ? count_onwards<T, right>(row, numbers, keys[i], out[i - 1])
                       : count_before<T, right>(row, numbers, keys[i]);
    }
  });
}

// Calls body(T{}) for a dtype that is searched; false for others.
template <class Body>
bool with_type(Dtype dtype, Body&& body) {
  switch (dtype) {
    case Dtype::int8: return body(std::int8_t{}), true;
    case Dtype::int16: return body(std::int16_t{}), true;
    case Dtype::int32: return body(std::int32_t{}), true;
    case Dtype::int64: return body(std::int64_t{}), true;
    case Dtype::uint8: return body(std::uint8_t{}), true;
    case Dtype::uint16: return body(std::uint16_t{}), true;
    case Dtype::uint32: return body(std::uint32_t{}), true;
    case Dtype::uint64: return body(std::uint64_t{}), true;
    case Dtype::float32: return body(float{}), true;
    case Dtype::float64: return body(double{}), true;
    default: return false;
  }
}

PyObject* search_sorted(const Tensor& row, const Tensor& keys, bool right) {
  PyObject* output = new_dense_tensor(Dtype::int64, keys.ndim(), keys.dims());
  if (!output || keys.size == 0) return output;
  auto* out = reinterpret_cast<std::int64_t*>(tensor_of(output)->data());
  run_over(keys.size + row.size, {&row, &keys}, [&, from = row.data(), wanted = keys.data()] {
    with_type(row.dtype, [&]<class T>(T) {
      auto *elements = reinterpret_cast<const T*>(from), *all = reinterpret_cast<const T*>(wanted);
      if (right) search<T, true>(elements, row.size, all, keys.size, out);
      else search<T, false>(elements, row.size, all, keys.size, out);
    });
  });
  return output;
}

}  // namespace

void init_searchsorted(nb::module_& m) {
  define(m, "def search_sorted(sorted: Any, keys: Any, right: bool) -> Tensor",
         "How many elements of a dense, sorted row come before each of dense keys of its dtype, equal ones too if "
         "`right`.",
         [](nb::handle sorted, nb::handle keys, bool right) {
           const Tensor *row = read_tensor(sorted.ptr()), *wanted = read_tensor(keys.ptr());
           bool good = row && wanted && row->ndim() == 1 && row->dtype == wanted->dtype && row->row_major &&
                       wanted->row_major && with_type(row->dtype, [](auto) {});
           if (!good) throw nb::value_error("not what searchsorted takes");
           return raise_or(search_sorted(*row, *wanted, right));
         });
}

}  // namespace suanzi
