"""The methods of a tensor against NumPy's of the same name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import suanzi as sz
from suanzi.tensors.methods import Methods

SHAPES = [(), (4,), (1,), (2, 3), (3, 1, 4), (2, 3, 4)]
AXES = [None, 0, -1, (0, -1), (1,), ()]
DTYPES = ["bool", "int8", "uint8", "int32", "uint64", "float32", "float64", "complex64"]


def array(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    numbers = np.random.default_rng(3).integers(0, 5, shape).astype(dtype)
    return np.asarray(numbers * (1 + 2j) if dtype == "complex64" else numbers).astype(dtype)


def fits(axis: object, ndim: int) -> bool:
    axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
    counted = [a % ndim if ndim and -ndim <= a < ndim else None for a in axes]
    return None not in counted and len(set(counted)) == len(counted)


METHODS = ["max", "min", "sum", "prod", "any", "all", "mean", "var", "std"]


@pytest.mark.parametrize(
    ("dtype", "name"),
    [(d, name) for d in DTYPES for name in (METHODS[2:] if d == "complex64" else METHODS)],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_along_axes(dtype: str, name: str, keepdims: bool) -> None:
    for shape, axis in itertools.product(SHAPES, AXES):
        if not fits(axis, len(shape)):
            continue
        a = array(shape, dtype)
        found = getattr(sz.tensor(a), name)(axis=axis, keepdims=keepdims)
        due = np.asarray(getattr(a, name)(axis=axis, keepdims=keepdims))
        assert found.shape == due.shape, (shape, axis)
        np.testing.assert_allclose(found.numpy(), due, rtol=2e-6, atol=2e-6)
        if name in ("sum", "prod", "max", "min", "any", "all") or a.dtype.kind in "fc":
            assert found.dtype == due.dtype
        else:
            assert found.dtype is sz.float32


def test_a_correction_and_nothing() -> None:
    x = sz.tensor([1.0, 2.0, 4.0])
    np.testing.assert_allclose(x.var(correction=1).item(), np.var([1, 2, 4], ddof=1), rtol=1e-6)
    assert np.isnan(sz.tensor([1.0]).var(correction=1).item())
    large = sz.tensor([2**30, 2**30 + 2, 2**30 + 4], sz.int32)
    np.testing.assert_allclose(large.var().item(), 8 / 3, rtol=1e-6)


def test_sixteen_bits_are_rounded_once() -> None:
    numbers = np.random.default_rng(1).normal(100, 3, 1000).astype(np.float16)
    for dt in (sz.float16, sz.bfloat16):
        x = sz.cast(sz.tensor(numbers), dt)
        exact = np.asarray(sz.cast(x, sz.float64))
        for name in ("var", "std"):
            found = getattr(x, name)()
            assert found.dtype is dt
            assert found.item() == sz.tensor(float(getattr(exact, name)()), dt).item()


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_indices(name: str) -> None:
    for shape in SHAPES[1:]:
        a = np.random.default_rng(0).permutation(int(np.prod(shape))).reshape(shape)
        for axis in (None, *range(-len(shape), len(shape))):
            for keep in (False, True):
                found = getattr(sz.tensor(a), name)(axis, keepdims=keep)
                due = getattr(a, name)(axis, keepdims=keep)
                assert np.array_equal(found.numpy(), due)


def test_cumulative_sums() -> None:
    a = np.arange(24, dtype=np.int8).reshape(2, 3, 4)
    for axis in (None, 0, 1, 2, -1, -3):
        found = sz.tensor(a).cumsum(axis)
        assert found.dtype is sz.int64
        assert np.array_equal(found.numpy(), a.cumsum(axis))
    assert sz.tensor(a).cumsum(0, dtype=sz.float32).dtype is sz.float32
    assert sz.tensor(a).sum(dtype="f32").dtype is sz.float32


@pytest.mark.parametrize("dtype", ["bool", "int4", "uint8", "int64", "bfloat16", "float64"])
def test_order(dtype: str) -> None:
    x = sz.cast(sz.tensor(np.random.default_rng(0).integers(0, 5, (4, 7))), dtype)
    a = np.array(sz.cast(x, sz.float64).numpy())
    for axis in (0, 1, -1, np.int64(-2)):
        assert x.argsort(axis).tolist() == np.argsort(a, axis, kind="stable").tolist()
        for y, b in ((x.copy(), a), (x.copy().T, a.T), (x.copy()[::-1, ::2], a[::-1, ::2])):
            due = np.sort(b, axis).tolist()
            assert y.sort(axis) is None  # in place, as NumPy's
            assert (y.dtype, sz.cast(y, sz.float64).tolist()) == (x.dtype, due)
    assert x.argsort(None).tolist() == np.argsort(a, None, kind="stable").tolist()


def test_reshape_infers_one_axis() -> None:
    x = sz.zeros((2, 3), sz.int4)
    assert sz.reshape(x, -1).shape == (6,)
    assert sz.reshape(x[:0], -1).shape == (0,)
    assert sz.reshape(x[0, 0], -1).shape == (1,)
    assert sz.reshape(x, (-1,)).shape == sz.reshape(x, 6).shape == (6,)
    for dims in ((-1, 2), -2, (-2,), True):  # what the standard's operator does not have
        with pytest.raises(sz.InvalidArgument):
            sz.reshape(x, dims)


def test_shapes() -> None:
    a = np.arange(24).reshape(2, 1, 3, 4)
    x = sz.tensor(a)
    assert np.array_equal(x.transpose().numpy(), a.transpose())
    assert np.array_equal(x.transpose(3, 0, -2, 1).numpy(), a.transpose(3, 0, 2, 1))
    assert np.array_equal(x.permute((3, 0, 2, 1)).numpy(), a.transpose(3, 0, 2, 1))
    assert x.squeeze().shape == x.squeeze(1).shape == x.squeeze(-3).shape == (2, 3, 4)
    assert sz.tensor([1, 2]).squeeze().shape == (2,)
    assert np.array_equal(x.T.flatten().numpy(), a.T.flatten())
    x.flatten()[0] = 9
    assert x[0, 0, 0, 0].item() == 0
    x.ravel()[0] = 9
    assert x[0, 0, 0, 0].item() == 9
    with pytest.raises(TypeError, match="permute"):
        x.permute()
    with pytest.raises(sz.StatusError):
        x.squeeze(0)
    with pytest.raises(sz.StatusError):
        x.sum(axis=4)


def test_elements() -> None:
    x = sz.tensor([-1.5, 0.25, 2.5])
    assert x.clip(-1, 1).tolist() == [-1, 0.25, 1]
    assert x.clip(max=0).tolist() == [-1.5, 0, 0]
    assert x.abs().tolist() == [1.5, 0.25, 2.5]
    assert x.round().tolist() == sz.round(x).tolist()
    assert x.exp().tolist() == sz.exp(x).tolist()
    assert x.abs().log().tolist() == sz.log(sz.abs(x)).tolist()
    assert x.abs().sqrt().tolist() == sz.sqrt(sz.abs(x)).tolist()
    assert x.conj() is x
    assert sz.tensor([1 + 2j]).conj().tolist() == [1 - 2j]
    y = x.copy()
    y.fill(3)
    assert (x.tolist(), y.tolist()) == ([-1.5, 0.25, 2.5], [3, 3, 3])


def test_to_a_dtype_or_a_device() -> None:
    x = sz.tensor([1.5])
    assert x.to(sz.float32) is x
    assert x.to("bf16").dtype is sz.bfloat16
    assert x.to("cpu:0") is x.to(sz.Device("cpu")) is x
    with pytest.raises(sz.StatusError):
        x.to("nowhere")


def test_methods_are_the_same_under_every_rule_set() -> None:
    x = sz.tensor([[1, 2], [3, 4]], sz.int16)
    for name in sz.rule_sets():
        with sz.promotion(name):
            assert x.sum().item() == 10
            assert x.var().item() == 1.25
            assert x.std(axis=0).dtype is sz.float32


def test_a_quantised_tensor_counts_as_what_it_stands_for() -> None:
    x = sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, -1])
    assert x.to(sz.float32).tolist() == x.astype(sz.float32).tolist() == [0.5, -0.5]
    assert (x.var().item(), x.std().item(), x.max().item()) == (0.25, 0.5, 0.5)
    assert x.sum(dtype=sz.float64).item() == 0
    assert x.abs().sum(dtype=sz.float64).item() == 1


def test_axes_are_integers_of_any_kind() -> None:
    a = np.arange(6).reshape(2, 3)
    x = sz.tensor(a)
    last = np.int64(-1)
    assert np.array_equal(x.cumsum(last).numpy(), a.cumsum(-1))
    assert np.array_equal(x.sum(axis=last).numpy(), a.sum(-1))
    assert np.array_equal(x.sum(axis=(np.int8(0), last)).numpy(), a.sum())
    assert np.array_equal(x.argmax(last).numpy(), a.argmax(-1))
    assert x.transpose(last, np.int64(0)).shape == (3, 2)


@pytest.mark.parametrize(
    "call",
    [
        *(lambda x, a=a: x.sum(axis=a) for a in ("a", 1.5, (0, 0), 99, True, (0.5,))),
        *(lambda x, a=a: x.cumsum(a) for a in ("a", 1.5, 99, (0,))),
        *(lambda x, a=a: x.argmax(a) for a in ("a", 1.5, 99)),
        *(lambda x, a=a: x.permute(a) for a in ("a", 1.5, 99, True, (0, 0), np.int64(0))),
        lambda x: x.var(correction="a"),
        lambda x: x.to(3),
        lambda x: x.fill("a"),
    ],
)
def test_bad_arguments_are_statuses(call) -> None:
    with pytest.raises(sz.StatusError):
        call(sz.zeros((2, 3)))


def test_of_a_destroyed_tensor_every_method_says_so() -> None:
    names = [
        n for n in vars(Methods) if not n.startswith("_") and n not in ("permute", "fill", "to")
    ]
    assert len(names) > 20
    for name in names:
        x = sz.tensor([1.0, 2.0])
        sz.destroy(x)
        with pytest.raises(sz.UninitializedObject):
            getattr(x, name)()


@pytest.mark.parametrize("name", ["sum", "max", "any", "var", "argmax"])
def test_an_unknown_keyword_is_refused_beside_keepdims(name: str) -> None:
    x = sz.tensor([[1.0, 2.0]])
    for more in ({}, {"keepdims": True}, {"keepdim": True}):
        with pytest.raises(TypeError, match="'bogus' is not an argument"):
            getattr(x, name)(bogus=1, **more)
