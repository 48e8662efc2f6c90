"""The formulas of gradients that the kit holds others against, by differences of the forward truth.

Products are linear in each operand and transforms in their input, so that a difference of one whole
step is the derivative itself, without any error of its own. The loss is the sum of
Re(conj(g) f(x)), and the gradient dL/dRe + i dL/dIm.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from helpers.readings import first_reading
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.cases.signal import normalised
from suanzi.conformance.model.case import Case, Output
from suanzi.conformance.model.data import tensor, values
from suanzi.conformance.model.numbers import PARTS, real
from suanzi.conformance.subjects.wire import Data
from suanzi.conformance.truth.arrays import exact
from suanzi.conformance.truth.linear_algebra_products import product_output
from suanzi.conformance.truth.signal import extended, factor, real_part, taken, transform

Pairs = list[tuple[Fraction, Fraction]]
Forward = Callable[[Data], Pairs]
TINY = Fraction(1, 10**25)


def pairs(some: Any) -> Pairs:
    return [(x[0].value, x[1].value) if isinstance(x, tuple) else (x.value, Fraction(0))
            for x in some]  # fmt: skip


def gradient(forward: Forward, x: Data, out_grad: Data) -> Pairs:
    """Return the derivatives of the loss, one element after the other."""
    g = pairs(values(out_grad))

    def loss(at: Data) -> Fraction:
        both = zip(g, forward(at), strict=True)
        return sum((p * u + q * v for (p, q), (u, v) in both), Fraction(0))

    some, at_rest = values(x), loss(x)
    is_complex = x.dtype in PARTS
    found = []
    for i in range(len(some)):
        parts = []
        for part in range(2 if is_complex else 1):
            moved: Any = list(some)
            if is_complex:
                both = list(moved[i])
                both[part] = real(both[part].value + 1)
                moved[i] = tuple(both)
            else:
                moved[i] = real(moved[i].value + 1)
            parts.append(loss(tensor(x.dtype, moved, x.shape)) - at_rest)
        found.append((parts[0], parts[1] if is_complex else Fraction(0)))
    return found


def rounded(data: Data) -> Data:
    """Return small whole numbers in place of a case's, so that one step more is exact."""
    some: list[Any] = []
    for i, x in enumerate(values(data)):
        whole = [real((7 * i + 3 * k) % 5 - 2) for k in range(2)]
        some.append(tuple(whole) if isinstance(x, tuple) else whole[0])
    return tensor(data.dtype, some, data.shape)


def near(found: Output, expected: Pairs) -> None:
    for (p, q), (u, v) in zip(pairs(found.truth), expected, strict=True):
        assert abs(p - u) <= TINY
        assert abs(q - v) <= TINY


def chosen(op: str) -> list[Case]:
    wanted = Wanted(frozenset({"plain", "broadcast"}), frozenset({"float64", "complex128"}))
    return [case for case in cases(op, wanted) if max(x.size for x in _tensors(case)) <= 24]


def _tensors(case: Case) -> list[Data]:
    return [x for x in case.arguments.values() if isinstance(x, Data)]


PRODUCTS = {
    "dot_bwd1": ("dot", "vec1", ("vec1", "vec2")),
    "dot_bwd2": ("dot", "vec2", ("vec1", "vec2")),
    "linear_bwd_in": ("linear", "x", ("x", "weight")),
    "linear_bwd_weight": ("linear", "weight", ("x", "weight")),
    "bilinear_bwd_in1": ("bilinear", "x", ("x", "y", "weight")),
    "bilinear_bwd_in2": ("bilinear", "y", ("x", "y", "weight")),
    "bilinear_bwd_weight": ("bilinear", "weight", ("x", "y", "weight")),
}


@pytest.mark.parametrize("op", PRODUCTS)
def test_products(op: str) -> None:
    forward, own, names = PRODUCTS[op]
    tried = chosen(op)
    assert len(tried) > 6
    for case in tried:
        given = {name: rounded(x) for name, x in case.arguments.items()}
        if "input" in given:
            given["x"] = given["input"]
        own_names = {name: given[name] for name in case.arguments}
        found = product_output(op, own_names, case.dtype)
        if own not in given:
            given[own] = rounded(tensor(case.dtype, list(found.truth), found.shape))

        def run(x: Data, given: Any = given, case: Case = case) -> Pairs:
            some = {name: x if name == own else given[name] for name in names}
            return pairs(product_output(forward, some, case.dtype).truth)

        near(found, gradient(run, given[own], given["out_grad"]))


TRANSFORMS = ["fft_c2c_backward", "fft_r2c_backward", "fft_c2r_backward"]


@pytest.mark.parametrize("op", TRANSFORMS)
def test_transforms(op: str) -> None:
    tried = chosen(op)[::5]
    assert len(tried) > 6
    for case in tried:
        (found,) = first_reading(case)
        g = case.arguments["grad_out"]
        source = rounded(tensor(found.dtype, list(found.truth), found.shape))
        along = normalised(case.arguments.get("axes"), len(found.shape))
        near(found, gradient(_forward(case, along), source, g))


def _forward(case: Case, along: list[int]) -> Forward:
    """Return the forward transform of which a case is the gradient."""
    mode, direction = (case.arguments.get(k, d) for k, d in
                       (("normalization", "none"), ("forward", True)))  # fmt: skip
    shape, last = case.arguments["grad_out"].shape, along[-1]

    def run(x: Data) -> Pairs:
        y = exact(x)
        if case.op == "fft_c2r_backward":
            y = extended(transform(y, along[:-1], direction), last, shape[last])
            result = real_part(transform(y, [last], direction))
        else:
            result = taken(transform(y, along, direction), last, shape[last])
        n = 1
        for a in along:
            n *= result.shape[a] if case.op == "fft_c2r_backward" else x.shape[a]
        by = factor(mode, n)
        return [(p * by, q * by) for p, q in result.fractions()]

    return run
