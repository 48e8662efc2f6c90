// native/ops/nn/delta.h: nn 12: what the gated delta rule and its gradients are given, and how chunks of time are read.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>

#include "calls/arguments.h"
#include "core/own_memory.h"
#include "core/status.h"
#include "core/threads.h"
#include "core/without_gil.h"
#include "kernels/nn/delta.h"
#include "ops/nn/lanes.h"

namespace suanzi {

// A tensor (batch, time, heads, columns) whose columns are side by side.
struct TimeRows {
  const std::byte* data = nullptr;
  std::int64_t batch = 0, time = 0, head = 0, item = 0;  // strides in elements

  TimeRows() = default;
  explicit TimeRows(const Tensor& t)
      : data(t.data()), batch(t.strides()[0]), time(t.strides()[1]), head(t.strides()[2]),
        item(static_cast<std::int64_t>(t.itemsize())) {}
  const std::byte* at(std::int64_t b, std::int64_t t, std::int64_t h) const {
    return data + (b * batch + t * time + h * head) * item;
  }
};

// Checked operands. Value heads share those of keys in groups.
struct Delta {
  const Tensor *q_tensor, *k_tensor, *v_tensor, *g, *beta, *state;
  TimeRows q, k, v;
  double scale;
  bool normalizes;
  Lanes lanes, state_lanes;
  std::int64_t batch, time, keys, heads, depth, width, group;
  const DeltaKernels& loops = delta_kernels();
  std::int64_t panel, panels;  // columns of a panel, and how many panels a state has

  Delta(nb::handle q, nb::handle k, nb::handle v, nb::handle g, nb::handle beta, nb::handle state, double scale,
        bool normalizes);
  std::int64_t lane_size() const { return static_cast<std::int64_t>(lanes.size); }
  Dtype state_dtype() const { return state_lanes.lane ? Dtype::float64 : Dtype::float32; }
  std::int64_t row(std::int64_t b, std::int64_t t) const { return (b * time + t) * heads; }  // of g and beta

  // Rows of queries or keys of a head as numbers of the lane, scaled.
  void read_scaled(const TimeRows& x, std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t key, double factor,
                   bool length, std::byte* to, std::byte* spare) const;
  // Columns from one on of rows of values, with zeros up to `apart`.
  void read_values(const TimeRows& x, std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t head,
                   std::int64_t first, std::int64_t columns, std::int64_t apart, std::byte* to) const;
  // Decays exp(g) and betas of a head.
  void read_gates(std::int64_t b, std::int64_t t, std::int64_t n, std::int64_t head, std::byte* decays,
                  std::byte* betas) const;
  // A panel of a state (batch, heads, depth, width), zeros where there is none, and back.
  void read_state(const std::byte* from, std::int64_t b, std::int64_t head, std::int64_t number, std::byte* to) const;
  void write_state(const std::byte* from, std::int64_t b, std::int64_t head, std::int64_t number, std::byte* to) const;
  std::int64_t columns_of(std::int64_t number) const { return std::min(panel, width - number * panel); }
};

// A dense tensor of a dtype and a size, or null for None.
const Tensor* read_delta(nb::handle object, Dtype dtype, std::int64_t size);

}  // namespace suanzi
