"""7.2.1: every status that creation can return, and that nothing is made or changed by then."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import moves
from suanzi.promote.registry import REGISTRY

CREATION = """create_tensor wrap_tensor zeros full empty contiguous rand_uniform rand_normal
    rand_bernoulli multinomial randperm range linspace duplicate diag destroy""".split()
SHAPED = "create_tensor wrap_tensor zeros full empty rand_uniform rand_normal".split()
SEEDED = "rand_uniform rand_normal rand_bernoulli multinomial randperm".split()
SCALARS = [("full", "value"), ("rand_uniform", "min"), ("rand_uniform", "max"),
           ("rand_normal", "mean"), ("rand_normal", "std"), ("range", "start"), ("range", "limit"),
           ("range", "step"), ("linspace", "start"), ("linspace", "stop")]  # fmt: skip


def arguments(name: str) -> dict[str, Any]:
    """A call that succeeds."""
    x = sz.tensor([0.25, 0.5])
    special: dict[str, dict[str, Any]] = {
        "create_tensor": {"shape": (2,), "values": x},
        "randperm": {"len": 5},
        "range": {"start": 1, "limit": 3, "step": 1},
        "linspace": {"start": 0, "stop": 1, "num": 3},
    }
    if name in special:
        return special[name]
    return {"shape": (2,)} if name in SHAPED else {"input": x}


def refused(name: str, error: type[sz.StatusError], *parts: str, **changed: Any) -> None:
    """The call raises, says so in the operator's name, and allocates nothing."""
    for part in parts or ("",):
        moves.refused(error, name, **arguments(name) | changed, match=part)


@pytest.mark.parametrize("name", SHAPED)
def test_shapes_that_are_fine(name: str) -> None:
    for shape in (2, [2], (np.int64(2),), np.array([2]), range(2, 3)):
        assert getattr(sz, name)(**arguments(name) | {"shape": shape}).shape == (2,)


def test_a_shape_in_the_place_of_the_dtype() -> None:
    with pytest.raises(
        sz.StatusError, match=r"A shape is given by name: sz.full\(shape=\(2, 3\)\)"
    ):
        sz.full((2, 3), 7)


@pytest.mark.parametrize("name", SHAPED)
@pytest.mark.parametrize(
    "wrong",
    [(0,), (1, 2), (0, 1, 2), (-1, 0), sz.Layout(sz.LayoutType.CSR, (1, 0))],
)
def test_layouts(name: str, wrong: Any) -> None:
    refused(name, sz.InvalidArgument, "layout is", shape=(2, 3), layout=wrong)
    with pytest.raises(sz.InvalidArgument, match=r"without axes has the layout \(\)"):
        sz.zeros((), layout=(0,))


@pytest.mark.parametrize("name", SEEDED)
@pytest.mark.parametrize("wrong", [None, 2**63, -(2**63) - 1, 10**30])
def test_seeds(name: str, wrong: Any) -> None:
    refused(name, sz.InvalidArgument, "seed is", seed=wrong)


@pytest.mark.parametrize(("name", "argument"), SCALARS)
def test_scalars_that_do_not_convert(name: str, argument: str) -> None:
    refused(name, sz.InvalidArgument, f"{argument} is ", "complex", **{argument: 1j})
    refused(name, sz.InvalidArgument, f"{argument} is ", "complex", **{argument: np.complex64(1)})
    if name == "full":
        assert sz.full(value=math.nan).item() != sz.full(value=math.nan).item()
    else:
        for wrong in (math.nan, math.inf, -math.inf, 10**400, sz.tensor(math.nan)):
            refused(name, sz.InvalidArgument, f"{argument} is ", "finite", **{argument: wrong})
    if sz.int8 in REGISTRY[name].dtypes:
        for wrong in (0.5, math.nan, math.inf):
            refused(
                name, sz.InvalidArgument, "not a whole number", dtype=sz.int8, **{argument: wrong}
            )
        for wrong in (128, -129, 2**70, np.int64(1000), 1e10):
            refused(
                name,
                sz.InvalidArgument,
                "range of int8 (-128 to 127)",
                dtype=sz.int8,
                **{argument: wrong},
            )


@pytest.mark.parametrize(("name", "argument"), SCALARS)
def test_scalars_of_every_kind(name: str, argument: str) -> None:
    seed = {"seed": 3} if name in SEEDED else {}
    call = getattr(sz, name)
    one = call(**arguments(name) | {argument: 1} | seed).tolist()
    for same in (
        1.0,
        True,
        np.float16(1),
        np.int8(1),
        np.array(1),
        sz.tensor(1),
        sz.tensor(1, "bf16"),
    ):
        assert call(**arguments(name) | {argument: same} | seed).tolist() == one


def test_bounds_of_random_numbers() -> None:
    refused("rand_uniform", sz.InvalidArgument, "min must not be above max", min=2, max=1)
    refused("rand_uniform", sz.InvalidArgument, "min must not", min=1j, max=1, dtype=sz.complex64)
    refused("rand_uniform", sz.InvalidArgument, "range of float16", max=1e6, dtype=sz.float16)
    refused("rand_uniform", sz.InvalidArgument, "range of float32", min=-1e39)
    refused(
        "rand_uniform", sz.InvalidArgument, "range of float8_e4m3fn", max=500, dtype="float8_e4m3fn"
    )
    refused("rand_uniform", sz.InvalidArgument, "max is -1", dtype=sz.uint8, max=-1)
    refused("rand_normal", sz.InvalidArgument, "std is -1", std=-1)
    refused("rand_normal", sz.InvalidArgument, "std is 1j; it must be real", std=1j, dtype="c64")


def test_weights_and_samples() -> None:
    for wrong in ([-1, 2], [math.nan, 1], [math.inf, 1]):
        refused("multinomial", sz.InvalidArgument, "not weights", input=np.array(wrong, float))
    refused("multinomial", sz.InvalidArgument, "all 0", input=np.array([[1.0, 0], [0, 0]]))
    refused("multinomial", sz.InvalidArgument, "all 0", input=np.ones(0))
    refused(
        "multinomial", sz.InvalidArgument, "2 positive weights", num_samples=3, replacement=False
    )
    refused("multinomial", sz.InvalidArgument, "one or two axes", input=np.ones((2, 2, 2)))
    refused("multinomial", sz.InvalidArgument, "one or two axes", input=np.float64(1))
    for wrong in (0, -1):
        refused("multinomial", sz.InvalidArgument, "num_samples is", num_samples=wrong)


@pytest.mark.parametrize("name", ["rand_bernoulli", "multinomial"])
@pytest.mark.parametrize("dtype", ["int32", "bool", "complex64", "char"])
def test_probabilities_are_floats(name: str, dtype: str) -> None:
    wrong = sz.zeros((2,), dtype)
    refused(name, sz.InvalidArgument, f"input is {dtype}; it takes floating", input=wrong)


def test_steps_that_lead_nowhere() -> None:
    for dtype in (sz.float32, sz.int16, sz.complex64):
        refused("range", sz.InvalidArgument, "does not lead from", step=0, dtype=dtype)
        refused("range", sz.InvalidArgument, "step -1", step=-1, dtype=dtype)
        refused("range", sz.InvalidArgument, "step 1", start=4, dtype=dtype)
    refused("range", sz.InvalidArgument, "it must be real", start=1j, dtype=sz.complex64)
    refused(
        "range",
        sz.InvalidArgument,
        "range of uint8 (0 to 255)",
        start=3,
        limit=1,
        step=-1,
        dtype="u8",
    )
    assert sz.range(1, 1, -5).tolist() == [1]
    assert sz.range(1 + 0j, 2, 1, sz.complex64).tolist() == [1, 2]


def test_counts() -> None:
    for wrong in (0, -1, None):
        refused("linspace", sz.InvalidArgument, "num is", num=wrong)
        refused("randperm", sz.InvalidArgument, "len is", len=wrong)
    refused("create_tensor", sz.InvalidArgument, "n_bytes is", n_bytes=-1)


def test_values_that_do_not_match() -> None:
    x = sz.tensor([[1, 2], [3, 4]], sz.int8)
    refused("create_tensor", sz.DimensionsMismatch, "(2, 2)", "(4,)", shape=(4,), values=x)
    refused("create_tensor", sz.DimensionsMismatch, "(1,)", shape=(2,), values=[1])
    refused("create_tensor", sz.TypeMismatch, "int8", "sz.cast", shape=(2, 2), values=x)
    refused("wrap_tensor", sz.InvalidArgument, "int8", shape=(2, 2), values=x)
    refused("wrap_tensor", sz.InvalidArgument, "(4,)", shape=(4,), values=sz.tensor([1.0, 2.0]))
    refused("diag", sz.InvalidArgument, "one axis", input=x)
    refused("diag", sz.InvalidArgument, "one axis", input=1.0)


MONSTER = 10**5000  # which Python refuses to print


@pytest.mark.parametrize("name", CREATION)
def test_numbers_that_cannot_be_printed(name: str) -> None:
    for argument in inspect.signature(REGISTRY[name].function).parameters:
        for monster in (MONSTER, -MONSTER, (MONSTER,), [-MONSTER]):
            text = f"{name} ("
            try:
                getattr(sz, name)(**arguments(name) | {argument: monster})
            except sz.StatusError as error:
                text = str(error)
            assert text.startswith(f"{name} ("), text
    refused("full", sz.InvalidArgument, "value is an int", value=MONSTER, dtype=sz.int8)
    refused("linspace", sz.AllocFailed, num=MONSTER)
    refused("zeros", sz.InvalidArgument, "shape is a tuple", shape=(MONSTER,))


def test_more_memory_that_is_not_there() -> None:
    refused("range", sz.AllocFailed, start=0, limit=2**63 - 1, dtype=sz.int64)
    refused("range", sz.AllocFailed, start=-1e308, limit=1e308, step=5e-324, dtype="f64")
    refused("range", sz.AllocFailed, start=0, limit=2**64 - 1, dtype=sz.uint64)
    refused("zeros", sz.AllocFailed, shape=(2**40, 2**10), layout=(0, 1))
    refused("full", sz.AllocFailed, shape=(2**62, 2**62, 2**62))
    for rows in (0, 1):
        for count in (2**63, 2**64, 10**400):
            weights = sz.full("float32", "cpu", (rows, 3), 1.0)
            refused("multinomial", sz.AllocFailed, input=weights, num_samples=count)
