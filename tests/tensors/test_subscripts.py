"""x[key] and x[key] = value, against NumPy: what is picked, what is a view, what is refused."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suanzi as sz
from helpers.moves import (
    ALL,
    Array,
    destroyed,
    layouts,
    nothing_made,
    quantized,
    raw,
    real,
    same,
    tensors,
)
from suanzi import _core

PLAIN = [d for d in ALL if d.kind != "quantized"]
far = st.sampled_from([2**63, -(2**63), 10**30, -(10**30)])
bound = st.one_of(st.none(), st.integers(-7, 7), far)
step = st.one_of(st.none(), st.sampled_from([1, 2, 3, -1, -2, -3, -5, -7, 2**62, -(2**64)]))


@st.composite
def basic_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Make a key of integers, slices, None and '...'."""
    taken = draw(st.integers(0, len(shape)))
    dots = draw(st.integers(0, taken)) if draw(st.booleans()) else None
    key: list[Any] = []
    for i in range(taken):
        # Behind the dots, axes count from the end.
        axis = i if dots is None or i < dots else len(shape) - taken + i
        n = shape[axis]
        if n and draw(st.booleans()):
            key.append(draw(st.integers(-n, n - 1)))
        else:
            key.append(slice(draw(bound), draw(bound), draw(step)))
    if dots is not None:
        key.insert(dots, Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        key.insert(draw(st.integers(0, len(key))), None)
    return tuple(key)


@st.composite
def any_keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Make a key that also has masks, lists and arrays of indices, and truth values."""
    common = draw(st.sampled_from([(), (2,), (3, 1), (1, 2), (0,)]))
    key: list[Any] = []
    axis = 0
    while axis < len(shape) and draw(st.integers(0, 4)):
        n = shape[axis]
        kind = draw(st.sampled_from(["int", "slice", "array", "array", "mask", "none", "bool"]))
        if kind == "int" and n:
            key.append(draw(st.integers(-n, n - 1)))
        elif kind == "array" and (n or 0 in common):
            sizes = draw(st.sampled_from([common, common, tuple(1 for _ in common)]))
            count = int(np.prod(sizes))
            one = st.integers(-n, n - 1) if n else st.just(0)
            values = draw(st.lists(one, min_size=count, max_size=count))
            dtype = draw(st.sampled_from([np.int8, np.int64, np.int16]))
            key.append(np.array(values, dtype).reshape(sizes))
        elif kind == "mask":
            ndim = draw(st.integers(1, min(2, len(shape) - axis)))
            sizes = shape[axis : axis + ndim]
            count = int(np.prod(sizes))
            bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            key.append(np.array(bits, bool).reshape(sizes))
            axis += ndim - 1
        elif kind == "none":
            key.append(None)
            continue
        elif kind == "bool":
            key.append(draw(st.booleans()))
            continue
        else:
            key.append(slice(draw(bound), draw(bound), draw(step)))
        axis += 1
    if draw(st.booleans()):
        key.append(Ellipsis)
    return tuple(key)


def ours(key: Any, form: str) -> Any:
    """Return a key of NumPy's with its arrays as tensors, lists, or as they are."""
    parts = []
    for part in key:
        if isinstance(part, np.ndarray) and form == "tensor":
            part = sz.tensor(part)
        elif isinstance(part, np.ndarray) and form == "list" and part.ndim and part.size:
            part = part.tolist()
        parts.append(part)
    return parts[0] if len(parts) == 1 and form != "array" else tuple(parts)


def with_bytes(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key for an array with one more axis, that of the bytes, at its end."""
    return (*key, slice(None) if any(part is Ellipsis for part in key) else Ellipsis)


def by_numpy(bits: Array, key: tuple[Any, ...]) -> Array | None:
    """Return what NumPy picks of bytes; None if it refuses."""
    try:
        return bits[with_bytes(key)]
    except IndexError:
        return None


@given(st.data())
def test_views(data: st.DataObject) -> None:
    x = data.draw(tensors())
    key = data.draw(basic_keys(x.shape))
    expected = raw(x)[with_bytes(key)]
    found = x[key]
    same(found, expected)
    assert found.storage == x.storage
    if len(key) == 1:
        same(x[key[0]], expected)
    same(x[tuple(np.int64(k) if isinstance(k, int) else k for k in key)], expected)
    same(x[tuple(sz.tensor(k) if isinstance(k, int) else k for k in key)], expected)


@given(st.data())
def test_writing_to_views(data: st.DataObject) -> None:
    x = data.draw(tensors(dtypes=PLAIN, repeats=False))
    key = data.draw(basic_keys(x.shape))
    numpy_key = with_bytes(key)
    expected = np.array(raw(x))
    shape = expected[numpy_key].shape[:-1]
    smaller = [data.draw(st.sampled_from([n, n, 1])) for n in shape]
    value = data.draw(layouts(smaller, [x.dtype]))
    expected[numpy_key] = raw(value)
    x[key] = value
    same(x, expected)


@settings(max_examples=300)
@given(st.data())
def test_every_kind_of_key(data: st.DataObject) -> None:
    x = data.draw(tensors(max_dims=4, max_side=4))
    key = data.draw(any_keys(x.shape))
    form = data.draw(st.sampled_from(["tensor", "list", "array"]))
    expected = by_numpy(raw(x), key)
    if expected is None:
        with pytest.raises((IndexError, ValueError)):
            x[ours(key, form)]
        return
    found = x[ours(key, form)]
    same(found, expected)
    assert found.dtype is x.dtype
    # A single integer makes a view, whatever it is wrapped in.
    chosen = [np.asarray(part) for part in key if isinstance(part, np.ndarray | bool)]
    if any(part.ndim or part.dtype == bool for part in chosen):
        assert found.storage != x.storage


@settings(max_examples=300)
@given(st.data())
def test_writing_with_every_kind_of_key(data: st.DataObject) -> None:
    x = data.draw(tensors(max_dims=4, max_side=4, dtypes=PLAIN, repeats=False))
    key = data.draw(any_keys(x.shape))
    numpy_key = with_bytes(key)
    expected = np.array(raw(x))
    picked = by_numpy(expected, key)
    if picked is None:
        return
    smaller = [data.draw(st.sampled_from([n, n, 1])) for n in picked.shape[:-1]]
    value = data.draw(layouts(smaller, [x.dtype]))
    expected[numpy_key] = raw(value)
    x[ours(key, data.draw(st.sampled_from(["tensor", "list", "array"])))] = value
    same(x, expected)


def test_masks_and_truth_values() -> None:
    x = sz.tensor([[1, 2], [3, 4]])
    assert x[x > 2].tolist() == [3, 4]
    assert x[True].shape == (1, 2, 2)
    assert x[False].shape == (0, 2, 2)
    assert x[sz.tensor(True)].shape == (1, 2, 2)
    assert x[np.bool_(False)].shape == (0, 2, 2)
    assert x[[True, False]].tolist() == [[1, 2]]
    assert x[[]].shape == (0, 2)
    assert x[[[]]].shape == (1, 0, 2)
    x[x > 2] = 0
    assert x.tolist() == [[1, 2], [0, 0]]
    x[sz.tensor([False, True])] = sz.tensor([7, 8])
    assert x.tolist() == [[1, 2], [7, 8]]
    x[[0, 0, 0]] = sz.tensor([[1, 1], [2, 2], [3, 3]])
    assert x.tolist() == [[3, 3], [7, 8]]  # the last one stays
    x[False] = 100
    assert x.tolist() == [[3, 3], [7, 8]]


def test_a_large_mask() -> None:
    a = np.random.default_rng(1).integers(0, 9, (300, 401))
    x = sz.tensor(a)
    same(x[x > 4], raw(x)[a > 4])
    x[x > 4] = 0
    a[a > 4] = 0
    assert np.array_equal(x.numpy(), a)
    turned = sz.tensor(a).T
    turned[turned == 3] = -1
    a[a == 3] = -1
    assert np.array_equal(turned.numpy(), a.T)


# ---- values -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [d for d in ALL if d.kind not in ("char", "quantized")], ids=str)
def test_numbers_convert_straight_to_the_dtype(dtype: sz.DType) -> None:
    values: list[Any] = [0, 1, True, False]
    if dtype.kind in ("int", "uint"):
        values += [sz.iinfo(dtype).max, sz.iinfo(dtype).min, 1.75]
    if dtype.exponent_bits:
        values += [0.1, 1 / 3, -2.5, 1e300, float("inf"), float("nan"), 2**53 + 1, 2**70, -0.0]
    if dtype.kind == "complex":
        values += [0.1 + 0.3j, complex("nan+infj")]
    for value in values:
        expected = raw(sz.tensor([value], dtype))[0]
        for written in (
            value,
            [value],
            (value,),
            [[value]],
            np.array([value])[0],
            sz.tensor(value, dtype),
        ):
            for key in (0, slice(0, 1), [0], sz.tensor([True, False])):
                x = sz.tensor([1, 1], dtype)
                x[key] = written
                assert np.array_equal(raw(x)[0], expected) or value != value, (value, written, key)
                assert x[1].item() == 1


@pytest.mark.parametrize("dtype", [d for d in ALL if d.kind in ("int", "uint")], ids=str)
def test_integers_must_fit(dtype: sz.DType) -> None:
    x = sz.tensor([1, 1], dtype)
    for bad in (sz.iinfo(dtype).max + 1, sz.iinfo(dtype).min - 1, 2**70, -(2**70)):
        for value in (bad, [bad], (bad, 1)):
            for key in (slice(None), [0, 1]):
                with pytest.raises(sz.InvalidArgument, match="does not fit"):
                    x[key] = value
    assert x.tolist() == [1, 1]


def test_tensors_and_arrays_convert_as_a_cast_does() -> None:
    numbers = [d for d in ALL if d.kind not in ("char", "quantized")]
    for a, b in itertools.product(numbers, repeat=2):
        whole = {a.kind, b.kind} <= {"int", "uint"}  # what does not fit is refused: test_in_place
        source = _core.cast(sz.tensor([0.3, 1.7, -2.0, 300.0][: 2 if whole else 4]), a, False)
        x = sz.tensor([1] * source.size, b)
        if a.kind == "complex" and b.kind != "complex":
            with pytest.raises(sz.TypeMismatch, match=f"the value is {a} and the tensor {b}"):
                x[:] = source
            continue
        for key in (np.s_[:], np.s_[::-1], [0, 1, 2, 3][: source.size]):
            x[key] = source
            same(x[key], raw(_core.cast(source, b, False)))
    x = sz.tensor([0, 0])
    x[:] = np.array([1.9, 2.9], np.float32)
    assert x.tolist() == [1, 2]
    x[:] = range(5, 7)
    assert x.tolist() == [5, 6]


def test_text() -> None:
    x = sz.tensor("abc")
    x[1:] = sz.tensor("zz")
    x[0] = sz.tensor("q")[0]
    x[[2]] = "y"
    assert x.tolist() == [b"q", b"z", b"y"]
    for bad in (1, 65.0, sz.tensor([1, 2, 3], sz.uint8), [1, 2, 3], True):
        with pytest.raises(sz.TypeMismatch, match="text cannot be converted"):
            x[:] = bad
    number = sz.tensor([1, 2])
    with pytest.raises(sz.TypeMismatch, match="text cannot be converted"):
        number[0] = "a"


def test_source_and_target_that_overlap() -> None:
    for n in (6, 1000, 100_000):
        for target, source in (
            *((np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:], np.s_[::-1])),
            *((np.s_[::2], np.s_[: n // 2]), (np.s_[:], np.s_[:])),
        ):
            a = np.arange(n)
            x = sz.tensor(a)
            a[target] = a[source].copy()
            x[target] = x[source]
            assert np.array_equal(x.numpy(), a)
            foreign = np.arange(n)
            shared = sz.from_dlpack(foreign)
            shared[target] = sz.from_dlpack(foreign)[source]
            assert np.array_equal(foreign, a)
    x = sz.tensor([[1, 2], [3, 4]])
    x[:] = x.T
    assert x.tolist() == [[1, 3], [2, 4]]
    x[[0, 1]] = x[::-1]
    assert x.tolist() == [[2, 4], [1, 3]]
    x[x > 1] = x[x > 1][::-1]
    assert x.tolist() == [[3, 4], [1, 2]]
    x[0] += 1
    x[..., 1] *= x[..., 0]
    assert x.tolist() == [[4, 20], [1, 2]]


# ---- quantised tensors --------------------------------------------------------------------------


def test_quantised_tensors() -> None:
    values = np.arange(24).reshape(2, 3, 4)
    x = quantized(values, sz.QT_CH_SYM_INT8, [1.0, 2.0, 4.0], 0, 1)
    r = real(x)
    views = [0, np.s_[:, 1], np.s_[:, ::-1], np.s_[1:, 2:, 1], np.s_[..., 0], None, np.s_[:, None]]
    picks: list[Any] = [[1, 0], np.s_[[1, 0], :, ::2], np.s_[..., [0, 3]], np.s_[0, :, [1, 1]]]
    picks += [np.s_[[0], 1:, [2]], np.array([True, False]), np.s_[:, [0, 1]], np.s_[:, [True] * 3]]
    for key in views + picks:
        found = x[key]
        assert found.dtype is x.dtype
        assert np.array_equal(real(found), r[key]), key
    for key in (np.s_[[0], [1]], np.s_[:, [[0, 1]]], np.s_[:, 1, [0, 2]]):
        with pytest.raises(sz.InvalidArgument, match="channels"):
            x[key]
    y = quantized(values, sz.QT_ASYM_UINT8, [0.5], 3)
    for key in (1, np.s_[[0, 1], [0, 2]], real(y) > 4, np.s_[::-1, None]):
        assert np.array_equal(real(y[key]), real(y)[key])


# ---- statuses -----------------------------------------------------------------------------------


def refused(error: type[sz.StatusError], x: sz.Tensor, key: Any, match: str = "") -> None:
    """Raise unless both reading and writing are refused, and nothing is made or changed."""
    before = None if x.size > 10**6 else np.array(raw(x))
    for call in (lambda: x[key], lambda: x.__setitem__(key, 1)):
        kind, text = None, ""
        with nothing_made():
            try:
                call()
            except sz.StatusError as caught:
                kind, text = type(caught), str(caught)
        assert kind is error, f"{kind} {text}"
        assert text.endswith("."), text
        assert match in text, text
    assert before is None or np.array_equal(raw(x), before)


def test_indices_out_of_range() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    assert issubclass(sz.OutOfRange, IndexError)
    for bad in (2, -3, 2**63, -(2**70), np.int64(2), sz.tensor(-3)):
        refused(sz.OutOfRange, x, bad, match="index")
        refused(sz.OutOfRange, x, (bad, slice(None)), match="index")
    for bad in ([0, 2], [-3], sz.tensor([0, 5], sz.uint64), sz.tensor([2**63], sz.uint64)):
        refused(sz.OutOfRange, x, bad, match="index")
        refused(sz.OutOfRange, x, (slice(None), slice(None), bad), match="indices")
    refused(sz.OutOfRange, x, (0, 0, 0), match="3 indices")
    refused(sz.OutOfRange, x, (..., ...), match="'...'")
    refused(sz.OutOfRange, sz.tensor(1), 0)
    refused(sz.OutOfRange, x[:0], 0)
    refused(sz.OutOfRange, x[:0], [0])
    for mask in ([True], [True] * 3, [[True, False]], np.ones((2, 2), bool), np.ones((3, 2), bool)):
        refused(sz.OutOfRange, x, sz.tensor(mask), match="mask")
    refused(sz.OutOfRange, x, np.ones((2, 3, 1), bool))


def test_keys_that_are_none() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    for bad in ("0", b"0", 0.0, float("nan"), 1j, object(), {0}, {}):
        refused(sz.TypeMismatch, x, bad)
        refused(sz.TypeMismatch, x, (0, bad))
        refused(sz.TypeMismatch, x, slice(bad, None), match="bound")
    for tensor in ([0.5], [1j]):
        refused(sz.TypeMismatch, x, sz.tensor(tensor), match="cannot be used as an index")
        refused(sz.TypeMismatch, x, np.array(tensor), match="cannot be used as an index")
    refused(sz.TypeMismatch, x, sz.tensor([0, 1], sz.uint1), match="cannot be used as an index")
    refused(sz.InvalidArgument, x, slice(None, None, 0), match="step")
    refused(sz.DimensionsMismatch, x, ([0, 1], [0, 1, 2]), match="shapes")
    refused(sz.UninitializedObject, x, destroyed(), match="destroyed")
    refused(sz.UninitializedObject, x, (0, destroyed()), match="destroyed")
    refused(sz.InvalidArgument, x, (None,) * 63, match="64")
    refused(sz.InvalidArgument, x, (None,) * 300, match="64")
    refused(sz.InvalidArgument, x, (*(None,) * 63, [0]), match="64")
    with pytest.raises(sz.StatusError):
        x[[[0], [1, 2]]]
    gone = destroyed()
    for call in (lambda: gone[0], lambda: gone.__setitem__(0, 1), lambda: gone[[0]]):
        with pytest.raises(sz.UninitializedObject, match="destroyed"):
            call()
    with pytest.raises(sz.AllocFailed):
        x[sz.expand(sz.tensor([0]), (2**45,))]


def test_a_bound_that_destroys_the_tensor() -> None:
    x = sz.tensor([1, 2, 3])

    class Bound:
        def __index__(self) -> int:
            _core.destroy(x)
            return 0

    with pytest.raises(sz.UninitializedObject, match="destroyed"):
        x[Bound() :]
    x = sz.tensor([1, 2, 3])
    with pytest.raises(sz.UninitializedObject, match="destroyed"):
        x[Bound() :] = 1


def test_targets_that_cannot_be_written() -> None:
    array = np.arange(3)
    array.flags.writeable = False
    fixed = sz.from_dlpack(array)
    wide = sz.expand(sz.tensor([1]), (3,))
    for x, word in ((fixed, "read-only"), (wide, "several elements")):
        for key in (0 if x is fixed else slice(None), slice(0, 2), [0, 1], sz.tensor([True] * 3)):
            for value in (1, sz.tensor(5), 2.5, sz.tensor([5], sz.int8), [7]):
                before = x.tolist()
                with pytest.raises(sz.InvalidArgument, match=word):
                    x[key] = value
                assert x.tolist() == before
    wide[0] = 4  # one element is one place
    assert wide.tolist() == [4, 4, 4]


def test_values_that_do_not_fit() -> None:
    x = sz.tensor([[1, 2, 3], [4, 5, 6]])
    before = x.tolist()
    for key, value in (
        *((0, [1, 2]), (slice(None), [[1], [2], [3]]), ([0, 1], [1, 2]), (x > 2, [1, 2])),
        *(((0, 0), [1, 2]), (..., sz.tensor([[[1]], [[2]]])), (slice(0, 0), [[1, 2, 3]] * 2)),
    ):
        with pytest.raises(sz.DimensionsMismatch, match=r"value has shape .*\.$"):
            x[key] = value
    for bad in (None, "a", object(), {1}, [None], [[1], [2, 3]], float):
        with pytest.raises((sz.TypeMismatch, sz.InvalidArgument, sz.DimensionsMismatch)):
            x[0] = bad
        with pytest.raises((sz.TypeMismatch, sz.InvalidArgument, sz.DimensionsMismatch)):
            x[[0, 1]] = bad
    for key in (0, [0], slice(None)):
        with pytest.raises(sz.UninitializedObject, match="destroyed"):
            x[key] = destroyed()
    assert x.tolist() == before
    x[0] = [[[1, 1, 1]]]  # more axes are allowed if they are 1
    x[[1]] = [[[2, 2, 2]]]
    assert x.tolist() == [[1, 1, 1], [2, 2, 2]]


def test_elements_are_not_deleted() -> None:
    x = sz.tensor([1, 2])
    with pytest.raises(TypeError, match="deleted"):
        del x[0]
    with pytest.raises(TypeError, match="deleted"):
        del destroyed()[0]


# ---- iterating ----------------------------------------------------------------------------------


def test_iterating() -> None:
    x = sz.tensor([[1, 2], [3, 4], [5, 6]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4], [5, 6]]
    first, *others = x
    assert first.storage == x.storage
    assert len(others) == 2
    (a, b), (c, d), _ = x
    assert (int(a), int(b), int(c), int(d)) == (1, 2, 3, 4)
    first[0] = 9
    assert x[0, 0].item() == 9
    assert list(sz.tensor([])) == []
    assert 4 in sz.tensor([1, 4])
    assert 5 not in sz.tensor([1, 4])
    assert 6 in x
    assert 7 not in x
    assert "a" not in x
    assert len(x) == 3
    assert [int(v) for v in reversed(sz.tensor([1, 2, 3]))] == [3, 2, 1]
    for use in (list, len, reversed):
        with pytest.raises(sz.TypeMismatch):
            use(sz.tensor(1))  # type: ignore[operator]
    assert {1: "a"}[sz.tensor(1).item()] == "a"
    assert [10, 20, 30][sz.tensor(2)] == 30
