"""Random operators, dtypes, shapes, views and nonsense: an answer or a status, never anything else.

What an operator computes is compared with NumPy where NumPy has the same operator and dtype, and
always with what it computes from row-major copies of its operands.
"""

from __future__ import annotations

import inspect
import math
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from fuzzing.judging import LAPACK, MADE_OF_VALUES, PRODUCTS, RANDOM, bits
from fuzzing.making import OPERATORS
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.promote.registry import REGISTRY
from suanzi.promote.registry import function as operator_of

RULES = sorted(sz.rule_sets())
# NumPy's functions of the same meaning, for operands of one dtype that NumPy computes in itself.
SAME: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in """add mod abs equal not_equal greater greater_equal less less_equal logical_and
    logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor sign where
    floor ceil trunc round sqrt square""".split()
} | {
    "sub": np.subtract, "mul": np.multiply, "floordiv": np.floor_divide, "max": np.maximum,
    "min": np.minimum, "bitwise_not": np.invert,
}  # fmt: skip
COMPARED = {sz.bool, sz.int8, sz.int16, sz.int32, sz.int64, sz.uint8, sz.uint16, sz.uint32}
COMPARED |= {sz.uint64, sz.float32, sz.float64}

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)
# Pairs of these go together often enough.
common = st.sampled_from(
    [(), (1,), (3,), (2, 3), (1, 3), (2, 1), (4, 1, 3), (2, 2, 3), (0, 3), (2, 0)]
)


@st.composite
def tensors(draw: st.DrawFn, dtypes: Any = None) -> sz.Tensor:
    """A tensor of random bits, or small numbers, seen in a random way."""
    dt = draw(st.sampled_from(dtypes or DTYPES))
    shape = draw(st.one_of(common, shapes))
    ndim = len(shape)
    kind = draw(st.sampled_from(["dense", "turned", "gaps", "reversed", "repeated", "mixed"]))
    steps, order = [1] * ndim, list(range(ndim))
    if kind in ("turned", "mixed"):
        order = draw(st.permutations(order))
    for axis in range(ndim):
        choices = {"gaps": [1, 2, 3], "reversed": [1, -1], "repeated": [0, 1]}
        steps[axis] = draw(
            st.sampled_from(choices.get(kind, [-2, -1, 0, 1, 2] if kind == "mixed" else [1]))
        )
    strides, stride = [0] * ndim, 1
    for axis in reversed(order):
        strides[axis] = stride * steps[axis]
        stride *= max(shape[axis], 1) * max(abs(steps[axis]), 1)
    low = sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if s < 0 and n > 0)
    extra = draw(st.integers(0, 3))
    base: sz.Tensor = _core.empty((stride + extra,), dt)
    fill(base, draw(st.integers(0, 2**32 - 1)), draw(st.booleans()))
    offset = -low + draw(st.integers(0, extra))
    made: sz.Tensor = _core.view(base, offset, shape, strides)
    return made


def fill(x: sz.Tensor, seed: int, small: bool) -> None:
    rng = np.random.default_rng(seed)
    dt = x.dtype
    if small and dt.kind not in ("char", "quantized"):
        values = rng.integers(0, 2 if dt.kind == "bool" or dt.bits == 1 else 5, x.size)
        _core.copy_into(x, sz.tensor(values))
        return
    raw = rng.integers(0, 256, x.storage.nbytes, np.uint8)
    if dt.kind == "bool" or dt.bits < 8:
        raw %= 2
    x.storage.memory[:] = raw.tobytes()


numbers = st.one_of(
    st.booleans(),
    st.integers(-3, 5),
    st.integers(),
    st.sampled_from([2**63, 2**64, -(2**63) - 1, 10**400]),
    st.floats(),
    st.complex_numbers(),
)
nonsense = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.binary(max_size=3),
    st.lists(st.integers(-2, 4), max_size=3),
    st.sampled_from(DTYPES),
    st.sampled_from(
        [object, object(), {}, ..., NotImplemented, range(3), np.float32, sz.Status.SUCCESS]
    ),
    st.sampled_from(
        [
            np.float64(1.5),
            np.array([1, None]),
            np.array("text"),
            np.zeros(3, ">i2"),
            np.array(7),
            np.bool_(True),
        ]
    ),
)
arguments = st.one_of(tensors(), tensors(), tensors(), numbers, nonsense)


def dense(x: Any) -> Any:
    return _core.row_major_copy(x) if isinstance(x, sz.Tensor) else x


def outcome(function: Callable[..., Any], given_: list[Any]) -> tuple[str, Any]:
    try:
        return "gives", function(*given_)
    except sz.InternalError:
        raise
    except sz.StatusError as error:
        return "raises", type(error) if str(error) else None


# What these return is, or may be, a view.
SHARE_MEMORY = """wrap_tensor contiguous reshape expand_dims squeeze transpose split unstack slice
    reverse crop expand flatten flip meshgrid conj real imag""".split()


@pytest.mark.parametrize("name", OPERATORS)
@settings(max_examples=25 if "SUANZI_EXPLORE" in os.environ else 8)
@given(data=st.data())
def test_an_answer_or_a_status(name: str, data: st.DataObject) -> None:
    function = operator_of(name)
    parameters = inspect.signature(REGISTRY[name].function).parameters.values()
    positional = [p for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    required = sum(p.default is inspect.Parameter.empty for p in positional)
    count = data.draw(st.integers(required, len(positional)))
    values = [data.draw(arguments) for _ in range(count)]
    rules = data.draw(st.sampled_from(RULES))
    with sz.promotion(rules):
        how, found = outcome(function, values)
        again, same = outcome(function, [dense(x) for x in values])
    assert how == again
    if how == "raises":
        assert found is same
        return
    if isinstance(found, sz.SparseTensor):
        found, same = found.to_dense(), same.to_dense()
    if not isinstance(found, sz.Tensor | list | tuple):  # allclose, size, rank
        assert type(found) in (bool, int)
        assert found == same or name == "is_contiguous"
        return
    several = isinstance(found, list | tuple)
    pairs = zip(found, same, strict=True) if several else [(found, same)]
    for one, other in pairs:
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        if name in RANDOM or name in MADE_OF_VALUES or name in LAPACK:
            continue
        if name not in PRODUCTS or one.dtype.kind not in ("float", "complex"):
            assert bits(one) == bits(other)
        if name in SHARE_MEMORY:
            continue
        assert one.storage.data % 64 == 0
        assert all(one.storage != x.storage for x in values if isinstance(x, sz.Tensor))


@pytest.mark.parametrize("name", sorted(SAME))
@settings(max_examples=16)
@given(data=st.data())
def test_the_same_as_numpy(name: str, data: st.DataObject) -> None:
    op = REGISTRY[name]
    allowed = [d for d in op.dtypes if d in COMPARED]
    if name == "where":
        allowed = [d for d in allowed if d is not sz.bool]
    dt = data.draw(st.sampled_from(allowed))
    count = len(inspect.signature(op.function).parameters)
    values = [data.draw(tensors([dt])) for _ in range(count)]
    if name == "where":
        values[0] = data.draw(tensors([sz.bool]))
    arrays = [x.numpy() for x in values]
    try:
        shape = np.broadcast_shapes(*(x.shape for x in values))
    except ValueError:
        with pytest.raises((sz.DimensionsMismatch, sz.InvalidArgument)):
            operator_of(name)(*values)
        return
    divides = name in ("floordiv", "mod")
    if divides and dt.kind != "float" and (np.broadcast_to(arrays[1], shape) == 0).any():
        with pytest.raises(sz.DivisionByZero):
            operator_of(name)(*values)
        return
    found = operator_of(name)(*values)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        expected = np.asarray(SAME[name](*arrays))
    assert found.shape == expected.shape == shape
    assert found.dtype is sz.dtype(expected.dtype)
    if divides and dt.kind == "float":
        # NumPy's floor is off where a quotient rounds up to a whole number, or is infinite.
        with np.errstate(all="ignore"):
            x, y = (np.broadcast_to(a, shape).astype(np.float64) for a in arrays)
            plain = np.isfinite(x) & np.isfinite(y) & (y != 0) & (np.abs(x / y) < 2**20)
        np.testing.assert_allclose(
            found.numpy()[plain], expected[plain], rtol=1e-5, atol=np.finfo(dt.name).tiny
        )
        return
    np.testing.assert_array_equal(found.numpy(), expected)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_wrong_number_of_arguments(name: str) -> None:
    function, x = operator_of(name), sz.tensor([1.0])
    for values in ([], [x] * 30):
        if name == "full" and not values:
            continue
        with pytest.raises(TypeError):
            function(*values)
    with pytest.raises(TypeError):
        function(x, nonsense=x)


@given(
    operation=st.sampled_from(
        "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge".split()
    ),
    x=tensors(),
    other=arguments,
    swapped=st.booleans(),
)
def test_symbols(operation: str, x: sz.Tensor, other: Any, swapped: bool) -> None:
    import operator

    function = getattr(operator, operation)
    try:
        found = function(other, x) if swapped else function(x, other)
    except (sz.StatusError, TypeError):
        return
    # Text times an integer is Python's own: a 0-d tensor of integers can be an index.
    repeated = operation == "mul" and isinstance(other, str | bytes | list)
    assert isinstance(found, sz.Tensor) or operation in ("eq", "ne") or repeated


@given(x=tensors(), dt=st.sampled_from(DTYPES), saturate=st.booleans())
def test_casts_of_views(x: sz.Tensor, dt: sz.DType, saturate: bool) -> None:
    how, found = outcome(lambda v: sz.cast(v, dt, saturate=saturate), [x])
    again, same = outcome(lambda v: sz.cast(v, dt, saturate=saturate), [dense(x)])
    assert how == again
    if how == "gives":
        assert (found.shape, found.dtype) == (x.shape, dt)
        assert bits(found) == bits(same)


@given(x=tensors(), y=tensors())
def test_copying_into_views(x: sz.Tensor, y: sz.Tensor) -> None:
    if 0 in x.strides or "quantized" in (x.dtype.kind, y.dtype.kind):
        return
    try:
        _core.copy_into(x, y)
    except ValueError:
        assert y.ndim > x.ndim or any(
            n not in (1, m) for n, m in zip(y.shape[::-1], x.shape[::-1], strict=False)
        )
        return
    whole = _core.empty(x.shape, y.dtype)
    _core.copy_into(whole, y)
    assert bits(x) == bits(_core.cast(whole, x.dtype, False))


@given(x=tensors())
def test_views_print_save_and_count(x: sz.Tensor) -> None:
    import pickle

    assert repr(x).endswith(f"dtype={x.dtype})")
    assert bits(pickle.loads(pickle.dumps(x))) == bits(x)
    assert math.prod(x.shape) == x.size
    assert np.shape(x.tolist()) == x.shape or x.size == 0


@pytest.mark.parametrize("level", _core.levels())
@settings(max_examples=100)
@given(data=st.data())
def test_levels_agree(level: str, data: st.DataObject) -> None:
    """Exactly rounded operators give the same bits on every instruction set."""
    exact = [n for n, op in REGISTRY.items() if op.kernel and op.ulp in (None, 0.5)]
    name = data.draw(st.sampled_from(sorted(exact)))
    count = len(inspect.signature(REGISTRY[name].function).parameters)
    dt = data.draw(st.sampled_from(REGISTRY[name].dtypes))
    values = [data.draw(tensors([dt])) for _ in range(count)]
    best = _core.level()
    how, expected = outcome(operator_of(name), values)
    try:
        _core.use_level(level)
        again, found = outcome(operator_of(name), values)
    finally:
        _core.use_level(best)
    assert how == again
    if how == "gives":
        assert bits(found) == bits(expected)
