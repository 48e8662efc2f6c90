"""The cases of the model operators, one file for each category; `_calls` makes them of calls."""

from suanzi.conformance.nn import (  # noqa: F401
    activations,
    attention,
    convolutions,
    delta,
    experts,
    layers,
    losses,
    norms,
    optimizers,
    pooling,
    quantised,
    recurrent,
    sampling,
    softmaxes,
)
