"""The definitions of the model operators, one file for each category."""

from suanzi.truth.nn import (  # noqa: F401
    activations,
    attention,
    convolutions,
    layers,
    losses,
    norms,
    pooling,
    sampling,
    softmaxes,
)
