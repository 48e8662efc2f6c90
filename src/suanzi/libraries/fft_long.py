"""7.2.16: one long Fourier transform as two rounds of many short ones.

With n = rows * columns, elements are transformed along the columns of a rectangle, multiplied with
roots of unity, and transformed along its rows. SciPy computes several short transforms at a time,
and threads share them, but a long one is computed alone; so this is faster, and as accurate.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from suanzi import _core
from suanzi.dtypes import DType, complex64
from suanzi.libraries import fft_parts
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

# Lengths for which it is worth it; for longer ones, the tables of roots would be large.
_SHORTEST, _LONGEST = 1 << 20, 1 << 24


@cache
def rectangle(n: int) -> tuple[int, int, int] | None:
    """Return rows, columns, and how many columns a table of roots has; None if n is not for this.

    >>> rectangle(2**20), rectangle(2**20 - 3)
    ((1024, 1024, 32), None)
    """
    if not _SHORTEST <= n <= _LONGEST:
        return None
    rows = next(r for r in range(math.isqrt(n), 0, -1) if n % r == 0)
    columns = n // rows
    block = next(b for b in range(math.isqrt(columns), 0, -1) if columns % b == 0)
    return (rows, columns, block) if columns <= 8 * rows and block >= 8 else None


def transform(x: Tensor, wide: DType, forward: bool, scale: int) -> Tensor:
    """Return the transform of the elements of x, of which there are as many as `rectangle` takes.

    `scale` is as in `fft_parts`; both rounds divide by their own n, and so the whole by its.
    """
    import numpy as np

    split = rectangle(x.size)
    assert split is not None
    rows, columns, block = split
    across = _transposed(x.reshape(rows, columns), wide)
    array = across.numpy()
    fft_parts.c2c(array, 1, forward, scale)
    transposed = _transposed(across, wide)
    array = transposed.numpy()
    blocks = array.reshape(rows, columns // block, block)
    tables = _roots(rows, columns, block, wide is complex64, forward)

    def multiply(some: slice) -> None:
        with np.errstate(all="ignore"):
            for table in tables:
                blocks[some] *= table[some]

    fft_parts.share(multiply, fft_parts.cut(rows, array.strides[0]))
    fft_parts.c2c(array, 1, forward, scale)
    return _transposed(transposed, wide).reshape(x.shape)


def _transposed(x: Tensor, dt: DType) -> Tensor:
    """Return a copy with rows as columns."""
    made = _core.empty(x.shape[::-1], dt)
    _core.copy_into(made, x.T)
    return made


@lru_cache(maxsize=4)
def _roots(rows: int, columns: int, block: int, single: bool, forward: bool) -> tuple[Array, Array]:
    """Return exp(-2 pi i jk / n) for row j and column k: factors for k // block and k % block."""
    import numpy as np

    n, each = rows * columns, np.arange(rows)[:, None]
    angle = (-2j if forward else 2j) * np.pi

    def table(k: Array) -> Array:
        made: Array = np.exp(angle * (each * k % n / n))
        return made.astype(np.complex64) if single else made

    return table(np.arange(0, columns, block))[:, :, None], table(np.arange(block))[:, None, :]
