// native/kernels/creation/random.h: 7.2.1.7 to 7.2.1.11: the table of the loops behind random numbers.
//
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011): each block of
// four words is a function of a key and a counter alone, so that any thread can make any of them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Blocks of random words that belong together: the key is the seed; `purpose` keeps what one operator draws apart
// from what others do, `nonce` one call without a seed from another.
struct RandomStream {
  std::uint64_t key;
  std::uint32_t purpose, nonce;
};

// Element i of attempt 0 takes its words from the stream; where those are refused, attempt n takes the block i of
// a stream of its own.
inline RandomStream attempt_of(const RandomStream& stream, std::uint32_t attempt) {
  return {stream.key, stream.purpose + (attempt << 8), stream.nonce};
}

// Where uniform floats lie; complex numbers have parts of their own, in turn.
template <class T>
struct UniformRange {
  T low[2], high[2], last[2];  // `last` is the largest number that may be drawn
};

// Uniform integers from `low` on, `count` of them; 0 stands for 2^64.
struct IntegerRange {
  std::uint64_t low, count;
};

struct RandomKernels {
  // The blocks from `first` on, four words each.
  void (*words)(const RandomStream& stream, std::uint64_t first, std::uint32_t* out, std::size_t blocks);
  // A number for each word. The index of the first is even.
  void (*uniform_f32)(const std::uint32_t* words, float* out, std::size_t n, const UniformRange<float>& range);
  void (*uniform_f64)(const std::uint64_t* words, double* out, std::size_t n, const UniformRange<double>& range);
  // Integers of 1, 2, 4 or 8 bytes, by the logarithm of that, for the elements from `first` on; each takes
  // integer_word_size(range) bytes.
  void (*integers[4])(const void* words, void* out, std::size_t n, const IntegerRange& range,
                      const RandomStream& stream, std::uint64_t first);
  // For the elements from `first` on, each an index from 0 to its own.
  void (*indices)(const std::uint64_t* words, std::uint64_t* out, std::size_t n, const RandomStream& stream,
                  std::uint64_t first);
  // Standard normal numbers for the elements from `first` on, one for each word.
  void (*normal)(const std::uint64_t* words, double* out, std::size_t n, const RandomStream& stream,
                 std::uint64_t first);
  // 1 with each chance, else 0, for the elements from `first` on; false if a chance is none.
  bool (*bernoulli)(const std::uint32_t* words, const double* chances, std::uint8_t* out, std::size_t n,
                    const RandomStream& stream, std::uint64_t first);
  // When clocks of a rate ring, as logarithms: the order is that of draws without replacement. A rate of 0: never.
  void (*rings)(const std::uint64_t* words, const double* rates, double* out, std::size_t n);
};

// The table of the level in use.
const RandomKernels& random_kernels() noexcept;

// How many bytes of random words an integer takes, so that few are refused.
inline std::size_t integer_word_size(const IntegerRange& range) {
  bool is_power = (range.count & (range.count - 1)) == 0;
  if (range.count == 0) return 8;
  if (is_power) return range.count <= 1u << 8 ? 1 : range.count <= 1u << 16 ? 2 : range.count <= 1ull << 32 ? 4 : 8;
  return range.count <= 1u << 8 ? 2 : range.count <= 1u << 16 ? 4 : 8;
}

}  // namespace suanzi
