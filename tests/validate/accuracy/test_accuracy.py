"""`suanzi accuracy`: what it finds of subjects whose errors are known."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import mpmath
import numpy as np
import pytest

from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.process import Backend
from suanzi.front.cli import main
from suanzi.promote.live import NotInstalled
from suanzi.truth.rounding import ROUNDED, rounded, units
from suanzi.validate.accuracy import FUNCTIONS, accuracy
from suanzi.validate.accuracy.errors import exact_values, judged
from suanzi.validate.accuracy.functions import exactly
from suanzi.validate.accuracy.inputs import both_signs, every, sample, values
from suanzi.validate.accuracy.run import function

FLAWED = '''
import numpy as np
from wire import Data, Unsupported


class Adapter:
    """NumPy's functions of float16, computed in float64 and rounded once, each with a flaw."""

    name, version, rules = "flawed", "1", "numpy"

    def create(self, data):
        if data.dtype != "float16":
            raise Unsupported("float16 alone")
        return np.frombuffer(data.raw, np.float16).astype(np.float64)

    def read(self, x):
        return Data("float16", x.shape, x.astype(np.float16).tobytes())

    def call(self, op, given):
        (x,) = given.values()
        with np.errstate(all="ignore"):
            if op == "square":
                return x * x
            if op == "exp":  # three units too large at 1
                return np.exp(x) + np.where(x == 1, 3 * 2.0**-9, 0)
            if op == "tanh":  # -0 becomes 0
                return np.tanh(x) + 0.0
            if op == "sqrt":  # numbers below the smallest normal one become 0
                return np.sqrt(np.where(np.abs(x) < 2.0**-14, 0.0 * x, x))
            if op == "reciprocal":
                y = 1 / x
                return np.where(np.abs(y) < 2.0**-14, np.copysign(0.0, y), y)
            if op == "log":  # infinity where there is none
                return np.where(x == 2, np.inf, np.log(x))
            if op == "cosh":  # not even
                return np.cosh(x) * np.where(x < 0, 1 + 2.0**-10, 1)
            if op == "atan":
                return np.where(x == 0.5, np.arctan(0.4375), np.arctan(x))
            if op == "sin":
                raise ValueError("no sine")
            if op == "cos":
                import os
                os.abort()
        raise Unsupported(f"no {op}")
'''


@pytest.fixture
def flawed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    (tmp_path / "flawed_functions.py").write_text(FLAWED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return Backend("flawed", "flawed_functions:Adapter")


def test_known_flaws_are_found(flawed: Backend) -> None:
    asked = "square exp tanh reciprocal log cosh atan sin cos tan sqrt".split()
    found = accuracy(flawed, functions=asked, dtypes=["f16"], jobs=1)
    rows = {row.name: row for row in found.rows}
    tally = {name: row.tally for name, row in rows.items()}
    assert tally["square"].worst <= 0.5
    assert (tally["square"].wrong, tally["square"].special) == (0, 0)
    assert (tally["exp"].worst_at, round(tally["exp"].worst)) == ((1.0,), 3)
    assert (tally["exp"].wrong, tally["exp"].above_one) == (1, 1)
    assert tally["exp"].order == 1  # its neighbour is smaller now
    assert sum(tally["exp"].histogram) == tally["exp"].count
    assert (tally["tanh"].special, tally["tanh"].special_at) == (1, (0.0,))
    assert str(tally["tanh"].special_at) == "(-0.0,)"
    assert tally["tanh"].asymmetric == 1
    assert tally["reciprocal"].flushed == 2 * len(range(0x7400, 0x7C00)) - 2
    assert tally["reciprocal"].worst <= 0.5
    assert (tally["log"].special, tally["log"].special_at) == (1, (2.0,))
    assert tally["cosh"].asymmetric > 1000
    assert (tally["atan"].worst_at, tally["atan"].asymmetric) == ((0.5,), 1)
    assert tally["sqrt"].flushed == 2046  # arguments, of which half give -0, where NaN is due
    assert tally["sqrt"].special == tally["sqrt"].above_one == 0
    assert "no sine" in rows["sin"].missing
    assert "the process ended" in rows["cos"].missing
    assert rows["tan"].missing == "no tan"  # in a new process
    assert "float16" in str(found)
    assert "not measured" in str(found)


def test_the_references_agree_with_all_digits() -> None:
    random = np.random.default_rng(7)
    for f in FUNCTIONS.values():
        x = np.concatenate([random.uniform(-3, 3, 12), 2.0 ** random.uniform(-20, 6, 8)])
        at = (x, random.permutation(x)) if f.binary else (x,)
        for near, *one in zip(f.fast(*at).tolist(), *at, strict=True):
            if not math.isfinite(near) or abs(near) < 1e-45:
                continue
            exact = exactly(f, *map(float, one))
            assert abs(mpmath.mpf(near) - exact) <= abs(exact) * 2.0**-46, (f.name, one)


def test_float64_is_compared_with_all_digits() -> None:
    f = FUNCTIONS["exp"]
    x = np.array([1.0, -745.0, 0.25])
    exact, rest = exact_values(f, x)
    assert exact[0] == math.e
    assert judged(f, "float64", (x,), exact, exact, rest).worst <= 0.5
    off = np.nextafter(exact, np.inf)
    assert 0.5 < judged(f, "float64", (x,), off, exact, rest).worst < 1.6


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float16", "bfloat16", "float32"])
def test_units(dtype: str) -> None:
    form = ROUNDED[dtype]
    x = np.array([1.0, 3.0, form.least, 2.0**form.lowest, 0.0, form.largest])
    unit = units(x, form)
    assert np.array_equal(rounded(x + unit, dtype)[:4], (x + unit)[:4])
    assert unit[2] == unit[4] == form.least


def test_every_pattern_is_tried_once() -> None:
    for dtype in ("float8_e4m3fn", "float16"):
        bits = np.concatenate([both_signs(part, dtype) for part in every(dtype)])
        assert len(np.unique(bits)) == 1 << (16 if dtype == "float16" else 8)
    sampled = np.concatenate(list(sample("float32", 0)))
    assert (np.diff(sampled.astype(np.int64)) > 0).all()
    x = values(sampled, "float32")
    assert {0.0, 1.0, math.inf, 2.0**-149} <= set(x[:100].tolist()) | set(x[np.isinf(x)]) | {
        *x[np.isin(x, [1.0])]
    }


def test_suanzi_is_measured_as_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    """Outside of a domain there is NaN, no status; and erf(-0) is -0."""
    words = ["accuracy", "--op", "acosh,erf", "--dtype", "bf16", "--jobs", "1", "--json"]
    assert main(words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == "suanzi-accuracy/2"
    for row in data["rows"]:
        assert row["worst"] <= 0.5 + 1e-3
        assert row["wrong_special"] == row["asymmetric"] == row["out_of_order"] == 0
        assert row["count"] == sum(row["histogram"])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"functions": ["expp"]}, "'expp' is not measured.*Did you mean 'exp'"),
        ({"dtypes": ["int8"]}, "functions of int8 are not measured; dtypes: float8_e4m3fn"),
        ({"backend": "numpy", "level": "avx2"}, "--level is for suanzi, not for numpy"),
        ({"level": "avx9"}, "this machine has no level 'avx9'; levels: .*baseline"),
        ({"device": "cluster"}, "suanzi on cluster is not measured"),
        ({"jobs": 0}, "jobs is 0; it must be a number above zero"),
        ({"python": "/no/python"}, "'/no/python' cannot be run"),
    ],
)
def test_mistakes_are_told(given: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        accuracy(**{"functions": ["exp"], **given})  # type: ignore[arg-type]


def test_names_of_functions() -> None:
    assert function("op_exp") is function(" EXP ") is FUNCTIONS["exp"]


def test_numpy() -> None:
    found = accuracy("numpy", functions=["sqrt", "erf"], dtypes=["f16", "bf16"], jobs=1)
    rows = {(row.name, row.dtype): row for row in found.rows}
    assert rows["sqrt", "float16"].tally.worst <= 0.5
    assert rows["sqrt", "bfloat16"].missing == "NumPy has no bfloat16"
    assert rows["erf", "float16"].missing


def test_torch() -> None:
    python = os.environ.get("SUANZI_PYTHON_TORCH")
    try:
        found = accuracy("torch", functions=["exp"], dtypes=["bf16"], python=python, jobs=1)
    except NotInstalled as reason:
        pytest.skip(str(reason))
    assert 0.4 < found.rows[0].tally.worst < 2
