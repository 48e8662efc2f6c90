"""What was built apart, used together: sparse, quantised and other layouts in every operator."""

from __future__ import annotations

import copy
import gc
import inspect
import io
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.every_operator import REGISTRY, function
from suanzi import _core

REAL = [[0.0, 5.0, -2.0], [7.0, 0.0, 1.0]]


def sparse() -> sz.SparseTensor:
    return sz.to_sparse(sz.tensor(REAL))


class Elsewhere:
    """A tensor on a device, which computes or does not."""

    def __init__(self, hidden: sz.Tensor | None = None, *, computes: bool = False) -> None:
        self.hidden = sz.tensor(REAL) if hidden is None else hidden
        self.device, self.computes = sz.Device("npu"), computes
        self.dtype, self.shape = self.hidden.dtype, self.hidden.shape

    def to_host(self) -> sz.Tensor:
        return sz.duplicate(self.hidden)

    def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
        if not self.computes:
            return NotImplemented
        return getattr(sz, name)(*map(_hidden, args), **{k: _hidden(x) for k, x in kwargs.items()})


def _hidden(x: Any) -> Any:
    if isinstance(x, list):
        return [_hidden(one) for one in x]
    return x.hidden if isinstance(x, Elsewhere) else x


# ---- what is no dense tensor on the host ---------------------------------------------------------

INTO_DENSE: dict[str, Callable[[Any], Any]] = {
    "tensor": sz.tensor,
    "tensor of a list": lambda x: sz.tensor([x, x]),
    "key": lambda x: sz.zeros((2, 3))[x],
    "keys": lambda x: sz.zeros((2, 3))[0, x],
    "value": lambda x: sz.zeros((2, 3)).__setitem__(0, x),
    "value and key": lambda x: sz.zeros((2, 3)).__setitem__(x, x),
    "quantize": lambda x: sz.quantize(x, sz.QT_SYM_INT8),
    "dequantize": sz.dequantize,
}


@pytest.mark.parametrize("way", INTO_DENSE)
def test_what_takes_dense_tensors_alone_says_how_to_make_one(way: str) -> None:
    with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)\.$"):
        INTO_DENSE[way](sparse())
    with pytest.raises(sz.TypeMismatch, match=r"to_host\(\)\.$"):
        INTO_DENSE[way](Elsewhere())


# ---- sparse tensors in every operator ------------------------------------------------------------

MASK = [[True, False, True], [False, True, True]]

CALLS: dict[str, Callable[[Any], Any]] = {
    "cast": lambda x: sz.cast(x, sz.float64),
    "reshape": lambda x: sz.reshape(x, (3, 2)),
    "expand_dims": lambda x: sz.expand_dims(x, 1),
    "squeeze": sz.squeeze,
    "transpose": lambda x: sz.transpose(x, (1, 0)),
    "split": lambda x: sz.split(x, [1, 2], axis=1),
    "concat": lambda x: sz.concat([x, x], 0),
    "stack": lambda x: sz.stack([x, x], 1),
    "unstack": lambda x: sz.unstack(x, 1),
    "slice": lambda x: sz.slice(x, (0, 1), (2, 2), (1, 1)),
    "tile": lambda x: sz.tile(x, (2, 2)),
    "pad": lambda x: sz.pad(x, (1, 0, 0, 0)),
    "reverse": lambda x: sz.reverse(x, (0, 1)),
    "roll": lambda x: sz.roll(x, (1, 1), (0, 1)),
    "crop": lambda x: sz.crop(x, (1, 2), (1, 1)),
    "clip": lambda x: sz.clip(x, -1, 3),
    "gather": lambda x: sz.gather(x, sz.tensor([1, 0])),
    "expand": lambda x: sz.expand(x, (2, 2, 3)),
    "flatten": lambda x: sz.flatten(x, 0, 1),
    "flip": lambda x: sz.flip(x, 1),
    "sign": sz.sign,
    "where": lambda x: sz.where(sz.tensor(MASK), x, x),
    "masked_select": lambda x: sz.masked_select(x, sz.tensor(MASK)),
    "contiguous": sz.contiguous,
    "duplicate": sz.duplicate,
    "shape": sz.shape,
    "size": sz.size,
    "rank": sz.rank,
    "is_finite": sz.is_finite,
    "is_inf": sz.is_inf,
    "is_nan": sz.is_nan,
}
"""Calls with a tensor of two axes, (2, 3), of which quantised and sparse ones are made, too."""


def attempt(call: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a call returns, or its status."""
    try:
        return call(*arguments)
    except sz.StatusError as error:
        return error


def dense(result: Any) -> Any:
    """Return a result, or a list of them, as plain Python values."""
    if isinstance(result, list):
        return [dense(one) for one in result]
    if isinstance(result, sz.SparseTensor):
        return result.to_dense().tolist()
    return result.tolist() if isinstance(result, sz.Tensor) else result


@pytest.mark.parametrize("layout", ["coo", "csr"])
@pytest.mark.parametrize("name", CALLS)
def test_a_sparse_tensor_gives_what_the_dense_one_does_or_says_to_dense(
    name: str, layout: str
) -> None:
    x = sz.to_sparse(sz.tensor(REAL), layout)
    found = attempt(CALLS[name], x)
    if isinstance(found, sz.StatusError):
        assert isinstance(found, sz.TypeMismatch)
        assert re.search(r"^\w+ \([\d.]+\): .* to_dense\(\)\.$", str(found))
    else:
        assert dense(found) == dense(CALLS[name](x.to_dense()))


def test_a_sparse_tensor_in_any_argument_of_any_operator_is_a_status() -> None:
    gc.collect()  # errors that were caught may be in cycles
    before = _core.pool_info()["storages"]
    for name, op in REGISTRY.items():
        given = inspect.signature(op.function).parameters.values()
        required = [p for p in given if p.default is p.empty]
        for at in range(max(len(required), 1)):
            arguments: list[Any] = [sz.tensor(REAL) for _ in required] or [None]
            arguments[at] = sparse()
            found = attempt(function(name), *arguments)
            assert not isinstance(found, sz.StatusError) or str(found).endswith("."), (name, at)
    del arguments, found
    gc.collect()
    assert _core.pool_info()["storages"] <= before


def test_a_sparse_tensor_does_not_become_quantised_nor_text() -> None:
    for dtype in (sz.QT_SYM_INT8, sz.QT_ASYM_UINT8, sz.QT_CH_SYM_INT8, sz.char):
        with pytest.raises(sz.TypeMismatch, match=r"^cast \(7.2.3.1\): "):
            sz.cast(sparse(), dtype)


def test_a_sparse_tensor_has_no_order_of_axes_to_choose() -> None:
    with pytest.raises(sz.TypeMismatch, match=r"^cast \(7.2.3.1\): layout is \(0, 1\), an order"):
        sz.cast(sparse(), sz.int8, layout=(0, 1))


def test_methods_are_the_same_for_dense_and_sparse_tensors() -> None:
    x, y = sz.tensor(REAL), sparse()
    assert dense(y.T) == dense(x.T)
    for dims in ((3, 2), (3, -1), ((-1, 2),), (6,), (-1,)):
        assert dense(y.reshape(*dims)) == dense(x.reshape(*dims))
    for wrong in ((4, -1), (-1, -1), ("a",), (2.0, 3)):
        with pytest.raises(sz.StatusError) as of_dense:
            x.reshape(*wrong)
        with pytest.raises(type(of_dense.value), match=r"^reshape \(7.2.3.2\): "):
            y.reshape(*wrong)
    with pytest.raises(sz.TypeMismatch, match=r"^x\[key\]: .* to_dense\(\)"):
        y[0]
    with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)"):
        list(y)


# ---- quantised tensors ---------------------------------------------------------------------------


def per_tensor() -> sz.Tensor:
    values = [[3, 8, 1], [10, 3, 4]]
    return sz.create_quant_tensor((2, 3), 0.25, sz.QT_ASYM_UINT8, values=values, zero_point=3)


def per_channel() -> sz.Tensor:
    values = [[0, 5, -2], [7, 0, 1]]
    return sz.create_quant_tensor((2, 3), [0.25, 0.5, 1], sz.QT_CH_SYM_INT8, values=values)


@pytest.mark.parametrize("make", [per_tensor, per_channel])
@pytest.mark.parametrize("name", CALLS)
def test_a_quantised_tensor_gives_what_its_real_numbers_do_or_says_dequantize(
    name: str, make: Callable[[], sz.Tensor]
) -> None:
    for x in (make(), sz.cast(make(), make().dtype, layout=(0, 1)), make().T.T, make()[:, ::-1]):
        found = attempt(CALLS[name], x)
        if isinstance(found, sz.StatusError):
            assert isinstance(found, sz.InvalidArgument)
            assert x.channel_axis is not None
            text = r"^\w+ \([\d.]+\): .*sz\.dequantize\(input\)( instead)?\.$"
            assert re.search(text, str(found))
        else:
            assert dense(found) == dense(CALLS[name](sz.dequantize(x)))


@pytest.mark.parametrize("value", [0.4, -0.4, 0.125, 1e9, -1e9, 0, True])
def test_padding_and_assignment_store_a_number_alike(value: float) -> None:
    x = per_tensor()
    padded = sz.pad(x, (1, 0, 0, 0), value)
    x[0] = value
    assert padded[0].int_repr().tolist() == x[0].int_repr().tolist()
    assert x[0].int_repr().tolist() == sz.quantize(
        sz.tensor([float(value)] * 3), x.dtype, scale=x.scale, zero_point=x.zero_point
    ).int_repr().tolist()  # fmt: skip


KEYS: list[Any] = [0, (slice(None), 1), ([1, 0], [2, 0]), (slice(None), [0, 2]), ..., slice(1)]


@pytest.mark.parametrize("make", [per_tensor, per_channel])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_what_is_written_is_the_nearest_there_is_and_the_rest_stays(
    key: Any, make: Callable[[], sz.Tensor]
) -> None:
    x = make()
    before, expected = x.int_repr().numpy().copy(), sz.dequantize(make()).numpy()
    x[key] = 1
    expected[key] = 1
    assert x.tolist() == expected.tolist()
    untouched = expected != 1
    assert (x.int_repr().numpy() == before)[untouched].all()


CHANNELS: list[Any] = [[0, 2], [2, 2, 0, 1], [-1], [True, False, True]]


@pytest.mark.parametrize("picked", CHANNELS, ids=str)
def test_channels_are_picked_with_their_scales(picked: Any) -> None:
    x = per_channel()
    for y, key, axis in (
        (x, np.s_[:, picked], 1),
        (x.T, picked, 0),
        (x[None], np.s_[..., picked], 2),
    ):
        found = y[key]
        assert (found.dtype, found.channel_axis) == (x.dtype, axis)
        assert found.tolist() == sz.dequantize(y).numpy()[key].tolist()
    if picked[0] is not True and min(picked) >= 0:
        assert dense(sz.gather(x.T, sz.tensor(picked))) == dense(x.T[picked])
    with pytest.raises(sz.InvalidArgument, match="different channels"):
        x[[0], [1]]


@pytest.mark.parametrize("value", [1j, [1j, 2, 3], np.array([1j, 2, 3]), sz.tensor(1j)], ids=str)
def test_a_complex_number_is_not_written_to_real_tensors(value: Any) -> None:
    for x in (per_tensor(), per_channel(), sz.zeros((2, 3)), sz.zeros((2, 3), sz.int8)):
        before = x.tolist()
        for key in (0, [0], (slice(None), [0, 1, 2])):
            with pytest.raises(sz.TypeMismatch, match=r"^x\[key\] = value: the value is complex"):
                x[key] = value
        assert x.tolist() == before


@pytest.mark.parametrize("values", [[1, 2j], (1j, 2), np.array([1j, 2]), sz.tensor([1j, 2])])
@pytest.mark.parametrize("dtype", [sz.float32, sz.int8, sz.bool])
def test_new_tensors_do_not_lose_imaginary_parts(values: Any, dtype: sz.DType) -> None:
    makers: list[Callable[..., Any]] = [
        lambda dtype: sz.create_tensor((2,), values, dtype),
        lambda dtype: sz.create_sparse_tensor((2,), [[0], [1]], values, dtype).to_dense(),
    ]
    for make in makers:
        with pytest.raises((sz.TypeMismatch, sz.InvalidArgument), match=f"complex.* {dtype}"):
            make(dtype)
    assert makers[1](sz.complex64).tolist()[1] in (2j, 2)


def test_integers_without_a_scale_are_copied_and_never_read() -> None:
    x, scaled = sz.tensor([1, 2], sz.QT_SYM_INT8), sz.quantize(sz.tensor([1, 2]), sz.QT_SYM_INT8)
    x[0] = x[1]
    assert sz.flip(x, 0).tolist() == [2, 2]
    for target, value in ((x, 1), (x, scaled[0]), (scaled, x[0]), (sz.zeros((2,)), x[0])):
        with pytest.raises(sz.InvalidArgument, match=r"^x\[key\] = value: .* without a scale"):
            target[0] = value
    with pytest.raises(sz.InvalidArgument, match=r"^pad \(7.2.3.12\): .* without a scale"):
        sz.pad(x, (1, 1))


def test_hints_name_what_can_be_done() -> None:
    for make in (sz.create_tensor, lambda *a: sz.wrap_tensor(a[0], values=a[1])):
        with pytest.raises(sz.StatusError) as error:
            make((2, 3), per_tensor())
        assert "dtype=sz.QT" not in str(error.value)
    with pytest.raises(sz.InvalidArgument, match=r"gradients are real .* sz.dequantize\(input\)"):
        sz.slice_backward(per_tensor(), per_tensor(), (0, 0), (2, 3), (1, 1))


# ---- memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [sz.float32, sz.complex64, sz.int4, sz.bfloat16])
def test_a_printed_tensor_is_freed_at_once(dtype: sz.DType) -> None:
    gc.collect()
    gc.disable()
    try:
        before = _core.pool_info()["storages"]
        for shape in ((), (3,), (2, 3), (2, 2, 2), (50, 50), (0, 2)):
            x = sz.zeros(shape, dtype)
            assert repr(x).startswith("Tensor(")
            assert f"{x}" == repr(x)
            del x
        x = per_channel()
        repr(x)
        del x
        sparse_one = sparse()
        repr(sparse_one)
        del sparse_one
        assert _core.pool_info()["storages"] <= before
    finally:
        gc.enable()


# ---- devices -------------------------------------------------------------------------------------

MIXED = ("gather", "where", "masked_select")  # with an index, or a mask, that is on the host


@pytest.mark.parametrize("make", [lambda: sz.tensor(REAL), per_tensor, per_channel])
@pytest.mark.parametrize("name", sorted(set(CALLS) - set(MIXED)))
def test_every_operator_reaches_the_device(name: str, make: Callable[[], sz.Tensor]) -> None:
    found = attempt(CALLS[name], Elsewhere(make(), computes=True))
    expected = attempt(CALLS[name], make())
    if isinstance(expected, sz.StatusError):
        assert (type(found), str(found)) == (type(expected), str(expected))
    else:
        assert dense(found) == dense(expected)
    refusal = attempt(CALLS[name], Elsewhere())
    assert isinstance(refusal, sz.TypeMismatch)
    assert str(refusal) == f"{REGISTRY[name].title}: not supported for Elsewhere."


@pytest.mark.parametrize("name", MIXED)
def test_nothing_is_moved_unasked(name: str) -> None:
    refusal = attempt(CALLS[name], Elsewhere(computes=True))
    assert isinstance(refusal, sz.InvalidArgument)
    assert "they must be on one device" in str(refusal)


def test_a_wrong_device_beside_a_tensor_on_one_is_named() -> None:
    with pytest.raises(sz.InvalidArgument, match=r"^create_tensor \(7.2.1.1\): Device: 'abacus'"):
        sz.create_tensor((2, 3), Elsewhere(), device="abacus")
    with pytest.raises(TypeError, match=r"^create_tensor \(7.2.1.1\): "):
        sz.create_tensor((2, 3), Elsewhere(), nonsense=1)


# ---- destroyed, saved, pickled -------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: sz.tensor(REAL), per_tensor, sparse])
@pytest.mark.parametrize("name", CALLS)
def test_every_operator_names_itself_for_a_destroyed_tensor(
    name: str, make: Callable[[], Any]
) -> None:
    x = make()
    sz.destroy(x)
    found = attempt(CALLS[name], x)
    without_form = isinstance(found, sz.TypeMismatch) and make is sparse
    assert isinstance(found, sz.UninitializedObject) or without_form
    assert str(found).startswith(f"{REGISTRY[name].title}: ")


FORMS: list[Callable[[], Any]] = [
    *[lambda order=order: sz.cast(sz.tensor(REAL), sz.bfloat16, layout=order)
      for order in ((0, 1), (1, 0))],
    lambda: sz.tensor(REAL)[:, ::-2],
    lambda: sz.expand(sz.tensor(REAL[0]), (2, 3)),
    per_tensor,
    lambda: per_tensor().T[1:],
    per_channel,
    lambda: sz.cast(per_channel(), sz.QT_CH_SYM_INT8, layout=(0, 1)),
    lambda: per_channel()[:, ::-1],
    lambda: per_channel()[:, 1],
    lambda: sz.zeros((0, 3), sz.int4, layout=(0, 1)),
    sparse,
    lambda: sparse().to_csr(),
    lambda: sparse().T,
]  # fmt: skip


@pytest.mark.parametrize("make", FORMS)
def test_what_is_kept_comes_back(make: Callable[[], Any]) -> None:
    x, file = make(), io.BytesIO()
    sz.save(file, {"x": x, "again": x})
    for y in (*sz.load(file).values(), pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert repr(y) == repr(x)
        assert (type(y), y.dtype, y.shape) == (type(x), x.dtype, x.shape)
        assert dense(y) == dense(x)
        if isinstance(x, sz.Tensor):
            assert (y.scale, y.zero_point, y.channel_axis) == (
                x.scale,
                x.zero_point,
                x.channel_axis,
            )
            assert y.layout.min2maj == (x.layout.min2maj or (1, 0)[-x.ndim :])
        else:
            assert y.layout == x.layout
