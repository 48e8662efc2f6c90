// native/loops/copies.cpp: copies between any two layouts.
//
// Axes are put into the order of the target, and those that both sides step through alike are made
// one. What is left is one of three: rows that are dense on both sides, a transposition, which goes
// through square tiles in the caches, or elements far apart.
#include "loops/copies.h"

#include "loops/axes.h"
#include "loops/blocks.h"
#include "loops/row_copies.h"

namespace suanzi {
namespace {

// A move as it is carried out.
struct Plan : Move {
  std::size_t to_item, from_item;
  std::int64_t count;  // elements
  Path path;           // of no steps: the bytes are copied
  bool streams;        // so large that the result bypasses the caches

  explicit Plan(const Move& move)
      : Move(move), to_item(item(to_dtype)), from_item(item(from_dtype)), count(size()), streams(false) {}

  int last() const { return ndim - 1; }
  bool converts() const { return path.count > 0; }
};

bool target_coincides(const Move& move) {
  for (int d = 0; d < move.ndim; ++d)
    if (move.to_strides[d] == 0 && move.dims[d] > 1) return true;
  return false;
}

// Orders the axes by their steps in the target, the smallest last, and merges what goes together.
void simplify(Plan& p) {
  int order[max_ndim], kept = 0;
  for (int d = 0; d < p.ndim; ++d) {
    if (p.dims[d] == 1) continue;
    if (p.to_strides[d] < 0) {
      p.to += (p.dims[d] - 1) * p.to_strides[d];
      p.from += (p.dims[d] - 1) * p.from_strides[d];
      p.to_strides[d] = -p.to_strides[d];
      p.from_strides[d] = -p.from_strides[d];
    }
    order[kept++] = d;
  }
  std::stable_sort(order, order + kept, [&](int a, int b) { return p.to_strides[a] > p.to_strides[b]; });
  Move sorted = p;
  for (int i = 0; i < kept; ++i) {
    p.dims[i] = sorted.dims[order[i]];
    p.to_strides[i] = sorted.to_strides[order[i]];
    p.from_strides[i] = sorted.from_strides[order[i]];
  }
  std::int64_t* const strides[] = {p.to_strides, p.from_strides};
  p.ndim = merge_axes(kept, p.dims, strides, 2);
}

// Takes short rows that are dense on both sides, such as pairs, as elements of their size.
void widen(Plan& p) {
  while (!p.converts() && p.ndim > 0) {
    std::size_t wide = p.to_item * static_cast<std::size_t>(p.dims[p.last()]);
    auto item = static_cast<std::int64_t>(p.to_item);
    bool dense = p.to_strides[p.last()] == item && p.from_strides[p.last()] == item;
    if (!dense || p.dims[p.last()] > 16 || wide > 16 || (wide & (wide - 1))) return;
    p.count /= p.dims[p.last()];
    p.to_item = p.from_item = wide;
    --p.ndim;
  }
}

int log2_of(std::size_t item) {
  int found = 0;
  while ((std::size_t{1} << found) < item) ++found;
  return found;
}

// Calls row(to, from, n) for the parts of rows that elements [begin, end) are in.
template <class Row>
void for_rows(const Plan& p, std::int64_t begin, std::int64_t end, Row&& row) {
  std::int64_t at[max_ndim], rest = begin, to = 0, from = 0;
  int last = p.last();
  for (int d = last; d >= 0; --d) {
    at[d] = rest % p.dims[d];
    rest /= p.dims[d];
    to += at[d] * p.to_strides[d];
    from += at[d] * p.from_strides[d];
  }
  while (begin < end) {
    std::int64_t n = std::min(p.dims[last] - at[last], end - begin);
    row(p.to + to, p.from + from, n);
    begin += n;
    to -= at[last] * p.to_strides[last];
    from -= at[last] * p.from_strides[last];
    at[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      to += p.to_strides[d];
      from += p.from_strides[d];
      if (++at[d] < p.dims[d]) break;
      to -= at[d] * p.to_strides[d];
      from -= at[d] * p.from_strides[d];
      at[d] = 0;
    }
  }
}

// ---- copies of bytes --------------------------------------------------------------------------

template <std::size_t size>
void copy_far_apart(std::byte* to, const std::byte* from, std::int64_t n, std::int64_t to_step,
                    std::int64_t from_step) {
  if (from_step == 0) {
    std::byte value[size];
    std::memcpy(value, from, size);
    for (std::int64_t i = 0; i < n; ++i, to += to_step) std::memcpy(to, value, size);
    return;
  }
  for (std::int64_t i = 0; i < n; ++i, to += to_step, from += from_step) std::memcpy(to, from, size);
}

using CopyFarApart = void (*)(std::byte*, const std::byte*, std::int64_t, std::int64_t, std::int64_t);
constexpr CopyFarApart copies_far_apart[size_count] = {copy_far_apart<1>, copy_far_apart<2>, copy_far_apart<4>,
                                                       copy_far_apart<8>, copy_far_apart<16>};

// The axes along which rows are repeated go before that of the rows: each is read once, and in the caches then.
Plan with_repeats_last(const Plan& p) {
  Plan ordered = p;
  int kept = 0;
  for (bool repeats : {false, true})
    for (int d = 0; d < p.last(); ++d) {
      if ((p.from_strides[d] == 0) != repeats) continue;
      ordered.dims[kept] = p.dims[d];
      ordered.to_strides[kept] = p.to_strides[d];
      ordered.from_strides[kept++] = p.from_strides[d];
    }
  return ordered;
}

constexpr std::int64_t longest_repeated = 1 << 15;  // bytes of a row that stays in the first-level cache

void copy_rows(const Plan& given) {
  bool is_long = given.dims[given.last()] >= 64;
  bool reorders = is_long && given.dims[given.last()] * static_cast<std::int64_t>(given.to_item) <= longest_repeated;
  const Plan p = reorders ? with_repeats_last(given) : given;
  const Kernels& k = kernels();
  auto item = static_cast<std::int64_t>(p.to_item);
  std::int64_t to_step = p.to_strides[p.last()], from_step = p.from_strides[p.last()];
  bool dense = to_step == item && from_step == item;
  std::int64_t row_bytes = p.dims[p.last()] * item;
  bool streams = p.streams && dense && row_bytes >= 512;
  CopyFarApart far_apart = copies_far_apart[log2_of(p.to_item)];
  // Many short rows: the loop over them is the inner one.
  if (p.ndim > 1 && !is_long) {
    Plan rows = p;
    --rows.ndim;
    std::int64_t n = p.dims[p.last()], to_row = p.to_strides[p.last() - 1], from_row = p.from_strides[p.last() - 1];
    parallel_for(p.count / n, std::max<std::int64_t>(grain / n, 1), [&](std::int64_t begin, std::int64_t end) {
      for_rows(rows, begin, end, [&](std::byte* to, const std::byte* from, std::int64_t count) {
        // The longer of the two axes is walked along, some rows at a time, which stay in the first-level cache.
        if (!dense && n < count) {
          constexpr std::int64_t most = 256;
          for (std::int64_t i = 0; i < count; i += most, to += most * to_row, from += most * from_row)
            for (std::int64_t j = 0; j < n; ++j)
              far_apart(to + j * to_step, from + j * from_step, std::min(most, count - i), to_row, from_row);
          return;
        }
        for (std::int64_t i = 0; i < count; ++i, to += to_row, from += from_row)
          if (dense) copy_row(to, from, static_cast<std::size_t>(row_bytes));
          else far_apart(to, from, n, to_step, from_step);
      });
    });
    return;
  }
  parallel_for(p.count, grain, [&](std::int64_t begin, std::int64_t end) {
    for_rows(p, begin, end, [&](std::byte* to, const std::byte* from, std::int64_t n) {
      if (streams) k.stream(from, to, static_cast<std::size_t>(n * item));
      else if (dense && row_bytes <= longest_repeated) copy_row(to, from, static_cast<std::size_t>(n * item));
      else if (dense) std::memcpy(to, from, static_cast<std::size_t>(n * item));
      else far_apart(to, from, n, to_step, from_step);
    });
    if (streams) k.end_stream();
  });
}

// ---- conversions ------------------------------------------------------------------------------

// Gathers blocks of elements, converts them, and writes them where they belong.
void convert_blocks(const Plan& p, bool in_order) {
  std::size_t block = block_elements(std::max(widest(p.path, p.from_item), p.to_item));
  Plan sources = p, targets = p;
  std::int64_t to_step = p.to_strides[p.last()], from_step = p.from_strides[p.last()];
  CopyFarApart read = copies_far_apart[log2_of(p.from_item)], write = copies_far_apart[log2_of(p.to_item)];
  auto from_item = static_cast<std::int64_t>(p.from_item), to_item = static_cast<std::int64_t>(p.to_item);
  bool dense = p.ndim == 1 && to_step == to_item && from_step == from_item;
  auto body = [&](std::int64_t begin, std::int64_t end) {
    Buffer gathered, steps[2];
    for (std::int64_t at = begin; dense && at < end;) {  // nothing to gather
      auto n = static_cast<std::int64_t>(std::min(block, static_cast<std::size_t>(end - at)));
      follow_to(p.path, p.from + at * from_item, static_cast<std::size_t>(n), p.to_item, p.to + at * to_item,
                steps[0].bytes, steps[1].bytes);
      at += n;
    }
    if (dense) return;
    for (std::int64_t at = begin; at < end;) {
      auto n = static_cast<std::int64_t>(std::min(block, static_cast<std::size_t>(end - at)));
      std::byte* next = gathered.bytes;
      for_rows(sources, at, at + n, [&](std::byte*, const std::byte* from, std::int64_t count) {
        if (from_step == from_item) std::memcpy(next, from, static_cast<std::size_t>(count * from_item));
        else read(next, from, count, from_item, from_step);
        next += count * from_item;
      });
      const std::byte* made =
          follow(p.path, gathered.bytes, static_cast<std::size_t>(n), steps[0].bytes, steps[1].bytes);
      for_rows(targets, at, at + n, [&](std::byte* to, const std::byte*, std::int64_t count) {
        if (to_step == to_item) std::memcpy(to, made, static_cast<std::size_t>(count * to_item));
        else write(to, made, count, to_step, to_item);
        made += count * to_item;
      });
      at += n;
    }
  };
  if (in_order) body(0, p.count);
  else parallel_for(p.count, grain, body);
}

// ---- transpositions ---------------------------------------------------------------------------

// The edge of a tile, in elements: two lines of the cache or more, and a tile fits the first level.
constexpr int tile_edges[size_count] = {128, 128, 64, 32, 16};
constexpr std::size_t tile_bytes = 32768;

struct alignas(64) Tile {
  std::byte bytes[tile_bytes];
};

// The axis along which the source is dense, if the target is dense along another; else -1.
int crossing_axis(const Plan& p) {
  auto to_item = static_cast<std::int64_t>(p.to_item), from_item = static_cast<std::int64_t>(p.from_item);
  if (p.ndim < 2 || p.count < 256 || p.to_strides[p.last()] != to_item || p.dims[p.last()] < 4) return -1;
  if (p.from_strides[p.last()] == from_item || p.from_strides[p.last()] == 0) return -1;
  for (int d = p.last() - 1; d >= 0; --d)
    if (p.from_strides[d] == from_item && p.dims[d] >= 4) return d;
  return -1;
}

void transpose_tiles(const Plan& p, int source_axis) {
  const Kernels& k = kernels();
  int log2 = log2_of(p.from_item);
  std::int64_t edge = tile_edges[log2];
  // The two axes of the tiles, and all others.
  std::int64_t rows = p.dims[source_axis], columns = p.dims[p.last()];
  std::int64_t to_row = p.to_strides[source_axis], from_column = p.from_strides[p.last()];
  auto from_item = static_cast<std::int64_t>(p.from_item), to_item = static_cast<std::int64_t>(p.to_item);
  Plan outer = p;
  outer.ndim = 0;
  for (int d = 0; d < p.last(); ++d) {
    if (d == source_axis) continue;
    outer.dims[outer.ndim] = p.dims[d];
    outer.to_strides[outer.ndim] = p.to_strides[d];
    outer.from_strides[outer.ndim++] = p.from_strides[d];
  }
  if (outer.ndim == 0) {
    outer.ndim = 1;
    outer.dims[0] = 1;
    outer.to_strides[0] = outer.from_strides[0] = 0;
  }
  std::int64_t row_tiles = (rows + edge - 1) / edge, column_tiles = (columns + edge - 1) / edge;
  std::int64_t tiles = row_tiles * column_tiles, planes = p.count / (rows * columns);
  std::int64_t tile_size = std::min(edge, rows) * std::min(edge, columns);
  bool aligned = reinterpret_cast<std::uintptr_t>(p.to) % 64 == 0;
  for (int d = 0; d < p.last(); ++d) aligned &= p.to_strides[d] % 64 == 0;
  bool streams = p.streams && aligned;
  parallel_for(planes * tiles, std::max<std::int64_t>(grain / tile_size, 1), [&](std::int64_t begin, std::int64_t end) {
    Tile read, transposed, converted[2];
    for (std::int64_t at = begin; at < end; ++at) {
      std::int64_t plane = at / tiles, tile = at % tiles;
      std::int64_t row = tile % row_tiles * edge, column = tile / row_tiles * edge;
      std::int64_t n_rows = std::min(edge, rows - row), n_columns = std::min(edge, columns - column);
      std::byte* to = nullptr;
      const std::byte* from = nullptr;
      for_rows(outer, plane, plane + 1, [&](std::byte* t, const std::byte* f, std::int64_t) { to = t, from = f; });
      to += row * to_row + column * to_item;
      from += row * from_item + column * from_column;
      std::size_t pitch = static_cast<std::size_t>(n_rows * from_item);
      for (std::int64_t j = 0; j < n_columns; ++j)
        std::memcpy(read.bytes + static_cast<std::size_t>(j) * pitch, from + j * from_column, pitch);
      k.transpose[log2](read.bytes, transposed.bytes, static_cast<std::size_t>(n_columns),
                        static_cast<std::size_t>(n_rows));
      const std::byte* made = transposed.bytes;
      for (std::int64_t i = 0; i < n_rows; ++i, to += to_row, made += n_columns * from_item) {
        const std::byte* line = p.converts() ? follow(p.path, made, static_cast<std::size_t>(n_columns),
                                                      converted[0].bytes, converted[1].bytes)
                                             : made;
        if (streams) k.stream(line, to, static_cast<std::size_t>(n_columns * to_item));
        else std::memcpy(to, line, static_cast<std::size_t>(n_columns * to_item));
      }
    }
    if (streams) k.end_stream();
  });
}

}  // namespace

Move& Move::operator=(const Move& other) noexcept {
  if (this == &other) return *this;
  ndim = other.ndim;
  std::copy_n(other.dims, ndim, dims);
  std::copy_n(other.to_strides, ndim, to_strides);
  std::copy_n(other.from_strides, ndim, from_strides);
  to = other.to;
  from = other.from;
  to_dtype = other.to_dtype;
  from_dtype = other.from_dtype;
  saturate = other.saturate;
  return *this;
}

std::int64_t Move::size() const noexcept {
  std::int64_t found = 1;
  for (int d = 0; d < ndim; ++d)
    if (dims[d] == 0) return 0;
  for (int d = 0; d < ndim; ++d) found *= dims[d];
  return found;
}

Move Move::to_dense(std::byte* to, Dtype to_dtype, const std::byte* from, Dtype from_dtype, int ndim,
                    const std::int64_t* dims, const std::int64_t* strides, std::int64_t unit) noexcept {
  Move made;
  made.ndim = ndim;
  made.to = to, made.from = from;
  made.to_dtype = to_dtype, made.from_dtype = from_dtype;
  auto stride = static_cast<std::int64_t>(item(to_dtype));
  for (int d = ndim; d-- > 0; stride *= dims[d]) {
    made.dims[d] = dims[d];
    made.to_strides[d] = stride;
    made.from_strides[d] = strides[d] * unit;
  }
  return made;
}

void run_move(const Move& move) {
  const Kernels& k = kernels();
  Plan p(move);
  if (p.count == 0) return;
  if (move.to_dtype != move.from_dtype) p.path = cast_path(k, move.from_dtype, move.to_dtype, move.saturate);
  p.streams = p.count * static_cast<std::int64_t>(p.to_item + p.from_item) >= stream_from();
  bool in_order = target_coincides(move);
  if (!in_order) {
    simplify(p);
    widen(p);
  }
  if (p.ndim == 0) {
    p.ndim = 1;
    p.dims[0] = 1;
    p.to_strides[0] = p.from_strides[0] = 0;
  }
  if (in_order) return convert_blocks(p, true);
  int source_axis = crossing_axis(p);
  if (source_axis >= 0) return transpose_tiles(p, source_axis);
  if (p.converts()) convert_blocks(p, false);
  else copy_rows(p);
}

}  // namespace suanzi
