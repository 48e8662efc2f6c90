"""7.2.16: pocketfft, which computes SciPy's Fourier transforms.

SciPy's public functions allocate their results; the module behind them, which has stayed the same
since SciPy 1.4, takes the memory to write to. It is tried out once; should a version of SciPy have
changed it, the public functions compute, with a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class Library(Protocol):
    """The three transforms.

    They write to `out`; `scale` divides by 0 nothing, 1 the square root of the number of
    transformed elements, 2 that number. A positional call is all that is asked of them.
    """

    def c2c(
        self, a: Array, axes: Sequence[int], forward: bool, scale: int, out: Array, threads: int, /
    ) -> Any:
        """Transform complex numbers, or real ones; `out` may be `a`."""

    def r2c(
        self, a: Array, axes: Sequence[int], forward: bool, scale: int, out: Array, threads: int, /
    ) -> Any:
        """Transform real numbers, to the half that tells all."""

    def c2r(
        self,
        a: Array,
        axes: Sequence[int],
        length: int,
        forward: bool,
        scale: int,
        out: Array,
        threads: int,
        /,
    ) -> Any:
        """Transform half of a spectrum to real numbers."""


class Public:
    """The same by SciPy's public functions."""

    # Each word means one thing forwards and another one backwards.
    NORMS = (("backward", "forward"), ("ortho", "ortho"), ("forward", "backward"))

    def c2c(
        self, a: Array, axes: Sequence[int], forward: bool, scale: int, out: Array, threads: int, /
    ) -> None:
        """Transform complex numbers, or real ones."""
        import scipy.fft

        transform = scipy.fft.fftn if forward else scipy.fft.ifftn
        out[...] = transform(a, axes=axes, norm=self.NORMS[scale][not forward], workers=threads)

    def r2c(
        self, a: Array, axes: Sequence[int], forward: bool, scale: int, out: Array, threads: int, /
    ) -> None:
        """Transform real numbers, to the half that tells all."""
        import scipy.fft

        transform = scipy.fft.rfftn if forward else scipy.fft.ihfftn
        out[...] = transform(a, axes=axes, norm=self.NORMS[scale][not forward], workers=threads)

    def c2r(
        self,
        a: Array,
        axes: Sequence[int],
        length: int,
        forward: bool,
        scale: int,
        out: Array,
        threads: int,
        /,
    ) -> None:
        """Transform half of a spectrum to real numbers."""
        import scipy.fft

        transform = scipy.fft.hfftn if forward else scipy.fft.irfftn
        sizes = [*(a.shape[axis] for axis in axes[:-1]), length]
        norm = self.NORMS[scale][not forward]
        out[...] = transform(a, sizes, axes=axes, norm=norm, workers=threads)


@cache
def library() -> Library:
    """Return who computes the transforms."""
    try:
        from scipy.fft._pocketfft import pypocketfft

        found: Library = pypocketfft
        works = is_right(found)
    except Exception:  # whatever another version may do
        works = False
    return found if works else Public()


def is_right(tried: Library) -> bool:
    """Tell whether transforms of three numbers are what they must be."""
    import numpy as np

    signal = np.array([1.0, 2.0, 4.0])
    angles = np.exp(-2j * np.pi / 3 * np.outer(np.arange(3), np.arange(3)))
    spectrum = signal @ angles
    whole, half, back = np.zeros(3, complex), np.zeros(2, complex), np.zeros(3)
    tried.c2c(signal.astype(complex), (0,), True, 0, whole, 1)
    tried.r2c(signal, (0,), True, 1, half, 1)
    tried.c2r(spectrum[:2], (0,), 3, False, 2, back, 1)
    right = (spectrum, spectrum[:2] / np.sqrt(3), signal)
    return all(np.allclose(a, b) for a, b in zip((whole, half, back), right, strict=True))
