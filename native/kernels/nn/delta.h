// native/kernels/nn/delta.h: nn 12: the table of the loops of the gated delta rule, of float32 and of float64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace suanzi {

// Some steps of a panel: a few columns of a state (depth, columns), dense by themselves. All are numbers of one lane.
struct DeltaSteps {
  const void *q, *k;           // rows of `depth` numbers, one after the other
  const void* v;               // rows of a panel, `row` apart
  const void *decays, *betas;  // a number for each step
  std::int64_t steps, depth, row;
};

// What the gradients of some steps need, and where they are added.
struct DeltaGradients {
  const void *states, *rests;  // the state before each step and after the last one; rows of a panel that forward left
  const void* results;         // gradients of the results: rows of a panel, `row` apart
  void* state;                 // that of the state after the steps, and then before them
  void *q, *k;                 // rows of `depth` numbers, to be added to
  void* v;                     // rows of a panel, one after the other
  double *g, *beta;            // a number for each step, to be added to
  void* spare;                 // a vector for each row
  std::int64_t columns;        // of a panel that count: zeros are behind them
};

struct DeltaKernels {
  std::int64_t panel[2];   // how many columns
  std::int64_t vector[2];  // and lanes of a vector
  // y = factor x, or with `normalizes` factor x / sqrt(the sum of x**2 + 1e-6).
  void (*scale[2])(const void* x, std::int64_t n, bool normalizes, double factor, void* y);
  // From the gradient of such a y that of x.
  void (*scale_back[2])(const void* grad, const void* x, std::int64_t n, bool normalizes, double factor, void* to);
  // The state after the steps, in place, and rows of results as far apart as those of v, if they are wanted.
  void (*forward[2])(const DeltaSteps& of, void* state, void* results);
  // The state after each step behind the one before the first; rests, rows of a panel: v less what the state says.
  void (*replay[2])(const DeltaSteps& of, void* states, void* rests);
  void (*backward[2])(const DeltaSteps& of, const DeltaGradients& to);
};

// The table of the level in use.
const DeltaKernels& delta_kernels() noexcept;

}  // namespace suanzi
