"""7.2.3: times views, copies, and what is put together or picked, in one run with peers.

    python benchmarks/transformation.py                  # everything, some minutes
    python benchmarks/transformation.py views small      # some groups
    python benchmarks/transformation.py --threads 1

Ratios above 1 mean suanzi is faster than the peer. Each library is called as its users would: NumPy
and PyTorch with their own functions for the same result, and with the method where it is faster.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from measuring import Call, Group, Table, array, main, make, tensor, torch

import suanzi as sz

Case = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any] | None]
"""What is measured, for suanzi, NumPy and PyTorch; each takes its own tensors."""


def calls(case: Case, *xs: sz.Tensor) -> dict[str, Call]:
    """Return a case as each library is called with it."""
    ours, numpys, torchs = case
    made: dict[str, Call] = {
        "suanzi": (ours, xs, {}),
        "NumPy": (numpys, tuple(array(x) for x in xs), {}),
    }
    if torch is not None and torchs is not None:
        made["PyTorch"] = (torchs, tuple(tensor(x) for x in xs), {})
    return made


def views(table: Table, threads: int) -> None:
    """What a view costs, whatever it is a view on."""
    x = make("f32", 24).reshape(2, 3, 4)
    table.title("views, ns", "1.0x both, and under 300 ns")
    cases: dict[str, Case] = {
        "reshape": (
            lambda x, f=sz.reshape: f(x, (6, 4)),
            lambda x: x.reshape((6, 4)),
            lambda x: x.reshape((6, 4)),
        ),
        "transpose": (
            lambda x, f=sz.transpose: f(x, (0, 2, 1)),
            lambda x: x.transpose((0, 2, 1)),
            lambda x: x.permute((0, 2, 1)),
        ),
        "x.T": (
            lambda x, f=sz.transpose: f(x),
            lambda x: x.transpose(),
            lambda x: x.permute((2, 1, 0)),
        ),
        "expand_dims": (
            lambda x, f=sz.expand_dims: f(x, 1),
            lambda x: x[:, None],
            lambda x: x.unsqueeze(1),
        ),
        "squeeze": (lambda x, f=sz.squeeze: f(x), lambda x: x.squeeze(), lambda x: x.squeeze()),
        "flatten": (
            lambda x, f=sz.flatten: f(x, 0, 1),
            lambda x: x.reshape((6, 4)),
            lambda x: x.flatten(0, 1),
        ),
        "slice": (
            lambda x, f=sz.slice: f(x, (0, 1, 0), (2, 2, 4), (1, 1, 2)),
            lambda x: x[0:2, 1:3, 0:4:2],
            lambda x: x[0:2, 1:3, 0:4:2],
        ),
        "crop": (
            lambda x, f=sz.crop: f(x, (2, 2, 2), (0, 1, 1)),
            lambda x: x[0:2, 1:3, 1:3],
            lambda x: x[0:2, 1:3, 1:3],
        ),
        "flip": (lambda x, f=sz.flip: f(x, 1), lambda x: x[:, ::-1], None),
        "expand": (
            lambda x, f=sz.expand: f(x, (5, 2, 3, 4)),
            lambda x, f=np.broadcast_to: f(x, (5, 2, 3, 4)),
            lambda x: x.expand((5, 2, 3, 4)),
        ),
        "unstack": (
            lambda x, f=sz.unstack: f(x),
            lambda x: list(x),
            lambda x: x.unbind(),
        ),
        "x[1]": (lambda x: x[1], lambda x: x[1], lambda x: x[1]),
        "x[1, 2]": (lambda x: x[1, 2], lambda x: x[1, 2], lambda x: x[1, 2]),
        "x[:, 1:3]": (lambda x: x[:, 1:3], lambda x: x[:, 1:3], lambda x: x[:, 1:3]),
        "x[..., None]": (lambda x: x[..., None], lambda x: x[..., None], lambda x: x[..., None]),
        "x[::-1]": (lambda x: x[::-1], lambda x: x[::-1], None),
    }
    for name, case in cases.items():
        on = x[:, :1] if name == "squeeze" else x
        table.row(name, calls(case, on), faster=1, unit=1e9)


def moving_cases() -> dict[str, tuple[str, Callable[[int], tuple[int, ...]], Case]]:
    """Return cases by name: a dtype, the shape for an edge of a square, and what is called."""
    square = lambda n: (n, n)  # noqa: E731
    t = torch

    def torch_pad(x: Any) -> Any:
        return t.nn.functional.pad(x, (3, 3, 3, 3))

    return {
        "transposing copy f32": (
            "f32",
            square,
            (lambda x: sz.contiguous(x.T), lambda x: x.T.copy(), lambda x: x.T.contiguous()),
        ),
        "transposing copy i8": (
            "i8",
            square,
            (lambda x: sz.contiguous(x.T), lambda x: x.T.copy(), lambda x: x.T.contiguous()),
        ),
        "transposing copy bf16": (
            "bf16",
            square,
            (lambda x: sz.contiguous(x.T), lambda x: x.T.copy(), lambda x: x.T.contiguous()),
        ),
        "cast f32 to f16, transposed": (
            "f32",
            square,
            (
                lambda x: sz.cast(x.T, sz.float16, layout=(1, 0)),
                lambda x: x.T.astype(np.float16, order="C"),
                lambda x: x.T.to(t.float16, memory_format=t.contiguous_format),
            ),
        ),
        "x + x.T": ("f32", square, (lambda x: x + x.T, lambda x: x + x.T, lambda x: x + x.T)),
        "concat axis 0": (
            "f32",
            square,
            (
                lambda x: sz.concat([x, x], 0),
                lambda x: np.concatenate([x, x], 0),
                lambda x: t.cat([x, x], 0),
            ),
        ),
        "concat axis 1": (
            "f32",
            square,
            (
                lambda x: sz.concat([x, x], 1),
                lambda x: np.concatenate([x, x], 1),
                lambda x: t.cat([x, x], 1),
            ),
        ),
        "stack axis 0": (
            "f32",
            square,
            (
                lambda x: sz.stack([x, x], 0),
                lambda x: np.stack([x, x], 0),
                lambda x: t.stack([x, x], 0),
            ),
        ),
        "pad": (
            "f32",
            square,
            (lambda x: sz.pad(x, (3, 3, 3, 3)), lambda x: np.pad(x, 3), torch_pad),
        ),
        "tile 2x2": (
            "f32",
            lambda n: (n // 2, n // 2),
            (lambda x: sz.tile(x, (2, 2)), lambda x: np.tile(x, (2, 2)), lambda x: x.tile((2, 2))),
        ),
        "roll": (
            "f32",
            square,
            (
                lambda x: sz.roll(x, (1, 3), (0, 1)),
                lambda x: np.roll(x, (1, 3), (0, 1)),
                lambda x: x.roll((1, 3), (0, 1)),
            ),
        ),
    }


def picking(edge: int) -> dict[str, tuple[Case, tuple[sz.Tensor, ...]]]:
    """Return cases that pick rows or elements, with their tensors."""
    rng = np.random.default_rng(edge)
    x = make("f32", edge * edge).reshape(edge, edge)
    rows = sz.tensor(rng.integers(0, edge, edge))
    places = sz.tensor(rng.integers(0, edge * edge, edge * edge))
    half = sz.tensor(rng.random((edge, edge)) < 0.5)
    few = sz.tensor(rng.random((edge, edge)) < 0.01)
    t = torch
    by_rows: Case = (sz.gather, lambda x, i: x[i], lambda x, i: x[i])
    by_take: Case = (sz.gather, lambda x, i: x.take(i, 0), lambda x, i: t.index_select(x, 0, i))
    by_mask: Case = (sz.masked_select, lambda x, m: x[m], lambda x, m: t.masked_select(x, m))
    flat = x.reshape(-1)
    return {
        "gather rows": (by_rows, (x, rows)),
        "gather rows, against take": (by_take, (x, rows)),
        "gather elements": (by_take, (flat, places)),
        "masked_select, half": (by_mask, (x, half)),
        "masked_select, few": (by_mask, (x, few)),
    }


def moving(table: Table, edge: int, threads: int, unit: float) -> None:
    """Copies, joins and picks over a square."""
    names = {1e9: "ns", 1e6: "µs"}
    title = f"{edge} x {edge}, {threads} threads, {names[unit]}"
    table.title(title, "1.0x the faster")
    for name, (dtype, shape, case) in moving_cases().items():
        dims = shape(edge)
        x = make(dtype, dims[0] * dims[1]).reshape(dims)
        table.row(name, calls(case, x), faster=1, unit=unit)
    for name, (case, xs) in picking(edge).items():
        table.row(name, calls(case, *xs), faster=1, unit=unit)


GROUPS: dict[str, Group] = {
    "views": views,
    "small": lambda table, threads: moving(table, 4, threads, 1e9),
    "large": lambda table, threads: moving(table, 4096, threads, 1e6),
}

if __name__ == "__main__":
    main(__doc__, GROUPS, once=("views", "small"))
