"""7.2.9: rounding: every float8, and messages; the conformance kit has the rest."""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.checking import check, check_unary, pack, samples
from suanzi.conformance.model.numbers import FORMATS, INTEGERS, decode, real

OPS = ["floor", "ceil", "trunc", "round"]
MODES = {"DOWNWARD": "floor", "UPWARD": "ceil", "TOWARDZERO": "trunc", "TONEAREST": "round"}


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("op", OPS)
def test_every_float8(op: str, name: str) -> None:
    check_unary(op, name, [decode(FORMATS[name], bits) for bits in range(256)], name)


@pytest.mark.parametrize(("mode", "op"), MODES.items())
def test_rint_is_the_operator_of_its_mode(mode: str, op: str) -> None:
    values = samples("float32", 20)
    x = pack("float32", values)
    for given in (mode, mode.lower(), sz.RoundMode[mode]):
        assert sz.rint(x, given).numpy().tobytes() == getattr(sz, op)(x).numpy().tobytes()


@pytest.mark.parametrize("name", [*INTEGERS, "bool"])
def test_integers_become_the_default_float(name: str) -> None:
    x = sz.tensor([0, 1], sz.dtype(name))
    for op in OPS:
        check(getattr(sz, op)(x), "float32", [real(0), real(1)])
    check(sz.rint(x, "UPWARD"), "float32", [real(0), real(1)])
    with sz.promotion("strict"):
        for op in OPS:
            with pytest.raises(sz.TypeMismatch, match=rf"^{op} \(7\.2\.9\.\d\): {name}"):
                getattr(sz, op)(x)
        with pytest.raises(sz.TypeMismatch, match=rf"^rint \(7\.2\.9\.5\): {name}"):
            sz.rint(x, "UPWARD")
