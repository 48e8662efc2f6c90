// native/ops/signal/transforms.h: 7.2.16: Fourier transforms of complex numbers along one axis, of any length.
//
// Sequences are transformed side by side, one in each lane of a vector, the remaining lanes filled with zeros; a single
// one is cut into as many as there are lanes, a long one into the rows and columns of a rectangle. A length with a
// large prime factor is a convolution of a longer one without (Bluestein's algorithm). The shape alone decides which of
// these is used, and threads share whole sequences: their number and the layout change no bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <mutex>

#include "core/own_memory.h"
#include "core/threads.h"
#include "ops/signal/plans.h"

namespace suanzi {

inline constexpr std::int64_t far_apart = 1 << 14;  // elements from which on columns do not stay in a cache
inline constexpr std::int64_t long_from = 1 << 15;  // elements from which on a transform is one of a rectangle
inline constexpr std::int64_t odd_from = 1 << 9;    // the same where the lanes do not divide it
// Bytes of two buffers that sequences side by side fill, from which on each is transformed by itself, in all lanes, and
// stays in the first-level cache: rows of 256 to 1024 take 0.45 to 0.7 of the time on AVX-512 then (0.7 to 1 on a
// Neoverse-N1 from 1024 to 8192), those of 128 as long and longer.
inline constexpr std::int64_t too_wide = 1 << 16;

// ---- transforms ---------------------------------------------------------------------------------

// Memory for two buffers of n vectors of complex numbers.
template <class T>
struct Work {
  OwnMemory memory;
  T *x, *work;
  Work(std::int64_t n, std::size_t lanes) {
    std::int64_t numbers = 2 * n * static_cast<std::int64_t>(lanes);
    x = reinterpret_cast<T*>(memory.take(2 * static_cast<std::int64_t>(sizeof(T)) * numbers));
    work = x ? x + numbers : nullptr;
  }
  explicit operator bool() const { return x != nullptr; }
};

// Where the sequences of a tensor are: rows x n x columns.
struct Shape {
  std::int64_t rows, n, columns;
};

// Elements that are transformed together where a copy of them is needed: they stay in the second-level cache.
inline constexpr std::int64_t together = 1 << 16;

template <class T>
inline constexpr Dtype complex_dtype = sizeof(T) == 4 ? Dtype::complex64 : Dtype::complex128;

// A length as a convolution: x_k times `roots` k, convolved with their conjugates, whose transform of m elements, over
// m, is `filter`, and times `roots` again.
template <class T>
struct Convolution {
  std::int64_t m;
  std::vector<T> roots, filter;
};
template <class T>
std::shared_ptr<const Convolution<T>> convolution_of(std::int64_t n);

// to[c to_step + r] = from[r from_step + c]
template <class X>
void transpose(const X* from, std::int64_t from_step, X* to, std::int64_t to_step, std::int64_t rows,
               std::int64_t columns) {
  constexpr std::int64_t block = 16;  // rows, a line of the cache and more of each column
  parallel_for((rows + block - 1) / block, std::max<std::int64_t>(1, 1024 / columns),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t b = first; b < last; ++b)
                   for (std::int64_t c = 0; c < columns; ++c)
                     for (std::int64_t r = b * block; r < std::min(rows, (b + 1) * block); ++r)
                       to[c * to_step + r] = from[r * from_step + c];
               });
}

// Transforms rows x n x columns elements along the middle axis by run(from, to, count) for rows, which are copies of
// some columns at a time. False if there is no memory, or `run` says so.
template <class In, class Out, class F>
bool columns_as_rows(const In* in, std::int64_t n, Out* out, std::int64_t made, std::int64_t rows, std::int64_t columns,
                     F&& run) {
  std::int64_t most = std::min(columns, std::max<std::int64_t>(8, together / std::max(n, made)));
  Scratch read(Dtype::uint8, most * n * static_cast<std::int64_t>(sizeof(In)));
  Scratch written(Dtype::uint8, most * made * static_cast<std::int64_t>(sizeof(Out)));
  auto* from = reinterpret_cast<In*>(read.data());
  auto* to = reinterpret_cast<Out*>(written.data());
  if (!from || !to) return false;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t first = 0; first < columns; first += most) {
      std::int64_t count = std::min(most, columns - first);
      transpose(in + i * n * columns + first, columns, from, n, n, count);
      if (!run(from, to, count)) return false;
      transpose(to, made, out + i * made * columns + first, columns, count, made);
    }
  return true;
}

template <class T>
struct Transform {
  const FourierKernels<T>& k;
  bool forward;
  std::atomic<bool> has_room{true};

  explicit Transform(const FourierKernels<T>& kernels, bool ahead) : k(kernels), forward(ahead) {}
  std::int64_t lanes() const { return static_cast<std::int64_t>(k.lanes); }

  // Runs body(i, work) for each i below `count`, each of `cost` elements, with two buffers of n vectors.
  template <class F>
  void share(std::int64_t count, std::int64_t cost, std::int64_t n, std::size_t width, F&& body) {
    std::int64_t least = std::max<std::int64_t>(1, (std::int64_t{1} << 12) / std::max<std::int64_t>(cost, 1));
    parallel_for(count, least, [&](std::int64_t begin, std::int64_t end) {
      Work<T> work(n, width);
      if (!work) return has_room.store(false, std::memory_order_relaxed);
      for (std::int64_t i = begin; i < end; ++i) body(i, work);
    });
  }

  // Sequences side by side: those of columns next to one another, or of rows.
  void many(const T* in, T* out, const Shape& s, T scale) {
    if (s.columns > 1 && s.n * s.columns >= far_apart) return columns(in, out, s, scale);
    auto plan = plan_of<T>(s.n, 1);
    bool along_rows = s.columns == 1;
    std::int64_t side = along_rows ? s.rows : s.columns, groups = (side + lanes() - 1) / lanes();
    std::int64_t blocks = along_rows ? 1 : s.rows, stride = s.columns, lane_stride = along_rows ? s.n : 1;
    share(blocks * groups, s.n * lanes(), s.n, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i % groups * lanes(), at = 2 * (i / groups * s.n * s.columns + first * lane_stride);
      auto count = static_cast<std::size_t>(std::min(lanes(), side - first));
      k.read(in + at, s.n, stride, lane_stride, count, forward, work.x);
      const T* made = k.transform(*plan, work.x, work.work);
      k.write(made, s.n, stride, lane_stride, count, forward, scale, out + at);
    });
  }

  static constexpr std::int64_t most_groups = 4;

  // Columns whose elements lie far apart: some groups of them are read and written together, a few rows at a time, so
  // that all of a line and of a page is used while it is at hand.
  void columns(const T* in, T* out, const Shape& s, T scale) {
    constexpr std::int64_t step = 16;
    auto plan = plan_of<T>(s.n, 1);
    std::int64_t groups = (s.columns + lanes() - 1) / lanes();
    // Fewer where threads would else have no more than one block each; how many has no say in what is computed.
    std::int64_t most = std::clamp<std::int64_t>(s.rows * groups / (2 * thread_count()), 1, most_groups);
    std::int64_t blocks = (groups + most - 1) / most;
    std::int64_t vectors = 2 * s.n * lanes();        // numbers of a group
    std::int64_t room = (s.n * (most + 1) + 1) / 2;  // of each of two buffers
    share(s.rows * blocks, s.n * lanes() * most, room, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t begin = i % blocks * most, count = std::min(most, groups - begin);
      T* buffers[most_groups + 1];  // of the groups, and one besides
      for (std::int64_t g = 0; g <= count; ++g) buffers[g] = work.x + g * vectors;
      auto each = [&](auto&& body) {
        for (std::int64_t row = 0; row < s.n; row += step)
          for (std::int64_t g = 0; g < count; ++g) {
            std::int64_t first = (begin + g) * lanes(), at = 2 * ((i / blocks * s.n + row) * s.columns + first);
            body(at, buffers[g] + 2 * row * lanes(), std::min(step, s.n - row),
                 static_cast<std::size_t>(std::min(lanes(), s.columns - first)));
          }
      };
      each([&](std::int64_t at, T* x, std::int64_t rows, std::size_t wide) {
        k.read(in + at, rows, s.columns, 1, wide, forward, x);
      });
      for (std::int64_t g = 0; g < count; ++g)
        if (k.transform(*plan, buffers[g], buffers[count]) != buffers[g]) std::swap(buffers[g], buffers[count]);
      each([&](std::int64_t at, const T* x, std::int64_t rows, std::size_t wide) {
        k.write(x, rows, s.columns, 1, wide, forward, scale, out + at);
      });
    });
  }

  // Calls body(row, begin, end) for parts of `count` rows of n elements.
  template <class F>
  static void for_parts(std::int64_t count, std::int64_t n, F&& body) {
    constexpr std::int64_t most = 1 << 13;
    std::int64_t parts = (n + most - 1) / most;
    parallel_for(count * parts, std::max<std::int64_t>(1, most / n), [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i)
        body(i / parts, i % parts * most, std::min(n, (i % parts + 1) * most));
    });
  }

  // Rows whose length has a large prime factor.
  void convolved(const T* in, T* out, const Shape& s, T scale) {
    auto c = convolution_of<T>(s.n);
    std::int64_t n = s.n, m = c->m, most = std::clamp<std::int64_t>(together / m, 1, s.rows);
    Scratch memory(complex_dtype<T>, most * m);
    auto* z = reinterpret_cast<T*>(memory.data());
    if (!z) return has_room.store(false, std::memory_order_relaxed);
    const T *roots = c->roots.data(), *filter = c->filter.data();
    for (std::int64_t first = 0; first < s.rows && has_room; first += most) {
      std::int64_t count = std::min(most, s.rows - first);
      const T* from = in + 2 * first * n;
      T* to = out + 2 * first * n;
      for_parts(count, m, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        std::int64_t filled = std::clamp(n, begin, end);
        T* row = z + 2 * i * m;
        k.multiply(from + 2 * (i * n + begin), roots + 2 * begin, filled - begin, forward, true, T{1}, row + 2 * begin);
        std::fill(row + 2 * filled, row + 2 * end, T{0});
      });
      bool good = Transform(k, true).run(z, z, {count, m, 1}, T{1});
      for_parts(count, m, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        T* row = z + 2 * (i * m + begin);
        k.multiply(row, filter + 2 * begin, end - begin, true, true, T{1}, row);
      });
      good = good && Transform(k, false).run(z, z, {count, m, 1}, T{1});
      if (!good) return has_room.store(false, std::memory_order_relaxed);
      for_parts(count, n, [&](std::int64_t i, std::int64_t begin, std::int64_t end) {
        k.multiply(z + 2 * (i * m + begin), roots + 2 * begin, end - begin, true, forward, scale,
                   to + 2 * (i * n + begin));
      });
    }
  }

  // Whether rows of n elements are transformed one by one.
  bool is_for_one(std::int64_t n) const {
    return n < long_from && n % lanes() == 0 && 4 * n * lanes() * static_cast<std::int64_t>(sizeof(T)) >= too_wide;
  }

  // Each of few or long rows for itself, in all lanes.
  void each(const T* in, T* out, const Shape& s, T scale) {
    std::int64_t n = s.n / lanes();
    auto plan = plan_of<T>(n, k.lanes);
    share(s.rows, s.n, n, k.lanes, [&](std::int64_t i, Work<T>& work) {
      k.read(in + 2 * i * s.n, n, lanes(), 1, k.lanes, forward, work.x);
      k.join(*plan, k.transform(*plan, work.x, work.work), forward, scale, out + 2 * i * s.n);
    });
  }

  // The same where the lanes do not divide the length.
  void each_plainly(const T* in, T* out, const Shape& s, T scale) {
    auto plan = plan_of<T>(s.n, 1);
    share(s.rows, 4 * s.n, s.n, 1, [&](std::int64_t i, Work<T>& work) {
      for (std::int64_t j = 0; j < s.n; ++j)
        for (int part = 0; part < 2; ++part) work.x[2 * j + part] = in[2 * (i * s.n + j) + (part ^ !forward)];
      const T* made = k.transform_one(*plan, work.x, work.work);
      for (std::int64_t j = 0; j < s.n; ++j)
        for (int part = 0; part < 2; ++part) out[2 * (i * s.n + j) + (part ^ !forward)] = made[2 * j + part] * scale;
    });
  }

  // One long sequence as rows and columns: first along the columns, times exp(-2 pi i j k / n), then along the rows.
  void rectangle(const T* in, T* out, T* between, std::int64_t rows, std::int64_t columns, T scale) {
    auto down = plan_of<T>(rows, 1), across = plan_of<T>(columns, 1);
    std::int64_t n = rows * columns, blocks = (rows + 31) / 32, l = lanes();
    auto roots = RootTable::of(n);
    share((columns + l - 1) / l, rows * l, rows + blocks + 32, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i * l;
      auto count = static_cast<std::size_t>(std::min(l, columns - first));
      T *coarse = work.x + 2 * rows * l, *fine = coarse + 2 * blocks * l;
      for (std::int64_t b = 0; b < blocks + 32; ++b)
        for (std::int64_t lane = 0; lane < l; ++lane) {
          std::int64_t row = b < blocks ? 32 * b : b - blocks;
          Root w = (*roots)[row * std::min(first + lane, columns - 1)];  // below n
          coarse[2 * b * l + lane] = static_cast<T>(w.re), coarse[(2 * b + 1) * l + lane] = static_cast<T>(w.im);
        }
      k.read(in + 2 * first, rows, columns, 1, count, forward, work.x);
      T* made = k.transform(*down, work.x, work.work);
      k.turn(made, rows, coarse, fine);
      k.write(made, rows, columns, 1, count, true, T{1}, between + 2 * first);
    });
    share((rows + l - 1) / l, columns * l, columns, k.lanes, [&](std::int64_t i, Work<T>& work) {
      std::int64_t first = i * l;
      auto count = static_cast<std::size_t>(std::min(l, rows - first));
      k.read(between + 2 * first * columns, columns, 1, columns, count, true, work.x);
      const T* made = k.transform(*across, work.x, work.work);
      k.write(made, columns, rows, 1, count, forward, scale, out + 2 * first);
    });
  }

  // False if there is no memory.
  bool run(const T* in, T* out, const Shape& s, T scale) {
    if (!has_plan(s.n)) {
      if (s.columns == 1) {
        convolved(in, out, s, scale);
        return has_room;
      }
      using C = std::complex<T>;
      return columns_as_rows(reinterpret_cast<const C*>(in), s.n, reinterpret_cast<C*>(out), s.n, s.rows, s.columns,
                             [&](const C* from, C* to, std::int64_t count) {
                               return run(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), {count, s.n, 1},
                                          scale);
                             });
    }
    if (s.columns > 1 || (s.n < long_from && s.rows >= lanes() && !is_for_one(s.n))) {
      many(in, out, s, scale);
      return has_room;
    }
    if (s.n >= long_from || (s.n >= odd_from && s.n % lanes())) {
      auto rows = static_cast<std::int64_t>(std::sqrt(static_cast<double>(s.n)));
      while (s.n % rows) --rows;
      if (rows >= 16) {
        Scratch between(complex_dtype<T>, s.n);
        if (!between.data()) return false;
        for (std::int64_t i = 0; i < s.rows; ++i)
          rectangle(in + 2 * i * s.n, out + 2 * i * s.n, reinterpret_cast<T*>(between.data()), rows, s.n / rows, scale);
        return has_room;
      }
    }
    if (s.n % lanes() == 0) each(in, out, s, scale);
    else each_plainly(in, out, s, scale);
    return has_room;
  }
};

template <class T>
const FourierKernels<T>& kernels_of() {
  if constexpr (sizeof(T) == 4) return fourier_kernels().f32;
  else return fourier_kernels().f64;
}

template <class T>
std::shared_ptr<const Convolution<T>> convolution_of(std::int64_t n) {
  static std::mutex mutex;
  static std::map<std::int64_t, std::shared_ptr<const Convolution<T>>> kept;
  constexpr std::size_t most = 16;
  {
    std::lock_guard lock(mutex);
    auto found = kept.find(n);
    if (found != kept.end()) return found->second;
  }
  auto made = std::make_shared<Convolution<T>>();
  std::int64_t m = made->m = convolution_length(n);
  std::vector<double> chirp = chirp_of<double>(n), filter(static_cast<std::size_t>(2 * m));
  made->roots.assign(chirp.begin(), chirp.end());
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t at : {k, (m - k) % m}) {
      filter[static_cast<std::size_t>(2 * at)] = chirp[static_cast<std::size_t>(2 * k)];
      filter[static_cast<std::size_t>(2 * at + 1)] = -chirp[static_cast<std::size_t>(2 * k + 1)];
    }
  if (!Transform<double>(kernels_of<double>(), true).run(filter.data(), filter.data(), {1, m, 1}, 1.0 / double(m)))
    throw std::bad_alloc();
  made->filter.assign(filter.begin(), filter.end());
  std::lock_guard lock(mutex);
  if (kept.size() >= most) kept.clear();
  kept[n] = made;
  return made;
}

}  // namespace suanzi
