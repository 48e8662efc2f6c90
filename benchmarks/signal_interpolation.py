"""7.2.16 and 7.2.18: times Fourier transforms and interpolate in one run with peers.

    python benchmarks/signal_interpolation.py [--threads 1|all|both]

Ratios above 1 mean suanzi is faster. Transforms are to be as fast as the faster of NumPy (one
thread) and SciPy (as many as suanzi); PyTorch's, which are MKL's, stand next to them.
interpolate is to be as fast as PyTorch's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.fft
from measuring import Call, Group, Table, main, tensor, torch

import suanzi as sz


def transforms(workers: int) -> Iterator[tuple[str, dict[str, Call]]]:
    """Yield what is measured: 2^20 elements in a row and in a square, and 64 rows of 1000."""
    rng = np.random.default_rng(0)
    for name in ("complex64", "complex128"):
        part = "float32" if name == "complex64" else "float64"
        for shape in ((2**20,), (1024, 1024), (64, 1000), (16,)):
            x = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(name)
            real = rng.normal(size=shape).astype(part)
            axes = tuple(range(len(shape))) if len(shape) < 2 or shape[0] != 64 else (1,)
            words = "x".join(map(str, shape))
            size = shape[-1]
            half = np.ascontiguousarray(x[..., : size // 2 + 1])
            ours, ours_real, ours_half = sz.tensor(x), sz.tensor(real), sz.tensor(half)
            sizes = [shape[a] for a in axes]
            calls: dict[str, Any] = {
                f"c2c {words} {name}": (
                    (sz.fft_c2c, (ours, axes), {}),
                    (np.fft.fftn, (x,), {"axes": axes}),
                    (scipy.fft.fftn, (x,), {"axes": axes, "workers": workers}),
                ),
                f"r2c {words} {part}": (
                    (sz.fft_r2c, (ours_real, axes), {}),
                    (np.fft.rfftn, (real,), {"axes": axes}),
                    (scipy.fft.rfftn, (real,), {"axes": axes, "workers": workers}),
                ),
                f"c2r {words} {name}": (
                    (sz.fft_c2r, (ours_half, size, axes), {"forward": False}),
                    (np.fft.irfftn, (half,), {"s": sizes, "axes": axes, "norm": "forward"}),
                    (scipy.fft.irfftn, (half, sizes, axes, "forward"), {"workers": workers}),
                ),
            }
            theirs: dict[str, Call] = {}
            if torch is not None:
                theirs = {
                    "c2c": (torch.fft.fftn, (tensor(ours),), {"dim": axes}),
                    "r2c": (torch.fft.rfftn, (tensor(ours_real),), {"dim": axes}),
                    "c2r": (
                        torch.fft.irfftn,
                        (tensor(ours_half),),
                        {"s": sizes, "dim": axes, "norm": "forward"},
                    ),
                }
            for case, (one, numpy, scipys) in calls.items():
                found = {"suanzi": one, "NumPy": numpy, "SciPy": scipys}
                if theirs:
                    found["PyTorch"] = theirs[case[:3]]
                yield case, found


def samples() -> Iterator[tuple[str, dict[str, Call]]]:
    """Yield what is measured of interpolate: images made larger and smaller, volumes."""
    x = sz.tensor(np.random.default_rng(0).normal(size=(8, 16, 256, 256)).astype(np.float32))
    volume = sz.tensor(np.random.default_rng(0).normal(size=(2, 8, 32, 64, 64)).astype(np.float32))
    small = x[:1, :1, :8, :8]
    for dtype in (sz.float32, sz.float16, sz.bfloat16):
        for mode in ("nearest", "bilinear", "area"):
            for size in ((512, 512), (100, 100)):
                yield f"{mode} 256 to {size[0]} {dtype}", _sampled(sz.cast(x, dtype), size, mode)
    for mode in ("nearest", "trilinear", "area"):
        yield f"{mode} 32x64x64 doubled", _sampled(volume, (64, 128, 128), mode)
    for mode in ("nearest", "bilinear"):
        yield f"{mode} 8x8 doubled", _sampled(sz.tensor(small.numpy()), (16, 16), mode)


def _sampled(x: sz.Tensor, size: tuple[int, ...], mode: str) -> dict[str, Call]:
    calls: dict[str, Call] = {"suanzi": (sz.interpolate, (x, size), {"mode": mode})}
    if torch is not None:
        function = torch.nn.functional.interpolate
        calls["PyTorch"] = (function, (tensor(x),), {"size": size, "mode": mode})
    return calls


def fourier(table: Table, threads: int) -> None:
    """Transforms, to be as fast as NumPy's and SciPy's."""
    table.title(f"Fourier transforms, {threads} threads, ms", "1.0x NumPy and SciPy")
    for case, calls in transforms(threads):
        table.row(case, calls, numpy=1, scipy=1, unit=1e3)


def interpolation(table: Table, threads: int) -> None:
    """Images and volumes, to be as fast as PyTorch's."""
    table.title(f"interpolate, {threads} threads, ms", "1.0x PyTorch")
    for case, calls in samples():
        table.row(case, calls, torch=1, unit=1e3, rounds=0.2)


GROUPS: dict[str, Group] = {"fourier": fourier, "interpolation": interpolation}

if __name__ == "__main__":
    main(__doc__, GROUPS, peers=("NumPy", "SciPy", "PyTorch"))
