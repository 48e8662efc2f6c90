// native/ops/nn/attention.cpp: nn 8: attention, which never forms the matrix of all scores.
//
// A unit of work is a block of rows, of all queries that share a head of keys. It goes through the keys in blocks that
// begin at the same keys everywhere: products by the kernels for matrices, a softmax as far as the keys were seen, and
// the weighted sums of values, in float32 or float64. Few rows are multiplied as they lie, key by key: reading memory
// is all that takes time then. A matrix unit multiplies bfloat16, where there is one: queries and keys as they are, and
// weights as sums of two numbers of bfloat16, which have 16 digits of a float32's 24. Neither threads nor the batch
// change a bit.
#include "ops/nn/attention.h"

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/promoted.h"
#include "core/status.h"
#include "kernels/by_level.h"

namespace suanzi {

SUANZI_BY_LEVEL(AttentionKernels, attention_kernels)

namespace {

constexpr std::int64_t few_rows = 8;                         // so many are multiplied as they lie
constexpr std::int64_t longest_row = std::int64_t{1} << 48;  // whose bytes, of some rows, can be counted

// The work of one thread on blocks of rows.
class Worker {
 public:
  explicit Worker(const Attention& attention) : a(attention), few_(a.rows() <= few_rows), rows_(attention) {}

  // Rows of a unit; a smaller one takes no less time per key block, but large rows must fit the cache.
  static std::int64_t most_rows(const Attention& a) {
    std::int64_t wide = std::max<std::int64_t>({a.depth, a.width, 1});
    std::int64_t most = a.may_use_unit ? 256 : 128;  // a unit multiplies faster than keys are packed
    return std::clamp<std::int64_t>(most * 128 / wide, 16, most);
  }

  bool take_memory(std::int64_t rows) {
    std::int64_t wide = std::max(a.depth, a.width), lane = a.lane_item;
    chunk_ = std::clamp<std::int64_t>((16 << 10) / (std::max<std::int64_t>(wide, 1) * lane) / 8 * 8, 8, block_keys);
    queries_ = memory_[0].take(rows * a.depth * lane);
    std::int64_t tall = whole_tiles(rows);
    std::int64_t some = std::max(tall * whole_tiles(a.width), chunk_ * wide) * lane;
    sums_ = memory_[1].take(some);
    scores_ = memory_[2].take(tall * block_keys * lane);
    more_ = memory_[3].take(some);
    if (a.may_use_unit && !few_ && !take_memory_of_unit(rows)) return false;
    if (!few_) tiles_ = memory_[4].take(a.tiles ? tile_memory : product_memory);
    return queries_ && sums_ && scores_ && more_ && (few_ || tiles_) && states_for(rows) && rows_.take_memory();
  }

  void run(std::int64_t b, std::int64_t head, std::int64_t first, std::int64_t count) {
    begin(b, head, first, count);
    auto [low, high] = rows_.seen_by(count);
    by_unit_ = a.may_use_unit && !few_ && low < high && suits_unit(low, high);
    for (std::int64_t r = 0; r < count_ && !by_unit_; ++r) widen_query(r);
    for (std::int64_t j = low / block_keys * block_keys; j < high; j += block_keys) {
      std::int64_t n = std::min(block_keys, high - j);
      multiply_keys(j, n);
      for (std::int64_t r = 0; r < count_; ++r) by_[r] = rows_.weigh(r, j, n, score_row(r), states_[r]);
      add_values(j, n);
    }
    for (std::int64_t r = 0; r < count_; ++r) finish(r);
  }

  bool failed() const { return failed_; }

 private:
  bool states_for(std::int64_t rows) {
    std::byte* both = memory_[5].take(rows * static_cast<std::int64_t>(sizeof(RowState) + sizeof(double)));
    states_ = reinterpret_cast<RowState*>(both);
    by_ = reinterpret_cast<double*>(states_ + rows);
    return both;
  }

  std::byte* score_row(std::int64_t r) const { return scores_ + r * block_keys * a.lane_item; }
  std::byte* sum_row(std::int64_t r) const { return sums_ + r * a.width * a.lane_item; }

  void begin(std::int64_t b, std::int64_t head, std::int64_t first, std::int64_t count) {
    count_ = count, batch_ = b;
    rows_.place(b, head, first);
    keys_ = rows_.keys(), values_ = rows_.values();
    for (std::int64_t r = 0; r < count; ++r) states_[r] = rows_.first_state(r);
    std::memset(sums_, 0, static_cast<std::size_t>(count * a.width * a.lane_item));
    is_first_ = true;
  }

  void widen_query(std::int64_t r) { rows_.copy_query(r, queries_ + r * a.depth * a.lane_item); }

  // ---- a matrix unit ----

  static std::int64_t whole_tiles(std::int64_t n) { return (n + places_tile - 1) / places_tile * places_tile; }

  bool take_memory_of_unit(std::int64_t rows) {
    short_queries_ = memory_[6].take(rows * a.depth * 2);
    parts_ = memory_[7].take(2 * rows * block_keys * 2);
    auto places = [&](int i, std::int64_t n, std::int64_t k) {
      return reinterpret_cast<std::uint32_t*>(memory_[i].take(places_of(n, k) * 4));
    };
    key_places_ = places(8, block_keys, a.depth);
    value_places_ = places(9, a.width, block_keys);
    return short_queries_ && parts_ && key_places_ && value_places_;
  }

  // The smallest exponent of rows of keys or values.
  unsigned smallest(const Heads& x, const std::byte* data, std::int64_t first, std::int64_t end, std::int64_t length) {
    unsigned found = ~0u;
    if (x.column == 1 || x.row == 1)
      return a.products.smallest_bf16(Matrix{data + first * x.row * 2, x.row, x.column}, end - first, length);
    for (std::int64_t j = first; j < end; ++j) {
      a.kernel.gather[1](data + j * x.row * 2, rows_.spare(), static_cast<std::size_t>(length), x.column * 2);
      found = std::min(found, a.products.smallest_bf16(Matrix{rows_.spare(), length, 1}, 1, length));
    }
    return found;
  }

  // A unit takes subnormal numbers for 0, so that queries, keys and values are to be far from them.
  bool suits_unit(std::int64_t low, std::int64_t high) {
    constexpr unsigned least_value = 127 - 40;
    for (std::int64_t r = 0; r < count_; ++r) rows_.copy_short_query(r, short_queries_ + r * a.depth * 2);
    unsigned q = a.products.smallest_bf16(Matrix{short_queries_, a.depth, 1}, 1, count_ * a.depth);
    return keeps_small_bf16(q, smallest(a.k, keys_, low, high, a.depth)) &&
           smallest(a.v, values_, low, high, a.width) >= least_value;
  }

  void multiply_keys_by_unit(std::int64_t j, std::int64_t n) {
    a.products.pack_places(Matrix{keys_ + j * a.k.row * 2, a.k.column, a.k.row}, n, a.depth, key_places_);
    a.products.multiply_places(Matrix{short_queries_, a.depth, 1}, key_places_, reinterpret_cast<float*>(scores_),
                               block_keys, count_, n, a.depth, false);
  }

  void add_values_by_unit(std::int64_t j, std::int64_t n) {
    auto parts = reinterpret_cast<std::uint16_t*>(parts_);
    std::int64_t apart = count_ * block_keys, wide = whole_tiles(a.width);
    for (std::int64_t r = 0; r < count_; ++r)
      a.loops.split(score_row(r), parts + r * block_keys, apart, static_cast<std::size_t>(n));
    a.products.pack_places(Matrix{values_ + j * a.v.row * 2, a.v.row, a.v.column}, a.width, n, value_places_);
    for (int i = 1; i >= 0; --i)  // the smaller ones first
      a.products.multiply_places(Matrix{parts_ + i * apart * 2, block_keys, 1}, value_places_,
                                 reinterpret_cast<float*>(more_), wide, count_, a.width, n, i < 1);
    if (is_first_ && wide == a.width) std::swap(sums_, more_);
    else
      for (std::int64_t r = 0; r < count_; ++r)
        a.loops.update[0](more_ + r * wide * 4, by_[r], sum_row(r), static_cast<std::size_t>(a.width));
    is_first_ = false;
  }

  // ---- scores ----

  Stored stored(Dtype dtype) const {
    if (!a.tiles) return Stored::as_summed;
    return dtype == Dtype::bfloat16 ? Stored::bfloat16 : dtype == Dtype::float16 ? Stored::float16 : Stored::as_summed;
  }

  // c = left right for `rows` rows; what has to be converted before is.
  void multiply(const std::byte* left, std::int64_t left_row, Matrix right, Dtype dtype, bool transposed, std::byte* c,
                std::int64_t c_row, std::int64_t columns, std::int64_t depth) {
    Matrix x{left, left_row, 1};
    OwnMemory dense;
    Stored how = stored(dtype);
    if (how == Stored::as_summed && dtype != a.lane_dtype) {
      Matrix rows = transposed ? Matrix{right.data, right.column, right.row} : right;
      if (!make_contiguous(rows, dtype, a.lane_dtype, transposed ? columns : depth, transposed ? depth : columns,
                           dense)) {
        failed_ = true;
        return;
      }
      right = transposed ? Matrix{rows.data, rows.column, rows.row} : rows;
    }
    if (depth == 0) {
      for (std::int64_t r = 0; r < count_; ++r)
        std::memset(c + r * c_row * a.lane_item, 0, static_cast<std::size_t>(columns * a.lane_item));
    } else if (a.tiles) {
      a.tiles(x, Stored::as_summed, right, how, c, c_row, count_, columns, depth, tiles_);
    } else {
      a.loops.product[a.lane](x, right, c, c_row, count_, columns, depth, tiles_);
    }
  }

  // Whether rows of keys or values are multiplied as they lie, being widened on the way.
  bool are_brief(const Heads& x) const {
    return x.dtype == Dtype::bfloat16 && x.column == 1 && a.products.dots_of_bf16 && a.products.add_rows_of_bf16;
  }
  Dots dots_of(const Heads& x) const { return are_brief(x) ? a.products.dots_of_bf16 : a.products.dots[a.sum_kind]; }
  AddRows add_rows_of(const Heads& x) const {
    return are_brief(x) ? a.products.add_rows_of_bf16 : a.products.add_rows[a.sum_kind];
  }

  // Calls body(first, count, rows, their distance in bytes) for rows of keys or values as numbers of the lane, or brief
  // ones.
  template <class F>
  void each_chunk(const Heads& x, const std::byte* data, std::int64_t j, std::int64_t n, std::int64_t length, F body) {
    bool in_place = are_brief(x) || (x.dtype == a.lane_dtype && (x.column == 1 || length <= 1));
    std::int64_t step = in_place && count_ == 1 ? n : chunk_;
    for (std::int64_t done = 0; done < n; done += step) {
      std::int64_t some = std::min(step, n - done);
      const std::byte* from = data + (j + done) * x.row * x.item;
      if (in_place) {
        body(done, some, from, x.row * x.item);
        continue;
      }
      // Rows without gaps are converted at once.
      bool dense = x.column == 1 && x.row == length;
      std::int64_t lines = dense ? 1 : some, each = dense ? some * length : length;
      for (std::int64_t r = 0; r < lines; ++r) {
        rows_.copy_row(from + r * x.row * x.item, x, each, more_ + r * length * a.lane_item);
      }
      body(done, some, more_, length * a.lane_item);
    }
  }

  void multiply_keys(std::int64_t j, std::int64_t n) {
    if (few_) return dot_keys(j, n, 0, count_);
    if (by_unit_) return multiply_keys_by_unit(j, n);
    Matrix right{keys_ + j * a.k.row * a.k.item, a.k.column, a.k.row};
    multiply(queries_, a.depth, right, a.k.dtype, true, scores_, block_keys, n, a.depth);
  }

  void dot_keys(std::int64_t j, std::int64_t n, std::int64_t first, std::int64_t end) {
    each_chunk(a.k, keys_, j, n, a.depth,
               [&](std::int64_t done, std::int64_t some, const std::byte* rows, std::int64_t apart) {
                 for (std::int64_t r = first; r < end; ++r)
                   dots_of(a.k)(rows, apart, static_cast<std::size_t>(some), queries_ + r * a.depth * a.lane_item,
                                score_row(r) + done * a.lane_item, static_cast<std::size_t>(a.depth));
               });
  }

  // ---- values ----

  void add_values(std::int64_t j, std::int64_t n) {
    auto width = static_cast<std::size_t>(a.width);
    if (few_) {
      for (std::int64_t r = 0; r < count_; ++r) a.loops.update[a.lane](nullptr, by_[r], sum_row(r), width);
      each_chunk(a.v, values_, j, n, a.width,
                 [&](std::int64_t done, std::int64_t some, const std::byte* rows, std::int64_t apart) {
                   for (std::int64_t r = 0; r < count_; ++r)
                     add_rows_of(a.v)(score_row(r) + done * a.lane_item, rows, apart, static_cast<std::size_t>(some),
                                      sum_row(r), width);
                 });
      return;
    }
    if (by_unit_) return add_values_by_unit(j, n);
    Matrix right{values_ + j * a.v.row * a.v.item, a.v.row, a.v.column};
    std::byte* to = is_first_ ? sums_ : more_;
    multiply(scores_, block_keys, right, a.v.dtype, false, to, a.width, a.width, n);
    if (!is_first_)
      for (std::int64_t r = 0; r < count_; ++r)
        a.loops.update[a.lane](more_ + r * a.width * a.lane_item, by_[r], sum_row(r), width);
    is_first_ = false;
  }

  // A value that is not finite times a weight of 0 is NaN: where keys are hidden, or weights are sums, such a row is
  // summed up anew without them.
  void add_seen_values(std::int64_t r) {
    std::memset(sum_row(r), 0, static_cast<std::size_t>(a.width * a.lane_item));
    states_[r] = rows_.first_state(r);
    if (by_unit_) widen_query(r);
    std::int64_t i = rows_.query(r), end = a.end_of_keys(i);
    for (std::int64_t j = a.first_key(i) / block_keys * block_keys; j < end; j += block_keys) {
      std::int64_t n = std::min(block_keys, a.keys - j);
      dot_keys(j, n, r, r + 1);
      double by = rows_.weigh(r, j, n, score_row(r), states_[r]);
      a.loops.update[a.lane](nullptr, by, sum_row(r), static_cast<std::size_t>(a.width));
      auto [low, high] = rows_.seen(r, j, n);
      each_chunk(a.v, values_, j, n, a.width,
                 [&](std::int64_t done, std::int64_t some, const std::byte* rows, std::int64_t apart) {
                   for (std::int64_t key = std::max(done, low); key < std::min(done + some, high); ++key)
                     if (!a.has_mask || a.is_added || *rows_.mask_at(r, j + key) != std::byte{0})
                       add_rows_of(a.v)(score_row(r) + key * a.lane_item, rows + (key - done) * apart, apart, 1,
                                        sum_row(r), static_cast<std::size_t>(a.width));
                 });
    }
  }

  void finish(std::int64_t r) {
    auto width = static_cast<std::size_t>(a.width);
    std::int64_t number = (batch_ * a.heads + rows_.head_of(r)) * a.queries + rows_.query(r);
    std::byte* out = a.out + number * a.width * static_cast<std::int64_t>(item(a.dtype));
    const Layer& layer = layer_of(a.dtype);
    if (by_unit_ && a.loops.divide_to_bf16 && states_[r].sum != 0 &&
        a.loops.divide_to_bf16(sum_row(r), states_[r].sum, reinterpret_cast<std::uint16_t*>(out), width))
      return;
    std::byte* to = layer.is_narrow ? more_ : out;
    if (states_[r].sum == 0) {  // no key takes part
      double fill = a.zero_rows ? 0 : std::numeric_limits<double>::quiet_NaN();
      for (std::size_t i = 0; i < width; ++i)
        if (a.lane) reinterpret_cast<double*>(to)[i] = fill;
        else reinterpret_cast<float*>(to)[i] = static_cast<float>(fill);
    } else if (!a.loops.divide[a.lane](sum_row(r), states_[r].sum, to, width) && (a.hides() || by_unit_)) {
      add_seen_values(r);
      a.loops.divide[a.lane](sum_row(r), states_[r].sum, to, width);
    }
    if (layer.is_narrow) a.kernel.narrow[static_cast<std::size_t>(layer.narrow)](to, out, width);
  }

  const Attention& a;
  bool few_, failed_ = false, is_first_ = true, by_unit_ = false;
  OwnMemory memory_[10];
  std::byte *queries_ = nullptr, *sums_ = nullptr, *scores_ = nullptr, *more_ = nullptr, *tiles_ = nullptr;
  std::byte *short_queries_ = nullptr, *parts_ = nullptr;
  std::uint32_t *key_places_ = nullptr, *value_places_ = nullptr;
  RowState* states_ = nullptr;
  double* by_ = nullptr;
  const std::byte *keys_ = nullptr, *values_ = nullptr;
  std::int64_t chunk_ = 8, count_ = 0, batch_ = 0;
  Rows rows_;
};

// Computes it; false when there was no memory.
bool run(const Attention& a) {
  std::int64_t most = a.rows() <= few_rows ? few_rows : Worker::most_rows(a);
  std::int64_t parts = (a.rows() + most - 1) / most, heads = a.batch * a.shared;
  // Rows that share keys are apart if there are threads for it.
  if (a.rows() <= few_rows && heads < 2 * thread_count())
    parts = std::clamp<std::int64_t>(thread_count() / std::max<std::int64_t>(heads, 1), 1, a.rows());
  std::int64_t rows = (a.rows() + parts - 1) / parts, units = heads * parts;
  double work = static_cast<double>(rows) * static_cast<double>(a.keys + 1) * static_cast<double>(a.depth + a.width);
  auto grain = static_cast<std::int64_t>(std::max(1.0, (1 << 16) / std::max(work, 1.0)));
  std::atomic<bool> failed{false};
  parallel_for(units, grain, [&](std::int64_t begin, std::int64_t end) {
    Worker worker(a);
    if (!worker.take_memory(rows)) failed = true;
    for (std::int64_t u = begin; u < end && !failed; ++u) {
      std::int64_t part = u % parts, head = u / parts % a.shared, first = part * rows;
      if (first < a.rows()) worker.run(u / parts / a.shared, head, first, std::min(rows, a.rows() - first));
      if (worker.failed()) failed = true;
    }
  });
  return !failed;
}

const Tensor& checked(nb::handle object, int ndim) {
  const Tensor* t = read_tensor(object.ptr());
  if (!t || !facts(t->dtype).is_float() || (ndim >= 0 && t->ndim() != ndim) || t->ndim() < 1)
    throw nb::type_error("not a tensor of attention");
  return *t;
}

void check(bool holds) {
  if (!holds) throw nb::value_error("shapes of attention do not go together");
}

// Reads operands whose shapes the caller has made to agree.
Attention attention_of(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor* mask, const Tensor* sink) {
  Attention a;
  int n = q.ndim() - 3;
  check(n >= 0);
  a.batch_ndim = n;
  for (int d = 0; d < n; ++d) {
    check(k.dims()[d] == q.dims()[d] && v.dims()[d] == q.dims()[d]);
    a.dims[d] = q.dims()[d];
    a.batch *= q.dims()[d];
  }
  a.heads = q.dims()[n], a.queries = q.dims()[n + 1], a.depth = q.dims()[n + 2];
  a.shared = k.dims()[n], a.keys = k.dims()[n + 1], a.width = v.dims()[n + 2];
  check(k.dims()[n + 2] == a.depth && v.dims()[n] == a.shared && v.dims()[n + 1] == a.keys);
  check(a.shared > 0 ? a.heads % a.shared == 0 : a.heads == 0);
  check(k.dtype == q.dtype && v.dtype == q.dtype);
  a.group = a.shared ? a.heads / a.shared : 0;
  a.q.read(q), a.k.read(k), a.v.read(v);
  if (mask) {
    for (int d = 0; d < n; ++d) check(mask->dims()[d] == q.dims()[d]);
    check(mask->dims()[n] == a.heads && mask->dims()[n + 1] == a.queries && mask->dims()[n + 2] == a.keys);
    check(mask->dtype == Dtype::boolean || mask->dtype == q.dtype);
    a.mask.read(*mask);
    a.has_mask = true;
    a.is_added = mask->dtype != Dtype::boolean;
  } else {
    std::fill_n(a.mask.batch, n, 0);
  }
  if (sink) {
    check(sink->ndim() == 1 && sink->dims()[0] == a.heads && sink->dtype == q.dtype);
    a.sink = sink->data(), a.sink_stride = sink->strides()[0];
  }
  a.dtype = q.dtype;
  a.lane = q.dtype == Dtype::float64;
  a.lane_dtype = a.lane ? Dtype::float64 : Dtype::float32;
  a.lane_item = a.lane ? 8 : 4;
  a.sum_kind = static_cast<std::size_t>(a.lane ? Sum::f64 : Sum::f32);
  if (a.products.tiles) a.tiles = a.products.tiles->multiply[a.sum_kind];
  a.may_use_unit = a.dtype == Dtype::bfloat16 && a.products.multiply_places && a.loops.split && a.rows() > few_rows &&
                   a.depth > 0 && a.depth <= deepest_places && a.width > 0 && a.width <= deepest_places;
  return a;
}

// The result, or null and an exception.
PyObject* result_of(Attention& a) {
  std::int64_t dims[max_ndim];
  std::copy_n(a.dims, a.batch_ndim, dims);
  dims[a.batch_ndim] = a.heads, dims[a.batch_ndim + 1] = a.queries, dims[a.batch_ndim + 2] = a.width;
  PyObject* object = new_dense_tensor(a.dtype, a.batch_ndim + 3, dims);
  if (!object) return nullptr;
  nb::object made = nb::steal(object);
  const Tensor& out = *tensor_of(object);
  if (out.size == 0) return made.release().ptr();
  if (a.depth > longest_row) return no_memory();
  a.out = out.data();
  bool done = true;
  run_attention(a, [&] { done = run(a); });
  return done ? made.release().ptr() : no_memory();
}

nb::object attention(nb::handle q, nb::handle k, nb::handle v, nb::handle mask, nb::handle sink, double scale,
                     double softcap, std::int64_t left, std::int64_t right, std::int64_t offset, bool zero_rows) {
  Attention a = read_attention(q, k, v, mask, sink);
  a.scale = scale, a.softcap = softcap, a.left = left, a.right = right, a.offset = offset, a.zero_rows = zero_rows;
  return raise_or(result_of(a));
}

// One of two words, or nothing, which leaves the value as it is.
bool read_word(PyObject* object, const char* no, const char* yes, bool& value) {
  if (!object) return true;
  if (!PyUnicode_CheckExact(object)) return false;
  value = PyUnicode_CompareWithASCIIString(object, yes) == 0;
  return value || PyUnicode_CompareWithASCIIString(object, no) == 0;
}

// Whether tensors are of one dtype and go together without being broadcast.
bool fits(const Tensor* q, const Tensor* k, const Tensor* v) {
  if (!q || !k || !v || q->ndim() < 3 || k->ndim() != q->ndim() || v->ndim() != q->ndim() || k->dtype != q->dtype ||
      v->dtype != q->dtype || !facts(q->dtype).is_float())
    return false;
  int n = q->ndim() - 3;
  const std::int64_t *x = q->dims() + n, *y = k->dims() + n, *z = v->dims() + n;
  return std::equal(q->dims(), x, k->dims()) && std::equal(q->dims(), x, v->dims()) && y[0] > 0 && x[0] % y[0] == 0 &&
         x[2] == y[2] && y[0] == z[0] && y[1] == z[1];
}

PyObject* fast_attention(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  static Promoted promoted{"nn:scaled_dot_product_attention"};
  if (count > 4) return nullptr;
  Given given({"q", "k", "v", "mask", "causal", "scale", "align", "masked_rows"}, args, count, keywords);
  if (!given[0] || !given[1] || !given[2] || (given[3] && given[3] != Py_None)) return nullptr;
  const Tensor *q = read_tensor(given[0]), *k = read_tensor(given[1]), *v = read_tensor(given[2]);
  bool causal = false, at_end = false, no_rows = false;
  double scale = 0;
  bool has_scale = given[5] && given[5] != Py_None;
  if (has_scale) {
    if (!PyFloat_CheckExact(given[5])) return nullptr;
    scale = PyFloat_AS_DOUBLE(given[5]);
  }
  if (!fits(q, k, v) || !read_flag(given[4], causal) || !read_word(given[6], "top_left", "bottom_right", at_end) ||
      !read_word(given[7], "zero", "nan", no_rows) || !promoted.keeps_dtype(given[0], given[1]))
    return nullptr;
  Attention a = attention_of(*q, *k, *v, nullptr, nullptr);
  Storage* kept[] = {q->storage, k->storage, v->storage};
  std::copy_n(kept, 3, a.kept);
  a.scale = has_scale ? scale : 1 / std::sqrt(static_cast<double>(std::max<std::int64_t>(a.depth, 1)));
  a.softcap = 0, a.left = -1, a.right = causal ? 0 : -1, a.offset = at_end ? a.keys - a.queries : 0;
  a.zero_rows = !no_rows;
  return result_of(a);
}

}  // namespace

Attention read_attention(nb::handle q_, nb::handle k_, nb::handle v_, nb::handle mask_, nb::handle sink_) {
  const Tensor& q = checked(q_, -1);
  const Tensor &k = checked(k_, q.ndim()), &v = checked(v_, q.ndim());
  const Tensor* mask = mask_.is_none() ? nullptr : read_tensor(mask_.ptr());
  const Tensor* sink = sink_.is_none() ? nullptr : read_tensor(sink_.ptr());
  check((mask_.is_none() || (mask && mask->ndim() == q.ndim())) && (sink_.is_none() || sink));
  Attention a = attention_of(q, k, v, mask, sink);
  Storage* kept[] = {q.storage, k.storage, v.storage, mask ? mask->storage : nullptr, sink ? sink->storage : nullptr};
  std::copy_n(kept, 5, a.kept);
  return a;
}

void init_nn_attention(nb::module_& m) {
  using namespace nb::literals;
  add_fast_path<fast_attention>("scaled_dot_product_attention");
  m.def("attention", &attention, "q"_a, "k"_a, "v"_a, "mask"_a.none(), "sink"_a.none(), "scale"_a, "softcap"_a,
        "left"_a, "right"_a, "offset"_a, "zero_rows"_a,
        nb::sig("def attention(q: Any, k: Any, v: Any, mask: Any, sink: Any, scale: float, softcap: float, left: int, "
                "right: int, offset: int, zero_rows: bool) -> Tensor"),
        "Attention of tensors (batch..., heads, rows, columns) of one dtype; a query i sees the keys from i + offset - "
        "left to i + offset + right, -1 being no limit.");
}

}  // namespace suanzi
