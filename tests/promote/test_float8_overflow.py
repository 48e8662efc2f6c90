"""What is beyond float8_e4m3fn: NaN, or 448 under PyTorch's rules, as PyTorch itself has it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading

import pytest

import suanzi as sz

E4, E5 = sz.float8_e4m3fn, sz.float8_e5m2
INF, NAN = math.inf, math.nan
GIVEN = [448.0, 449.0, 464.0, 480.0, 1e10, INF, -INF, NAN, -500.0, 57344.0]
IN_TORCH = [448.0, 448.0, 448.0, 448.0, 448.0, 448.0, -448.0, NAN, -448.0, 448.0]
"""What torch 2.13.0 makes of GIVEN, from float64, float32, float16 and bfloat16 alike."""
IN_ML_DTYPES = [448.0, 448.0, 448.0, NAN, NAN, NAN, NAN, NAN, NAN, NAN]


def same(x: sz.Tensor, due: list[float]) -> bool:
    assert x.dtype is E4
    found = sz.cast(x, sz.float64).numpy().ravel().tolist()
    return [str(a) for a in found] == [str(float(a)) for a in due]


@pytest.mark.parametrize("source", ["f64", "f32", "f16", "bf16"])
def test_casts(source: str) -> None:
    x = sz.tensor(GIVEN, source)
    assert same(sz.cast(x, E4), IN_ML_DTYPES)
    with sz.promotion("torch"):
        assert same(sz.cast(x, E4), IN_TORCH)
        e5 = sz.cast(sz.cast(x, E5), sz.float32).numpy().tolist()
    assert e5[4:7] == [INF, INF, -INF]  # which has infinities
    assert same(sz.cast(x, E4), IN_ML_DTYPES)


def test_every_way_into_the_dtype() -> None:
    with sz.promotion("torch"):
        x = sz.tensor([448, -448, 2], E4)
        assert same(x * x, [448, 448, 4])
        assert same(x + x, [448, -448, 4])
        assert same(x * 1000, [448, -448, 448])
        assert same(sz.cast(sz.tensor([448, 500, -70000]), E4), [448, 448, -448])
        assert same(sz.tensor([500.0, INF, -1e9], E4), [448, 448, -448])
        assert same(sz.full(value=500.0, shape=(2,), dtype=E4), [448, 448])
        assert same(sz.where(sz.tensor([True, False]), sz.tensor([1, 2], E4), 1e4), [1, 448])
        assert same(sz.matmul(x, x), [448])
        x[0] = 1e9
        x[1:] = sz.tensor([INF, -500.0])
        assert same(x, [448, 448, -448])
        x += 1000.0
        assert same(x, [448, 448, 0])  # the number is 448 there, too
        y = sz.cast(sz.tensor([1e9]), sz.float32)
        assert same(sz.concat([sz.cast(y, E4), x], axis=0), [448, 448, 448, 0])


def test_long_loops_and_threads_have_the_rule_set_of_their_call() -> None:
    big = sz.full(value=500.0, shape=(100_000,), dtype=sz.float32)
    with sz.promotion("torch"):
        assert same(sz.cast(big, E4)[::9999], [448] * 11)
        assert same((sz.cast(big, E4) + sz.cast(big, E4))[::9999], [448] * 11)
        found: list[bool] = []
        other = threading.Thread(
            target=lambda: found.append(same(sz.cast(big, E4)[:2], [NAN, NAN]))
        )
        other.start()
        other.join()
    assert found == [True]
    assert same(sz.cast(big, E4)[:2], [NAN, NAN])


def test_a_rule_set_of_ones_own_says_it() -> None:
    like = sz.RuleSet.from_text("name mine\nlike torch\n")
    not_like = sz.RuleSet.from_text("name mine\nlike torch\nfloat8 overflow nan\n")
    x = sz.tensor([1e9])
    with sz.promotion(like):
        assert same(sz.cast(x, E4), [448])
    with sz.promotion(not_like):
        assert same(sz.cast(x, E4), [NAN])
    with pytest.raises(sz.InvalidArgument, match="none of nan, largest"):
        sz.RuleSet.from_text("name mine\nlike torch\nfloat8 overflow wrap\n")


def test_live_torch() -> None:
    python = os.environ.get("SUANZI_PYTHON_TORCH", sys.executable)
    code = (
        "import json, torch; inf, nan = float('inf'), float('nan')\n"
        "assert torch.__version__.startswith('2.13.'), 'another version'\n"
        f"x = torch.tensor({GIVEN}, dtype=torch.float32)\n"
        "d = torch.float8_e4m3fn; z = torch.zeros(len(x), dtype=d); z.copy_(x); e = x.to(d)\n"
        "print(json.dumps([str(v) for t in (e, z, e * e) for v in t.float().tolist()]))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("torch 2.13 is not installed: 2.11 makes NaN of what is beyond")
    with sz.promotion("torch"):
        x = sz.tensor(GIVEN, sz.float32)
        e, z = sz.cast(x, E4), sz.zeros(shape=(len(GIVEN),), dtype=E4)
        z[:] = x
        mine = [v for t in (e, z, e * e) for v in sz.cast(t, sz.float32).numpy().tolist()]
    assert json.loads(done.stdout) == [str(v) for v in mine]
