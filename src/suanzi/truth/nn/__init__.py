"""The definitions of the model operators, one file for each category."""

from suanzi.truth.nn import (  # noqa: F401
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
