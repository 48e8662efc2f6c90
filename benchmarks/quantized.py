"""7.2.1.15: times quantised tensors against NumPy and PyTorch in one run.

    python benchmarks/quantized.py

Ratios above 1 mean suanzi is faster than the peer. NumPy runs on one thread.
suanzi rounds as exact arithmetic would; the peers multiply by a rounded reciprocal, or divide
in float32, and round again.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from measuring import Call, Group, Table, main, torch

import suanzi as sz

SCALE = 0.05


def cases(n: int) -> dict[str, dict[str, Call]]:
    """Return what is measured: a function of each library, and its arguments."""
    a = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    x = sz.tensor(a)
    channels = 1024 if n % 1024 == 0 else 10
    rows = a.reshape(-1, channels)
    table = sz.tensor(rows)
    q = sz.quantize(x, sz.QT_SYM_INT8, scale=SCALE)
    integers, factor = q.int_repr().numpy(), np.float32(SCALE)
    many = [SCALE] * channels
    by_channel = sz.quantize(table, sz.QT_CH_SYM_INT8, scale=many)
    found: dict[str, dict[str, Call]] = {
        "quantize": {
            "suanzi": (lambda: sz.quantize(x, sz.QT_SYM_INT8, scale=SCALE), (), {}),
            "NumPy": (
                lambda: np.clip(np.rint(a / factor), -128, 127).astype(np.int8),
                (),
                {},
            ),
        },
        "quantize, scale derived": {
            "suanzi": (lambda: sz.quantize(x, sz.QT_ASYM_UINT8), (), {}),
            "NumPy": (lambda: _derived(a), (), {}),
        },
        "dequantize": {
            "suanzi": (sz.dequantize, (q,), {}),
            "NumPy": (lambda: integers.astype(np.float32) * factor, (), {}),
        },
        "quantize by channel": {
            "suanzi": (lambda: sz.quantize(table, sz.QT_CH_SYM_INT8, scale=many), (), {}),
            "NumPy": (lambda: np.clip(np.rint(rows / factor), -128, 127).astype(np.int8), (), {}),
        },
        "dequantize by channel": {"suanzi": (sz.dequantize, (by_channel,), {})},
        "quantize and back": {
            "suanzi": (
                lambda: sz.dequantize(sz.quantize(x, sz.QT_SYM_INT8, scale=SCALE)),
                (),
                {},
            )
        },
    }
    if torch is not None:
        _add_torch(found, torch.from_numpy(a), torch.from_numpy(rows), channels)
    return found


def _derived(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    low, high = min(a.min(), np.float32(0)), max(a.max(), np.float32(0))
    scale = np.float32((high - low) / 255)
    zero_point = np.rint(-low / scale)
    return np.clip(np.floor(a / scale) + zero_point, 0, 255).astype(np.uint8)


def _add_torch(found: dict[str, dict[str, Call]], t: Any, rows: Any, channels: int) -> None:
    q = torch.quantize_per_tensor(t, SCALE, 0, torch.qint8)
    scales, zeros = torch.full((channels,), SCALE), torch.zeros(channels, dtype=torch.long)
    by_channel = torch.quantize_per_channel(rows, scales, zeros, 1, torch.qint8)
    calls: dict[str, Call] = {
        "quantize": (torch.quantize_per_tensor, (t, SCALE, 0, torch.qint8), {}),
        "quantize, scale derived": (
            torch.quantize_per_tensor_dynamic,
            (t, torch.quint8, False),
            {},
        ),
        "dequantize": (q.dequantize, (), {}),
        "quantize by channel": (
            torch.quantize_per_channel,
            (rows, scales, zeros, 1, torch.qint8),
            {},
        ),
        "dequantize by channel": (by_channel.dequantize, (), {}),
        "quantize and back": (
            torch.fake_quantize_per_tensor_affine,
            (t, SCALE, 0, -128, 127),
            {},
        ),
    }
    for name, call in calls.items():
        found[name]["PyTorch"] = call


def measured(table: Table, n: int) -> None:
    """Measure every case over n elements."""
    warnings.simplefilter("ignore")
    table.title(f"{n} elements of float32, microseconds", "nothing")
    for name, calls in cases(n).items():
        table.row(name, calls, rounds=0.6)


GROUPS: dict[str, Group] = {
    "small": lambda table, threads: measured(table, 1000),
    "large": lambda table, threads: measured(table, 1 << 24),
}

if __name__ == "__main__":
    main(__doc__, GROUPS)
