"""Tensors that the namespace made: their symbols are its functions, under every rule set."""

from __future__ import annotations

import copy
import itertools
import operator
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core

xp = sz.array_api
RULES = ("cann", "torch", "strict", "array_api")
BINARY = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul,
    "divide": operator.truediv, "floor_divide": operator.floordiv, "remainder": operator.mod,
    "pow": operator.pow, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor, "bitwise_left_shift": operator.lshift,
    "bitwise_right_shift": operator.rshift, "matmul": operator.matmul, "equal": operator.eq,
    "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
UNARY = {"negative": operator.neg, "bitwise_invert": operator.invert, "abs": operator.abs}
DTYPES = [sz.bool, sz.int4, sz.int8, sz.uint8, sz.uint32, sz.int64, sz.uint64, sz.float8_e5m2,
          sz.bfloat16, sz.float16, sz.float32, sz.complex64]  # fmt: skip


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """Return the dtype and the elements of a result, or the class of an error."""
    try:
        made = function(*args)
    except (sz.StatusError, TypeError) as error:
        return type(error)
    assert made.is_array_api
    return made.dtype, str(made.tolist())


@pytest.mark.parametrize("rules", RULES)
def test_a_symbol_is_the_function_of_the_namespace(rules: str) -> None:
    def tensor(dt: sz.DType) -> Any:
        return xp.astype(xp.asarray([1, 0, 1]), dt)

    with sz.promotion(rules):
        for name, symbol in UNARY.items():
            for dt in DTYPES:
                assert outcome(symbol, tensor(dt)) == outcome(getattr(xp, name), tensor(dt))
        for (name, symbol), a, b in itertools.product(BINARY.items(), DTYPES, DTYPES):
            wanted = outcome(getattr(xp, name), tensor(a), tensor(b))
            assert outcome(symbol, tensor(a), tensor(b)) == wanted, (name, a, b)


def test_one_operand_is_enough() -> None:
    x, plain = xp.asarray([1, 2], dtype=xp.int8), sz.tensor([1, 2], sz.uint32)
    for both in ((x, plain), (plain, x), (x, 3), (3, x), (x, plain.numpy()), (plain.numpy(), x)):
        for symbol in (operator.add, operator.lshift, operator.eq):
            assert symbol(*both).is_array_api
    assert (plain + x).dtype is sz.int64


def test_in_place() -> None:
    x = xp.asarray([1, -2], dtype=xp.int8)
    view = x[1:]
    x **= 2
    x <<= xp.asarray([9, 1], dtype=xp.int8)
    assert (x.tolist(), view.tolist(), x.is_array_api) == ([0, 8], [8], True)
    plain = sz.tensor([1, 2], sz.int8)
    plain += xp.asarray([1, 1], dtype=xp.int8)
    assert (plain.tolist(), plain.is_array_api) == ([2, 3], False)
    with pytest.raises(sz.TypeMismatch, match="the result is int16"):
        x += xp.asarray([1, 1], dtype=xp.uint8)


KEPT = """
x[0] | x[...] | x[None, ::-1] | x[x > 1] | x[xp.asarray([0, 1])] | x.T | x.mT | x.real | x.imag
x.sum() | x.mean(axis=0) | x.var() | x.argmax() | x.cumsum(0) | x.argsort() | x.clip(0, 1) | x.abs()
x.reshape(-1) | x.flatten() | x.ravel() | x.squeeze() | x.transpose() | x.permute(1, 0) | x.exp()
x.astype(sz.int8) | x.to(sz.float64) | x.copy() | copy.copy(x) | copy.deepcopy(x) | x.reduce("MAX")
pickle.loads(pickle.dumps(x)) | next(iter(x)) | round(x) | divmod(x, 2)[1] | +x | np.exp(x)
np.add(1, x) | np.concatenate([x, x]) | np.nonzero(x)[0] | x.to_device("cpu") | x.conj() | x.round()
""".replace("\n", "|").split("|")


@pytest.mark.parametrize("how", [text.strip() for text in KEPT if text.strip()])
def test_what_is_made_of_a_tensor_is_of_its_kind(how: str) -> None:
    names = {"xp": xp, "sz": sz, "np": np, "copy": copy, "pickle": pickle}
    for x in (xp.asarray([[1.0, 2], [3, 4]]), sz.tensor([[1.0, 2], [3, 4]])):
        made = eval(how, names, {"x": x})
        assert made.is_array_api is x.is_array_api


PLAIN = """sz.add(x, x) | sz.tensor(x.numpy()) | sz.cast(x, sz.int8) | sz.concat([x, x], 0)
sz.duplicate(x) | sz.reduce(x, "SUM") | sz.matmul(x, x) | sz.transpose(x, (1, 0))"""


@pytest.mark.parametrize("how", [one.strip() for one in PLAIN.replace("\n", "|").split("|")])
def test_functions_of_suanzi_make_plain_tensors(how: str) -> None:
    assert not eval(how, {"sz": sz, "x": xp.ones((2, 2))}).is_array_api


def test_functions_of_the_namespace_leave_their_arguments_as_they_are() -> None:
    plain, grid = sz.tensor([1.0, 2]), sz.tensor([[1.0]])
    for made in (
        xp.asarray(plain), xp.real(plain), xp.conj(plain), xp.reshape(plain, (2,)),
        xp.broadcast_arrays(plain, plain)[0], xp.squeeze(grid, 0), xp.astype(plain, plain.dtype,
        copy=False), xp.broadcast_to(plain, (2,)),
    ):  # fmt: skip
        assert made.is_array_api
        assert made.storage in (plain.storage, grid.storage)
    assert not plain.is_array_api
    assert not grid.is_array_api
    x = xp.asarray(plain)
    assert xp.asarray(x) is x
    x[0] = 5
    assert plain.tolist() == [5, 2]


def test_results_in_tuples_and_lists() -> None:
    x = sz.tensor([[2.0, 1], [1, 2]])
    for several in (
        xp.linalg.eigh(x), xp.linalg.svd(x), xp.linalg.slogdet(x), xp.unique_all(x), xp.unstack(x),
        xp.nonzero(x), xp.meshgrid(x[0], x[1]), xp.broadcast_arrays(x, x[0]),
    ):  # fmt: skip
        assert several
        assert all(one.is_array_api for one in several)
    assert xp.linalg.eigh(x).eigenvalues.is_array_api


def test_functions_are_found_by_name_when_pickled() -> None:
    for function in (xp.sum, xp.add, xp.linalg.svd, xp.fft.fft, xp.asarray):
        assert pickle.loads(pickle.dumps(function)) is function


# ---- other tensors -------------------------------------------------------------------------------


def test_sparse_tensors() -> None:
    dense = sz.tensor([[0, 5, 0], [0, 0, -7]], sz.int8)
    x = sz.to_sparse(dense)
    for name in ("abs", "negative", "sign", "square", "sin", "expm1", "floor"):
        made = getattr(xp, name)(x)
        wanted = getattr(xp, name)(dense)
        assert isinstance(made, sz.SparseTensor)
        assert (made.dtype, made.to_dense().tolist()) == (wanted.dtype, wanted.tolist()), name
    other = sz.to_sparse(sz.tensor([[0, 1, 2], [0, 0, 3]], sz.uint8))
    both = xp.add(x, other)
    assert (both.dtype, both.to_dense().tolist()) == (sz.int16, [[0, 6, 2], [0, 0, -4]])
    assert isinstance(xp.multiply(x, xp.ones((2, 3), dtype=xp.int8)), sz.SparseTensor)
    assert xp.multiply(xp.ones((2, 3)), x).dtype is sz.float32
    assert xp.sum(x, axis=1).to_dense().tolist() == [5, -7]
    assert xp.permute_dims(x, (1, 0)).shape == (3, 2)
    with pytest.raises(sz.TypeMismatch, match="sort|argsort"):
        xp.sort(x)
    with pytest.raises(sz.TypeMismatch, match="fft: not implemented for SparseTensor"):
        xp.fft.fft(x)


@pytest.mark.parametrize("name", ["add", "mul", "truediv", "matmul", "eq", "lt", "pow"])
def test_symbols_between_sparse_tensors_and_the_namespace(name: str) -> None:
    """As between a plain tensor and one of the namespace, in both orders."""
    symbol = getattr(operator, name)
    dense = sz.tensor([[1, 0], [2, 3]], sz.uint8)
    x, y = sz.to_sparse(dense), xp.asarray([[1, 2], [3, 4]], dtype=xp.int8)
    for made, wanted in ((symbol(x, y), symbol(dense, y)), (symbol(y, x), symbol(y, dense))):
        assert made.dtype is wanted.dtype
        values = made.to_dense() if isinstance(made, sz.SparseTensor) else made
        assert np.array_equal(values.numpy(), wanted.numpy(), equal_nan=True)
        assert values is not made or made.is_array_api
    assert xp.matmul(x, y).is_array_api


@pytest.mark.parametrize("name", ["asarray", "concat", "zeros", "sum"])
def test_a_list_that_contains_itself(name: str) -> None:
    endless: list[object] = []
    endless += [endless, endless]
    with pytest.raises(sz.StatusError):
        getattr(xp, name)(endless)


def test_tensors_of_blocks() -> None:
    pytest.importorskip("dask")
    dense = sz.tensor([[1, -2, 3], [4, 5, -6], [0, 8, 9]], sz.int8)
    x = dense.to_device("cluster").reblock(2)
    for call in (
        lambda x: xp.pow(x, 2), lambda x: xp.bitwise_left_shift(x, 9), lambda x: xp.exp(x),
        lambda x: xp.add(x, 1.5), lambda x: xp.where(x < 0, 0, x),
        lambda x: xp.signbit(xp.astype(x, xp.float32)), lambda x: xp.sum(x, axis=0),
        lambda x: xp.mean(x), lambda x: xp.max(x, axis=-1), lambda x: xp.argmax(x),
        lambda x: xp.cumulative_sum(x, axis=1), lambda x: xp.sort(x), lambda x: xp.argsort(x),
        lambda x: xp.permute_dims(x, (1, 0)), lambda x: xp.concat([x, x], axis=-1),
        lambda x: xp.stack([x, x]), lambda x: xp.matmul(x, x), lambda x: xp.any(x, axis=0),
        lambda x: xp.count_nonzero(x), lambda x: xp.clip(x, 0, 3), lambda x: xp.var(x),
        lambda x: xp.expand_dims(x, axis=-1), lambda x: xp.reshape(x, (-1,)),
    ):  # fmt: skip
        made, wanted = call(x), call(dense)
        assert type(made) is type(x)
        found = made.to_host()
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        assert np.allclose(found.numpy(), wanted.numpy(), rtol=1e-6)
        assert not found.is_array_api


# ---- memory --------------------------------------------------------------------------------------


def most_bytes(call: Callable[[], Any]) -> int:
    """Return the bytes that a call took, its result included: the pool keeps what it gave back."""
    bound = _core.pool_info()["bound"]
    _core.bound_pool(1 << 30)
    try:
        _core.trim_pool()
        before = _core.pool_info()["in_use"]
        made = call()
        info = _core.pool_info()
        del made
        return info["in_use"] - before + info["cached"]
    finally:
        _core.bound_pool(bound)


COUNT = 1 << 22
NARROW = [sz.bool, sz.int8, sz.uint8, sz.int16]


@pytest.mark.parametrize("dt", NARROW)
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "any", "all"])
def test_reductions_of_narrow_integers_convert_nothing_as_a_whole(name: str, dt: sz.DType) -> None:
    flat = sz.zeros((COUNT,), dt)
    for x in (flat, flat.reshape(2048, -1), flat.reshape(2048, -1).T, flat[::2]):
        for axis in (None, 0):
            function = getattr(xp, name)
            # What is transposed, and bool, may be copied once.
            assert most_bytes(lambda: function(x, axis=axis)) < 2 * x.nbytes + (6 << 20)  # noqa: B023


@pytest.mark.parametrize("dt", NARROW)
def test_other_functions_of_narrow_integers(dt: sz.DType) -> None:
    x = sz.zeros((2048, COUNT // 2048), dt)
    assert most_bytes(lambda: xp.var(x, axis=1)) < 8 << 20
    assert most_bytes(lambda: x.sum()) < 1 << 20
    for function in (xp.cumulative_sum, xp.cumulative_prod):
        assert most_bytes(lambda: function(x, axis=1)) < (8 * COUNT) + (1 << 20)  # noqa: B023


def test_sums_in_64_bits_are_exact() -> None:
    rng = np.random.default_rng(5)
    for dt in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.bool_):
        top = 1 if dt is np.bool_ else np.iinfo(dt).max
        low = 0 if dt is np.bool_ else np.iinfo(dt).min
        x = rng.integers(low, top, (37, 1 << 14), dtype=np.int64, endpoint=True).astype(dt)
        for view in (x, x.T, x[::-2, ::3], x[:1, :1]):
            given = sz.tensor(view)
            for axis in (None, 0, 1):
                assert np.array_equal(xp.sum(given, axis=axis).numpy(), view.sum(axis=axis)), dt
                wrapped = xp.sum(given, axis=axis, dtype=sz.int16).numpy()
                assert np.array_equal(wrapped, view.sum(axis=axis, dtype=np.int16))
                assert np.array_equal(xp.prod(given, axis=axis).numpy(), view.prod(axis=axis))


def test_parts_make_the_same_bits() -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(-128, 127, (3, 1 << 18), dtype=np.int8)
    for view in (x, x.T):
        for axis in (0, 1):
            whole = [xp.var(sz.tensor(np.take(view, i, 1 - axis))).item() for i in range(3)]
            assert xp.var(sz.tensor(view), axis=axis).tolist()[:3] == whole
        assert xp.prod(sz.tensor(view | 1)).item() == int((view | 1).prod(dtype=np.int64))


@pytest.mark.parametrize("dt", [sz.int8, sz.bool, sz.float16, sz.bfloat16, sz.uint32])
def test_cumulative_functions_write_over_their_own_copy(dt: sz.DType) -> None:
    x = xp.astype(xp.reshape(xp.arange(3 * 70_000) % 3, (3, 70_000)), dt)
    before = x.tolist()
    for function, axis in itertools.product((xp.cumulative_sum, xp.cumulative_prod), (0, 1)):
        for view in (x, x.T):
            target = sz.float64 if dt.exponent_bits else sz.int64
            wide = xp.astype(view, target)
            assert function(view, axis=axis, dtype=target).tolist() == (
                function(wide, axis=axis).tolist()
            )
    assert x.tolist() == before
