// native/ops/creation/random.cpp: 7.2.1.7 to 7.2.1.11: random numbers, drawn by threads that share them.
//
// What an element is made of follows from its index in row-major order, the seed and the operator alone, whoever
// makes it.
#if defined(__APPLE__)
#include <sys/random.h>
#endif

#include <cmath>
#include <iterator>

#include "calls/arguments.h"
#include "calls/fast_function.h"
#include "calls/operands.h"
#include "core/status.h"
#include "kernels/by_level.h"
#include "kernels/creation/random.h"
#include "loops/blocks.h"

namespace suanzi {

SUANZI_BY_LEVEL(RandomKernels, random_kernels)

namespace {

enum class Purpose : std::uint32_t { uniform, normal, bernoulli, choice, ring, permutation };

// What a seed stands for; 0 is the system's entropy, and never the same.
RandomStream stream_of(std::int64_t seed, Purpose purpose) {
  RandomStream stream{static_cast<std::uint64_t>(seed), static_cast<std::uint32_t>(purpose), 0};
  if (seed) return stream;
  std::uint32_t entropy[3];
  if (getentropy(entropy, sizeof entropy)) throw_status("InternalError", "the system has no entropy for the seed 0");
  stream.key = entropy[0] | static_cast<std::uint64_t>(entropy[1]) << 32;
  stream.nonce = entropy[2];
  return stream;
}

constexpr std::int64_t words_at_once = block_bytes;  // bytes
constexpr std::int64_t blocks_per_thread = 8;

// Calls body(words, index, n) for the words of elements `first` to `first` + count, Word by Word, in any order and by
// several threads.
template <class Word, class F>
void for_words(const RandomStream& stream, std::int64_t first, std::int64_t count, F&& body) noexcept {
  constexpr std::int64_t most = words_at_once / sizeof(Word), in_block = 16 / sizeof(Word);
  const RandomKernels& k = random_kernels();
  parallel_for((count + most - 1) / most, blocks_per_thread, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) std::byte words[words_at_once + 16];
    for (std::int64_t b = begin; b < end; ++b) {
      std::int64_t index = first + b * most, n = std::min(most, count - b * most), skipped = index % in_block;
      k.words(stream, static_cast<std::uint64_t>(index / in_block), reinterpret_cast<std::uint32_t*>(words),
              static_cast<std::size_t>((skipped + n + in_block - 1) / in_block));
      body(reinterpret_cast<const Word*>(words) + skipped, index, static_cast<std::size_t>(n));
    }
  });
}

// A new tensor, which nobody else has, whose first element has an index.
Tensor& new_one(nb::handle tensor, std::int64_t first = 0) {
  Tensor* t = tensor_of(tensor.ptr());
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;
  if (!t || !t->storage || !t->row_major || first < 0 || first > most - t->size)
    throw nb::value_error("not a new tensor");
  return *t;
}

// How many real numbers a tensor is made of, and how they are stored.
struct Parts {
  Dtype dtype;
  std::int64_t each, count;
  std::size_t size;
  explicit Parts(const Tensor& t)
      : dtype(part_of(t.dtype)), each(facts(t.dtype).is_complex() ? 2 : 1), count(each * t.size),
        size(facts(dtype).itemsize) {}
  // How many of them the elements before one are made of.
  std::int64_t before(std::int64_t element) const { return each * element; }
};

// ---- uniform ----------------------------------------------------------------------------------

template <class T, class Word, class Kernel>
void fill_uniform(const Tensor& t, const RandomStream& stream, std::int64_t first, Py_complex low, Py_complex high,
                  Py_complex last, Kernel kernel) {
  const Parts parts(t);
  const UniformRange<T> range{{static_cast<T>(low.real), static_cast<T>(low.imag)},
                              {static_cast<T>(high.real), static_cast<T>(high.imag)},
                              {static_cast<T>(last.real), static_cast<T>(last.imag)}};
  const Path path = cast_path(kernels(), sizeof(T) == 4 ? Dtype::float32 : Dtype::float64, parts.dtype, false);
  const std::int64_t begin = parts.before(first);
  for_words<Word>(stream, begin, parts.count, [&](const Word* words, std::int64_t at, std::size_t n) {
    std::byte* to = t.data() + (at - begin) * static_cast<std::int64_t>(parts.size);
    if (path.count == 0) return kernel(words, reinterpret_cast<T*>(to), n, range);
    Buffer made, other;
    kernel(words, reinterpret_cast<T*>(made.bytes), n, range);
    follow_to(path, made.bytes, n, parts.size, to, made.bytes, other.bytes);
  });
}

// `first` is the index of the tensor's first element among those that the seed gives: a part of a larger tensor has
// the numbers that are there.
void draw_uniform(const Tensor& t, const RandomStream& stream, std::int64_t first, Py_complex low, Py_complex high,
                  Py_complex last) {
  const RandomKernels& k = random_kernels();
  // Both parts are alike where there is one.
  if (!facts(t.dtype).is_complex()) low.imag = low.real, high.imag = high.real, last.imag = last.real;
  run_over(t.size, {&t}, [&] {
    if (Parts(t).dtype == Dtype::float64)
      fill_uniform<double, std::uint64_t>(t, stream, first, low, high, last, k.uniform_f64);
    else fill_uniform<float, std::uint32_t>(t, stream, first, low, high, last, k.uniform_f32);
  });
}

Py_complex complex_of(nb::handle number) {
  Py_complex found = PyComplex_AsCComplex(number.ptr());
  if (PyErr_Occurred()) throw nb::python_error();
  return found;
}

void random_uniform(nb::handle tensor, std::int64_t seed, nb::handle low, nb::handle high, nb::handle last,
                    std::int64_t first) {
  const Tensor& t = new_one(tensor, first);
  draw_uniform(t, stream_of(seed, Purpose::uniform), first, complex_of(low), complex_of(high), complex_of(last));
}

void random_integers(nb::handle tensor, std::int64_t seed, nb::handle low, nb::handle count, std::int64_t first) {
  const Tensor& t = new_one(tensor, first);
  auto word = [](nb::handle number) {
    std::uint64_t found = PyLong_AsUnsignedLongLongMask(number.ptr());
    if (PyErr_Occurred()) throw nb::python_error();
    return found;
  };
  const IntegerRange range{word(low), word(count)};
  const RandomStream stream = stream_of(seed, Purpose::uniform);
  const auto& of_size = random_kernels().integers;
  const auto log2_size = static_cast<std::size_t>(layer_of(t.dtype).log2_size);
  if (log2_size >= std::size(of_size)) throw nb::value_error("not a tensor of integers");
  auto kernel = of_size[log2_size];
  auto size = static_cast<std::int64_t>(t.itemsize());
  auto run = [&]<class Word>(Word) {
    for_words<Word>(stream, first, t.size, [&](const Word* words, std::int64_t at, std::size_t n) {
      kernel(words, t.data() + (at - first) * size, n, range, stream, static_cast<std::uint64_t>(at));
    });
  };
  run_over(t.size, {&t}, [&] {
    switch (integer_word_size(range)) {
      case 1: return run(std::uint8_t{});
      case 2: return run(std::uint16_t{});
      case 4: return run(std::uint32_t{});
      default: return run(std::uint64_t{});
    }
  });
}

// ---- normal -----------------------------------------------------------------------------------

// What lies beyond `end` becomes it.
void draw_normal(const Tensor& t, const RandomStream& stream, std::int64_t first, Py_complex mean, double deviation,
                 double end) {
  const Parts parts(t);
  const std::int64_t begin = parts.before(first);
  const Path path = cast_path(kernels(), Dtype::float64, parts.dtype, false);
  bool is_complex = facts(t.dtype).is_complex(), is_standard = deviation == 1 && mean.real == 0 && !is_complex;
  const double means[] = {mean.real, is_complex ? mean.imag : mean.real};
  run_over(t.size, {&t}, [&] {
    const RandomKernels& k = random_kernels();
    for_words<std::uint64_t>(stream, begin, parts.count,
                             [&](const std::uint64_t* words, std::int64_t at, std::size_t n) {
                               std::byte* to = t.data() + (at - begin) * static_cast<std::int64_t>(parts.size);
                               Buffer made, other;
                               auto* x = reinterpret_cast<double*>(path.count ? made.bytes : to);
                               k.normal(words, x, n, stream, static_cast<std::uint64_t>(at));
                               if (!is_standard)
                                 for (std::size_t i = 0; i < n; ++i) {
                                   double moved = x[i] * deviation + means[i % 2];  // `at` is even where they differ
                                   x[i] = moved > end ? end : moved < -end ? -end : moved;
                                 }
                               if (path.count) follow_to(path, made.bytes, n, parts.size, to, made.bytes, other.bytes);
                             });
  });
}

void random_normal(nb::handle tensor, std::int64_t seed, nb::handle mean, double deviation, double end,
                   std::int64_t first) {
  draw_normal(new_one(tensor, first), stream_of(seed, Purpose::normal), first, complex_of(mean), deviation, end);
}

// ---- chances ----------------------------------------------------------------------------------

bool random_bernoulli(nb::handle tensor, nb::handle chances, std::int64_t seed, std::int64_t begin) {
  const Tensor &t = new_one(tensor, begin), &p = new_one(chances);
  if (p.size != t.size) throw nb::value_error("as many chances as elements");
  const RandomStream stream = stream_of(seed, Purpose::bernoulli);
  const Path in = cast_path(kernels(), p.dtype, Dtype::float64, false);
  const Path out = cast_path(kernels(), Dtype::uint8, t.dtype, false);
  auto size = static_cast<std::int64_t>(t.itemsize()), from = static_cast<std::int64_t>(p.itemsize());
  std::atomic<bool> right{true};
  run_over(t.size, {&t, &p}, [&, given = p.data()] {
    const RandomKernels& k = random_kernels();
    for_words<std::uint32_t>(stream, begin, t.size, [&](const std::uint32_t* words, std::int64_t at, std::size_t n) {
      constexpr std::size_t most = block_bytes / sizeof(double);
      for (std::size_t done = 0; done < n; done += most) {
        std::size_t count = std::min(most, n - done);
        std::int64_t first = at + static_cast<std::int64_t>(done);
        Buffer read, other, drawn;
        const std::byte* chance = follow(in, given + (first - begin) * from, count, read.bytes, other.bytes);
        if (!k.bernoulli(words + done, reinterpret_cast<const double*>(chance),
                         reinterpret_cast<std::uint8_t*>(drawn.bytes), count, stream,
                         static_cast<std::uint64_t>(first)))
          right.store(false, std::memory_order_relaxed);
        follow_to(out, drawn.bytes, count, static_cast<std::size_t>(size), t.data() + (first - begin) * size,
                  drawn.bytes, other.bytes);
      }
    });
  });
  return right;
}

// The doubles of a dense tensor.
const double* doubles_of(nb::handle tensor, std::int64_t& count) {
  const Tensor& t = new_one(tensor);
  if (t.dtype != Dtype::float64) throw nb::value_error("not float64");
  count = t.size;
  return reinterpret_cast<const double*>(t.data());
}

// Indices by weights, whose sums are `ends`; none is above `last`. Row `row` of a tensor of int64 is filled.
void random_choices(nb::handle tensor, std::int64_t row, nb::handle ends, std::int64_t last, std::int64_t seed) {
  const Tensor &t = new_one(tensor), &sums = new_one(ends);
  std::int64_t count, samples = t.ndim() ? t.dims()[t.ndim() - 1] : 1;
  const double* sum = doubles_of(ends, count);
  if (t.dtype != Dtype::int64 || row < 0 || samples < 1 || row >= t.size / samples || count < 1)
    throw nb::value_error("not a row of int64");
  auto* out = reinterpret_cast<std::int64_t*>(t.data());
  const RandomStream stream = stream_of(seed, Purpose::choice);
  double scale = sum[count - 1];
  run_over(samples, {&t, &sums}, [&] {
    for_words<std::uint64_t>(stream, row * samples, samples,
                             [&](const std::uint64_t* words, std::int64_t at, std::size_t n) {
                               for (std::size_t i = 0; i < n; ++i) {
                                 double x = static_cast<double>(words[i]) * 0x1p-64 * scale;
                                 const double* from = sum;  // the first sum above x, without a branch to guess
                                 for (std::int64_t left = count; left > 1; left -= left / 2)
                                   from += from[left / 2 - 1] <= x ? left / 2 : 0;
                                 std::int64_t found = from - sum + (*from <= x);
                                 out[at + static_cast<std::int64_t>(i)] = std::min(found, last);
                               }
                             });
  });
}

// When clocks ring, from the element `first` of the stream on.
void random_rings(nb::handle tensor, nb::handle rates, std::int64_t first, std::int64_t seed) {
  std::int64_t count, other;
  const Tensor &t = new_one(tensor), &r = new_one(rates);
  auto* out = const_cast<double*>(doubles_of(tensor, count));
  const double* rate = doubles_of(rates, other);
  if (count != other || first < 0) throw nb::value_error("as many rates as clocks");
  const RandomStream stream = stream_of(seed, Purpose::ring);
  run_over(count, {&t, &r}, [&] {
    const RandomKernels& k = random_kernels();
    for_words<std::uint64_t>(stream, first, count, [&](const std::uint64_t* words, std::int64_t at, std::size_t n) {
      k.rings(words, rate + (at - first), out + (at - first), n);
    });
  });
}

// ---- permutations -----------------------------------------------------------------------------

// Each element changes places with one before it, or with itself, the first first.
template <class T>
void shuffle(T* x, std::int64_t count, const RandomStream& stream) noexcept {
  constexpr std::int64_t most = words_at_once / 8;
  const RandomKernels& k = random_kernels();
  alignas(64) std::uint64_t words[most], other[most];
  for (std::int64_t begin = 0; begin < count; begin += most) {
    std::int64_t n = std::min(most, count - begin);
    auto first = static_cast<std::uint64_t>(begin);
    k.words(stream, first / 2, reinterpret_cast<std::uint32_t*>(words), static_cast<std::size_t>((n + 1) / 2));
    k.indices(words, other, static_cast<std::size_t>(n), stream, first);
    for (std::int64_t i = 0; i < n; ++i) {
      if (i + 16 < n) __builtin_prefetch(x + other[i + 16], 1);
      std::swap(x[begin + i], x[other[i]]);
    }
  }
}

struct Wide {
  std::uint64_t parts[2];
};

void random_permutation(nb::handle tensor, std::int64_t seed) {
  const Tensor& t = new_one(tensor);
  const RandomStream stream = stream_of(seed, Purpose::permutation);
  run_over(t.size, {&t}, [&] {
    switch (t.itemsize()) {
      case 1: return shuffle(reinterpret_cast<std::uint8_t*>(t.data()), t.size, stream);
      case 2: return shuffle(reinterpret_cast<std::uint16_t*>(t.data()), t.size, stream);
      case 4: return shuffle(reinterpret_cast<std::uint32_t*>(t.data()), t.size, stream);
      case 8: return shuffle(reinterpret_cast<std::uint64_t*>(t.data()), t.size, stream);
      default: return shuffle(reinterpret_cast<Wide*>(t.data()), t.size, stream);
    }
  });
}

// ---- words, for tests ---------------------------------------------------------------------------

nb::list random_words(std::uint64_t key, std::uint64_t first, std::uint32_t purpose, std::uint32_t nonce,
                      std::int64_t blocks) {
  nb::list found;
  for (std::int64_t done = 0; done < blocks;) {
    std::uint32_t words[256];
    std::int64_t n = std::min<std::int64_t>(64, blocks - done);
    random_kernels().words({key, purpose, nonce}, first + static_cast<std::uint64_t>(done), words,
                           static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < 4 * n; ++i) found.append(words[i]);
    done += n;
  }
  return found;
}

// ---- fast paths -------------------------------------------------------------------------------

// A real number that is finite in a dtype, rounded to it; false for what Python is to look at.
bool read_real(PyObject* object, Dtype dtype, double& value) {
  if (!object || (Py_TYPE(object) != &PyFloat_Type && Py_TYPE(object) != &PyLong_Type)) return false;
  value = PyFloat_AsDouble(object);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    return false;
  }
  if (dtype == Dtype::float32) value = static_cast<float>(value);
  return std::isfinite(value);
}

struct Asked {
  Integers shape;
  Dtype dtype = Dtype::float32;
  PyObject *first, *second;
  std::int64_t seed = 0;

  // Shape, dtype, device, two numbers and a seed, of floats on the CPU.
  template <std::size_t n>
  bool read(const char* const (&names)[n], PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
    Given<n> found(names, args, count, keywords);
    if (!found[0] || found[2] || !shape.read(found[0]) || shape.count > max_ndim ||
        (found[5] && !read_integer(found[5], seed)))
      return false;
    for (int i = 0; i < shape.count; ++i)
      if (shape.values[i] < 0) return false;
    if (found[1]) {
      if (!is_dtype(found[1])) return false;
      dtype = static_cast<Dtype>(dtype_index(found[1]));
    }
    first = found[3], second = found[4];
    return dtype == Dtype::float32 || dtype == Dtype::float64;
  }
};

PyObject* fast_uniform(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Asked asked;
  double low, high;
  if (!asked.read({"shape", "dtype", "device", "min", "max", "seed"}, args, count, keywords) ||
      !read_real(asked.first, asked.dtype, low) || !read_real(asked.second, asked.dtype, high) || low > high)
    return nullptr;
  double last = low;
  if (low < high)
    last = asked.dtype == Dtype::float64
               ? std::nextafter(high, low)
               : static_cast<double>(std::nextafter(static_cast<float>(high), static_cast<float>(low)));
  PyObject* made = new_dense_tensor(asked.dtype, asked.shape.count, asked.shape.values);
  if (made) draw_uniform(*tensor_of(made), stream_of(asked.seed, Purpose::uniform), 0, {low, 0}, {high, 0}, {last, 0});
  return or_python(made);
}

PyObject* fast_normal(PyObject* const* args, Py_ssize_t count, PyObject* keywords) {
  Asked asked;
  double mean = 0, deviation = 1;
  // Neither is rounded to the dtype: what is drawn is, once.
  if (!asked.read({"shape", "dtype", "device", "mean", "std", "seed"}, args, count, keywords) ||
      (asked.first && !read_real(asked.first, Dtype::float64, mean)) ||
      (asked.second && !read_real(asked.second, Dtype::float64, deviation)) || deviation < 0)
    return nullptr;
  double end = asked.dtype == Dtype::float64 ? std::numeric_limits<double>::max()
                                             : static_cast<double>(std::numeric_limits<float>::max());
  PyObject* made = new_dense_tensor(asked.dtype, asked.shape.count, asked.shape.values);
  if (made) draw_normal(*tensor_of(made), stream_of(asked.seed, Purpose::normal), 0, {mean, 0}, deviation, end);
  return or_python(made);
}

}  // namespace

void init_random(nb::module_& m) {
  define(m,
         "def random_uniform(tensor: Any, seed: int, low: complex, high: complex, last: complex, "
         "first: int = 0) -> None",
         "Fills a new tensor with uniform floats from `low` to `last`, which is below `high`.", random_uniform, 0);
  define(m, "def random_integers(tensor: Any, seed: int, low: int, count: int, first: int = 0) -> None",
         "Fills a new tensor with uniform integers, `count` of them from `low` on.", random_integers, 0);
  define(m,
         "def random_normal(tensor: Any, seed: int, mean: complex, deviation: float, end: float, "
         "first: int = 0) -> None",
         "Fills a new tensor with normal numbers; what is beyond `end` becomes it.", random_normal, 0);
  define(m, "def random_bernoulli(tensor: Any, chances: Any, seed: int, first: int = 0) -> bool",
         "Fills a new tensor with 1 by each chance, else 0; False if one is no chance.", random_bernoulli, 0);
  define(m, "def random_choices(tensor: Any, row: int, ends: Any, last: int, seed: int) -> None",
         "Fills a row of int64 with indices by weights, of which `ends` are the sums.", random_choices);
  define(m, "def random_rings(tensor: Any, rates: Any, first: int, seed: int) -> None",
         "Fills float64 with the logarithms of when clocks of these rates ring.", random_rings);
  define(m, "def random_permutation(tensor: Any, seed: int) -> None", "Shuffles the elements of a new tensor.",
         random_permutation);
  define(m, "def random_words(key: int, first: int, purpose: int, nonce: int, blocks: int) -> list[int]",
         "The words of blocks of Philox4x32-10.", random_words);
  add_fast_path<fast_uniform>("rand_uniform");
  add_fast_path<fast_normal>("rand_normal");
}

}  // namespace suanzi
