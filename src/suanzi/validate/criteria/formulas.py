"""Seven operators as float64 formulas, computed in any precision, and mistakes kernels make.

An exact answer here is float64 arithmetic on inputs that were rounded to the dtype first: its own
error is a millionth of what the criteria look at. The same formula computed in float32 is a right
kernel; with every intermediate result rounded further, it is one that computes too coarsely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.validate.criteria.numbers import TF32, Reals, rounded, ulp

EPSILON = 1e-6
"""What norms add under the root."""
_LANES = 32
_BLOCK = 16
_WIDTH = 64
"""How long the vectors of an attention are."""


@dataclass(frozen=True)
class Arithmetic:
    """The precision of every operation, and the dtype in which eager stores between operators."""

    name: str = "float64"
    stored: str = "float64"

    def __call__(self, x: Reals) -> Reals:
        """Round a result."""
        if self.name == "float32":
            return x.astype(np.float32).astype(np.float64)
        return rounded(x, self.name)

    def store(self, x: Reals) -> Reals:
        """Round what one operator gives to the next."""
        return rounded(x, self.stored)

    def sum(self, x: Reals) -> Reals:
        """Sum along the last axis: in 32 lanes, then the lanes, as a warp does."""
        if self.name in ("float64", "float32"):
            return np.asarray(x.astype(self.name).sum(-1), np.float64)
        steps = -(-x.shape[-1] // _LANES)
        padded = np.zeros((*x.shape[:-1], steps * _LANES))
        padded[..., : x.shape[-1]] = x
        lanes = padded.reshape(*x.shape[:-1], steps, _LANES)
        total = lanes[..., 0, :]
        for i in range(1, steps):
            total = self(total + lanes[..., i, :])
        while total.shape[-1] > 1:
            total = self(total[..., ::2] + total[..., 1::2])
        return np.asarray(total[..., 0])

    def dot(self, x: Reals, y: Reals) -> Reals:
        """Multiply matrices; in low precision, blocks of 16 products are added one by one."""
        if self.name in ("float64", "float32"):
            return np.asarray(x.astype(self.name) @ y.astype(self.name), np.float64)
        total = np.zeros((x.shape[0], y.shape[1]))
        for i in range(0, x.shape[1], _BLOCK):
            total = self(total + x[:, i : i + _BLOCK] @ y[i : i + _BLOCK])
        return total


def softmax(r: Arithmetic, x: Reals) -> Reals:
    """exp(x - max) over its sum."""
    e = r(np.exp(r(x - x.max(-1, keepdims=True))))
    return r(e / r.sum(e)[..., None])


def mean(r: Arithmetic, x: Reals) -> Reals:
    """The sum over the number of elements; the results are one row."""
    return r(r.sum(x) / x.shape[-1])[None]


def rms_norm(r: Arithmetic, x: Reals) -> Reals:
    """X over the root of the mean of its squares."""
    square = r(r.sum(r(x * x)) / x.shape[-1])
    return r(x * r(1 / np.sqrt(r(square + EPSILON)))[..., None])


def layer_norm(r: Arithmetic, x: Reals) -> Reals:
    """X less its mean, over its standard deviation."""
    off = r(x - r(r.sum(x) / x.shape[-1])[..., None])
    return rms_norm(r, off)


def gelu(r: Arithmetic, x: Reals) -> Reals:
    """X times the normal distribution's integral up to it, without cancellation."""
    from scipy.special import erfc

    return r(r(x / 2) * r(erfc(r(-x / math.sqrt(2)))))


def gelu_by_tanh(x: Reals) -> Reals:
    """The other form of gelu."""
    found: Reals = 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return found


def matmul(r: Arithmetic, x: Reals, y: Reals) -> Reals:
    """The product of matrices."""
    return r.dot(x, y)


def attention(r: Arithmetic, q: Reals, k: Reals, v: Reals) -> Reals:
    """softmax(q k^T / sqrt(d)) v."""
    scores = r.store(r(r.store(r.dot(q, k.T)) / math.sqrt(q.shape[-1])))
    return r.dot(r.store(softmax(r, scores)), v)


@dataclass(frozen=True)
class Operator:
    """An operator: its formula, and the shapes of its inputs for a length n."""

    formula: Callable[..., Reals]
    shapes: Callable[[int], tuple[tuple[int, int], ...]]
    reduces: bool = True


OPERATORS: dict[str, Operator] = {
    "softmax": Operator(softmax, lambda n: ((64, n),)),
    "mean": Operator(mean, lambda n: ((256, n),)),
    "rms_norm": Operator(rms_norm, lambda n: ((64, n),)),
    "layer_norm": Operator(layer_norm, lambda n: ((64, n),)),
    "gelu": Operator(gelu, lambda n: ((64, n),), reduces=False),
    "matmul": Operator(matmul, lambda n: ((64, n), (n, 256))),
    "attention": Operator(attention, lambda n: ((128, _WIDTH), (n, _WIDTH), (n, _WIDTH))),
}


def operator(name: str) -> Operator:
    """Return an operator by name.

    >>> operator("softmax").formula.__name__
    'softmax'
    """
    if name not in OPERATORS:
        raise InvalidArgument(
            f"standards: {name!r} is not an operator with known mistakes; use "
            f"{', '.join(OPERATORS)}.{nearest(name, OPERATORS)}"
        )
    return OPERATORS[name]


DATA = ("uniform", "normal")
"""Distributions of the inputs: uniform in [0, 1), as torch.rand gives them, and normal."""


@dataclass(frozen=True)
class Case:
    """An operator applied to random data of a dtype, with what is right and what is wrong."""

    op: str
    dtype: str
    n: int
    data: str
    seed: int = 0

    @cached_property
    def inputs(self) -> tuple[Reals, ...]:
        """The inputs, rounded to the dtype."""
        return self._inputs(self.seed)

    def _inputs(self, seed: int) -> tuple[Reals, ...]:
        rng = np.random.default_rng([seed, self.n])
        draw = rng.random if self.data == "uniform" else rng.standard_normal
        return tuple(
            rounded(draw(shape), self.dtype) for shape in OPERATORS[self.op].shapes(self.n)
        )

    def compute(self, arithmetic: Arithmetic, *inputs: Reals) -> Reals:
        """Compute the operator, with one more rounding to the dtype of the output."""
        found = OPERATORS[self.op].formula(arithmetic, *(inputs or self.inputs))
        return rounded(found, self.dtype)

    @cached_property
    def exact(self) -> Reals:
        """The exact answer."""
        return OPERATORS[self.op].formula(Arithmetic(), *self.inputs)

    @cached_property
    def eager(self) -> Reals:
        """What a framework gives: float32 inside an operator, the dtype between operators."""
        return self.compute(Arithmetic("float32", self.dtype))

    @cached_property
    def right(self) -> dict[str, Reals]:
        """Outputs that are right."""
        return {
            "the exact answer, rounded": rounded(self.exact, self.dtype),
            "computed in float32": self.compute(Arithmetic("float32")),
        }

    def optional(self, needs: Sequence[str]) -> dict[str, Any]:
        """Return what a criterion needs besides the output and the exact answer."""
        first = self.inputs[0]
        made: dict[str, Callable[[], Any]] = {
            "n": lambda: self.length,
            "magnitude": lambda: self.magnitude,
            "eager": lambda: self.eager,
            "inputs": lambda: first if first.shape == self.exact.shape else None,
        }
        return {name: made[name]() for name in needs}

    @cached_property
    def magnitude(self) -> Reals | None:
        """The sums of the magnitudes of products, where the result is a dot product."""
        if self.op != "matmul":
            return None
        x, y = self.inputs
        return np.abs(x) @ np.abs(y)

    @property
    def length(self) -> int:
        """The length of the reduction."""
        return self.n if OPERATORS[self.op].reduces else 1

    @cached_property
    def coarse(self) -> float:
        """An error that no float32 computation has."""
        near = float(np.abs(self.right["computed in float32"] - self.exact).max())
        return 2 * near + float(ulp(np.abs(self.exact), self.dtype).max())

    def mistake(self, name: str) -> Reals | None:
        """Return a wrong output; None where this mistake does not make one."""
        made = MISTAKES[name](self)
        if made is None:
            return None
        enough = 0.0 if name in _PLAIN else self.coarse
        return rounded(made, self.dtype) if np.abs(made - self.exact).max() > enough else None


def _tail(case: Case) -> Reals | None:
    if case.exact.shape[-1] <= 38:
        return None
    found = case.exact.copy()
    found[..., -38:] = 0
    return found


def _stale(case: Case) -> Reals:
    found = case.exact.copy()
    others = case._inputs(case.seed + 1)
    found[:16, :128] = OPERATORS[case.op].formula(Arithmetic(), *others)[:16, :128]
    return found


def _lower(case: Case) -> Reals:
    return case.compute(Arithmetic("float16" if case.dtype == "float32" else case.dtype))


def _tf32(case: Case) -> Reals | None:
    if case.dtype != "float32":
        return None
    return case.compute(Arithmetic("float32"), *(rounded(x, TF32) for x in case.inputs))


MISTAKES: dict[str, Callable[[Case], Reals | None]] = {
    "zeros": lambda case: np.zeros_like(case.exact),
    "1/n everywhere": lambda c: np.full_like(c.exact, 1 / c.n) if c.op == "softmax" else None,
    "the mean of each row": lambda c: np.broadcast_to(
        c.exact.mean(-1, keepdims=True), c.exact.shape
    ),
    "the last 38 columns unwritten": _tail,
    "one tile from the call before": _stale,
    "shifted by one": lambda case: np.roll(case.exact, 1, -1),
    "the neighbour's row": lambda c: np.roll(c.exact, 1, 0) if len(c.exact) > 1 else None,
    "computed one precision lower": _lower,
    "inputs rounded to TF32": _tf32,
    "tanh instead of erf": lambda c: gelu_by_tanh(c.inputs[0]) if c.op == "gelu" else None,
}
_PLAIN = tuple(MISTAKES)[:7]
"""Mistakes that are wrong however small the numbers are."""
