// native/kernels/nn/convolutions.h: nn 5: the table of the loops of convolutions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Columns side by side that come from one line of the input, for every tap of a kernel: a vector of them at most.
struct Piece {
  std::int64_t to, length;  // in columns
};

// Where the columns of each tap lie in lines that were copied with their padding: the tap (q, x) of channel c of piece
// i begins at c * plane + starts[q * count + i] + shifts[x]. Whatever is behind it can be read up to a vector.
struct Windows {
  const Piece* pieces;
  std::int64_t count;  // of pieces
  const std::int64_t* starts;
  std::int64_t lines;  // values of q
  const std::int64_t* shifts;
  std::int64_t across;  // values of x
  std::int64_t plane;
};

inline constexpr int most_tile_rows = 14, most_tile_vectors = 2;

// Those of f32, or of f64.
struct ConvolutionLoops {
  int rows, vectors, lanes;  // of a tile: at most so many rows, and vectors of so many columns
  // c = (c +) a b for so many rows and vectors, one less of each: `depth` products, added in their order. The rows of b
  // are as long as its vectors are.
  void (*tile[most_tile_vectors][most_tile_rows])(const void* a, std::ptrdiff_t a_row, const void* b, void* c,
                                                  std::ptrdiff_t c_row, std::int64_t depth, bool adds);
  // The rows [first, first + depth) over (channel, q, x) of the columns of windows, one behind the other, each `width`
  // long. Up to a vector behind each piece is written. With `exact`, nothing behind a piece is read.
  void (*pack)(const void* planes, const Windows& windows, std::int64_t first, std::int64_t depth, std::int64_t width,
               bool exact, void* out);
  // The same rows of columns of bfloat16 that were widened, as places of a matrix unit, 16 columns wide: the upper
  // halves of two rows in turn. Null where there is no such unit.
  void (*pack_places)(const void* planes, const Windows& windows, std::int64_t first, std::int64_t depth,
                      std::uint32_t* out);
  // out = the sums of all taps times their weights, in the order of (channel, q, x). As much is written as by `pack`.
  void (*direct)(const void* planes, const Windows& windows, std::int64_t channels, const void* weights, void* out);
  // A line with its padding: so many zeros, n elements, and zeros up to `width`. Up to a vector behind is written.
  void (*line)(const void* from, std::int64_t n, std::int64_t before, std::int64_t width, void* out);
  void (*line_of_bfloat16)(const void* from, std::int64_t n, std::int64_t before, std::int64_t width, void* out);
  // to[i] = from[i] + *number.
  void (*shift)(const void* from, const void* number, void* to, std::int64_t n);
  // to[i * step] += from[i].
  void (*add)(const void* from, void* to, std::int64_t step, std::int64_t n);
};

// What is made of bfloat16 for a matrix unit, whose tiles are read from it where they are: a place is two of them. Null
// where there is no such unit.
struct UnitLoops {
  // A line of places from those of two channels (one, where `odd` is null): so many zeros, n places, and zeros up to
  // `width`. Up to a vector behind is written.
  void (*pair_line)(const void* even, const void* odd, std::int64_t n, std::int64_t before, std::int64_t width,
                    std::uint32_t* out);
  // The same of the elements of one channel.
  void (*line)(const void* from, std::int64_t n, std::int64_t before, std::int64_t width, std::uint16_t* out);
  // out[i][c] = the elements i and i + 1 of line c, for at most 16 lines that are `pitch` apart; count is whole
  // vectors.
  void (*pair_columns)(const std::uint16_t* lines, std::int64_t pitch, std::int64_t count_of_lines, std::int64_t count,
                       std::uint32_t* out);
  // Rows of weights, `stride` apart, as rows of tiles: out[(block * taps + t) * 512 + row * 32 + c] = the tap t of
  // channel block * 32 + c. What is behind the last channel is left as it is.
  void (*pick_taps)(const std::uint16_t* weights, std::int64_t stride, std::int64_t rows, std::int64_t channels,
                    std::int64_t taps, std::uint16_t* out);
  // Lines of sums `pitch` apart, each with a number added to it (where there is one) and rounded, one behind the other.
  void (*store_lines)(const float* sums, std::int64_t pitch, const float* number, std::int64_t lines, std::int64_t n,
                      std::uint16_t* out);
};

// A tile of results: so many pixels by one or two vectors of channels of results. It reads lines that were copied with
// their padding, where they are. Distances are in elements.
struct PixelTile {
  const float* x[2];         // the first pixel of each half; where their number is odd, the first half has one more
  std::int64_t distance;     // from pixel to pixel
  const std::int64_t* taps;  // how far behind the first element of a pixel each is
  std::int64_t count, plane, channels;  // of taps; from a channel to the next
  const float* weights;                 // (channel, tap, channels of results in whole vectors)
  float* sums;                          // (pixel, channels of results in whole vectors)
  bool adds;                            // to what is there
};

inline constexpr int most_pixels = 14, pixel_vectors = 2, pixel_channels = 32;

// Those of float32; null where there are no vectors of 16 numbers.
struct PixelLoops {
  // So many vectors and pixels, one less of each; pixels are side by side, or as far apart as the tile says.
  void (*tile[2][pixel_vectors][most_pixels])(const PixelTile& tile);
  // out[d * 32 + r] = rows[r * stride + d], 0 for rows that do not exist; half as wide if there are at most 16 rows.
  void (*pack)(const float* rows, std::int64_t stride, std::int64_t count, std::int64_t depth, float* out);
  // Stores the sums of up to 16 pixels, of `width` channels in whole vectors, as lines of `channels` planes, with the
  // channel's number added to them, if there are such numbers. Elements of a line are `step` apart.
  void (*store)(const float* sums, std::int64_t width, std::int64_t pixels, std::int64_t channels, const float* numbers,
                float* out, std::int64_t plane, std::int64_t step);
};

// Lines of results of one channel, one behind the other, from rows of its input.
struct DepthwiseLines {
  const float* const* rows;       // of the input, from the first one that is read
  std::int64_t down, apart;       // rows from a line of results to the next, and from a line of taps
  std::int64_t stride, along;     // the same in a line; the stride is 1 or 2
  std::int64_t high, wide;        // taps
  std::int64_t first, in;         // where the first tap of a line begins; elements of a row, between zeros
  const float *weights, *number;  // the latter is added to all, or null
  float* out;
  std::int64_t lines, width;
};

struct ConvolutionKernels {
  ConvolutionLoops of[2];
  UnitLoops unit;
  PixelLoops pixels;
  void (*depthwise)(const DepthwiseLines& lines);  // null where there are no vectors of 16 numbers
};

}  // namespace suanzi
