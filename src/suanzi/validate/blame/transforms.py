"""Convolutions by transforms of tiles: Winograd's and those by FFT."""

from __future__ import annotations

import numpy as np

from suanzi.truth.rounding import unit_of
from suanzi.truth.tracked import Tracked
from suanzi.validate.blame.sampling import Array

WORDS = "a convolution by transforms (Winograd, FFT) is so far off"
_UNITS = 64
"""Roundoffs of float32 of the norms of the planes that a gradient may be off.

One of 3x3 by Winograd in tiles of 4x4 was up to 44 off, by FFT 4; TF32 would be thousands.
"""


def norms(planes: Array) -> Array:
    """Return the norm of one channel for each element of the batch.

    >>> norms(np.array([[[3.0, 4.0]], [[0.0, 1.0]]]))
    array([5., 1.])
    """
    flat: Array = np.linalg.norm(planes.reshape(len(planes), -1).astype(np.float64), axis=1)
    return flat


def dots(x: Tracked, w: Tracked, size: Tracked) -> Tracked:
    """Return the sum of products; it is off by what else is in the tiles, even where it is 0."""
    y = (x * w).sum(-1)
    off = _UNITS * unit_of("float32") * size.plain
    return Tracked(y.value, y.error + off)
