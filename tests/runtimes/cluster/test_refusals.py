"""What the host refuses, or has no form on blocks: a status, and never another error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi.faces import array_api as xp

pytest.importorskip("dask.array", reason="tensors of blocks are Dask's")
pytest.importorskip("suanzi.cluster")


def there(x: Any, dtype: Any = None) -> Any:
    return sz.tensor(x, dtype, device="cluster")


@pytest.mark.parametrize(
    "function", [xp.asin, sz.sqrt, sz.nn.relu6, lambda x: sz.add(x, 1), lambda x: sz.reverse(x, ())]
)
def test_a_list_of_tensors_of_blocks_is_no_operand(function: Any) -> None:
    for given in ([there([1.0]), None], [there([1.0])], [there([1.0]), [there([2.0])]]):
        with pytest.raises(sz.TypeMismatch, match="in a list"):
            function(given)


def test_several_results_of_elements() -> None:
    given = [there([1.0]) for _ in range(4)]
    with pytest.raises(sz.TypeMismatch, match=r"adamw.*several results.*to_host"):
        sz.nn.adamw(*given, 1)


@pytest.mark.parametrize(
    ("shape", "axis", "wrong"),
    [
        ((2, 3), 1, (0,)),
        ((2, 3), 0, (3, 2)),
        ((6,), -1, (4,)),
        ((6,), 0, (2, 3)),
        ((2, 3), -1, (6,)),
    ],
)
def test_shapes_of_cumsum_bwd(shape: Any, axis: int, wrong: Any) -> None:
    x = sz.full(shape=shape, value=1)
    for one in (x, x.to_device("cluster")):
        with pytest.raises(sz.InvalidArgument, match="cumsum_bwd"):
            sz.cumsum_bwd(one, axis, wrong)
    right = (2, 3) if axis == -1 and shape == (6,) else shape
    if axis != -1 or shape == (6,):
        found = sz.cumsum_bwd(x.to_device("cluster"), axis, right).to_host()
        assert found.tolist() == sz.cumsum_bwd(x, axis, right).tolist()


def test_axes_without_end() -> None:
    """Tensors of blocks in place of axes are not read one by one: they may have any size."""
    endless = sz.empty((2**40, 0, 3)).to_device("cluster")
    x = there([[1.0, 2.0]], sz.complex64)
    for call in (lambda: sz.fft_c2c(x, endless), lambda: xp.permute_dims(x, endless)):
        with pytest.raises(sz.StatusError):
            call()


@pytest.mark.parametrize("rules", ["jax_x32", "torch", "cann"])
@pytest.mark.parametrize("p", [0.5, 3, 2**31])
def test_norms_where_rules_have_no_float64(rules: str, p: float) -> None:
    for dtype in (sz.float8_e5m2, sz.bfloat16, sz.float32, sz.int32):
        x = sz.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]).astype(dtype)
        with sz.promotion(rules):
            found = sz.norm(x.to_device("cluster"), p).to_host()
            wanted = sz.norm(x, p)
        assert found.dtype is wanted.dtype
        assert float(found) == pytest.approx(float(wanted), rel=2.0**-21)


AXES: tuple[Callable[[], Any], ...] = (
    dict, lambda: {0: 1}, lambda: {0}, lambda: range(1), lambda: iter([0]),
    lambda: np.array([0]), lambda: np.int64(0), lambda: [True], lambda: "a", lambda: 5,
    lambda: [0, 0], lambda: 1.5, list,
)  # fmt: skip


@pytest.mark.parametrize("name", ["norm", "flip", "squeeze"])
def test_axes_of_every_kind_are_those_of_the_host(name: str) -> None:
    x = sz.tensor([[1.0, 2.0, 3.0]])
    for make in AXES:
        outcomes = []
        for one in (x, x.to_device("cluster")):
            try:
                made = getattr(sz, name)(one, axis=make())
                outcomes.append(made.to_device("cpu").numpy().tolist())
            except sz.StatusError as error:
                outcomes.append(error.status)
        assert outcomes[0] == outcomes[1], (make(), outcomes)


def test_a_number_for_a_tensor_next_to_blocks() -> None:
    where = sz.tensor([True]).to_device("cluster")
    with pytest.raises(sz.StatusError):
        sz.masked_select(True, where)
    with pytest.raises(sz.StatusError):
        sz.gather(True, sz.tensor([], sz.int64).to_device("cluster"))


def same_refusal(function: Any, **given: Any) -> None:
    """The host's error, whichever operand is in blocks."""
    here = {name: x.to_host() if hasattr(x, "to_host") else x for name, x in given.items()}
    with pytest.raises(sz.StatusError) as wanted:
        function(**here)
    with pytest.raises(sz.StatusError) as found:
        function(**given)
    assert (type(found.value), str(found.value)) == (type(wanted.value), str(wanted.value))


@pytest.mark.parametrize("wrong", [None, {}, range(3), "x", sz.Status.SUCCESS], ids=repr)
def test_an_operand_that_is_no_tensor_beside_blocks(wrong: Any) -> None:
    same_refusal(sz.masked_select, input=wrong, mask=there([True]))
    same_refusal(sz.slice_backward, grad_out=wrong, input=there([1.0]))
    if wrong != sz.Status.SUCCESS:  # a number
        same_refusal(sz.argmin, input=wrong, dtype=there([1.0]))


def test_a_number_or_an_array_beside_blocks() -> None:
    for one in (np.arange(4.0, dtype="float32"), np.float32(7)):
        mask = [True, False, False, True] if one.ndim else True
        found = sz.masked_select(one, there(mask))
        assert found.tolist() == sz.masked_select(one, sz.tensor(mask)).tolist()


def test_axes_in_anything_that_lists_them() -> None:
    x, host = there([[1.0, 2.0], [3.0, 5.0]]), sz.tensor([[1.0, 2.0], [3.0, 5.0]])
    for axis in ({}, {0: "first"}, np.array([0, 1]), range(1)):
        assert sz.flip(x, axis).tolist() == sz.flip(host, axis).tolist()
        assert sz.norm(x, axis=axis).tolist() == sz.norm(host, axis=axis).tolist()
        thin = (x.reshape((2, 1, 2)), host.reshape((2, 1, 2)))
        squeezed = [sz.squeeze(one, {1: axis}).tolist() for one in thin]
        assert squeezed[0] == squeezed[1]
    widths = np.array([[1, 0], [0, 2]])
    assert sz.pad(x, widths).tolist() == sz.pad(host, widths).tolist()
    given: Any = ([0], np.array([1]), [1])
    x, host = there([1.0, 2.0]), sz.tensor([1.0, 2.0])
    found = sz.slice_backward(x[:1], x, *given)
    assert found.tolist() == sz.slice_backward(host[:1], host, *given).tolist()


@pytest.mark.parametrize("shapes", [((1, 3), (2, 3)), ((1, 0), (2, 0)), ((1, 1), (2, 1))], ids=str)
def test_gradients_that_repeat_nothing(shapes: Any) -> None:
    grad, x = (sz.zeros(shape).to_device("cluster") for shape in shapes)
    same_refusal(sz.clip_backward, grad_out=grad, input=x, low=0.0, high=0.5)


def test_an_iterator_is_read_once() -> None:
    x, host = there([[1, 2], [3, 4]], sz.int16), sz.tensor([[1, 2], [3, 4]], sz.int16)
    scaled = [sz.quantize(one.astype(sz.float32), "QT_SYM_INT16", scale=1.0) for one in (x, host)]
    for a, b in ((x, host), scaled):
        assert sz.flip(a, iter([1])).tolist() == sz.flip(b, [1]).tolist()
        assert sz.expand(a, (n for n in (3, 2, 2))).tolist() == sz.expand(b, (3, 2, 2)).tolist()


def test_an_element_that_a_narrow_dtype_does_not_hold() -> None:
    x = sz.tensor([0.0, 1e-300], sz.float64)
    blocks = x.to_device("cluster")
    with sz.promotion("jax_x32"):
        assert sz.nonzero(blocks, False).tolist() == sz.nonzero(x, False).tolist() == [[1]]


@pytest.mark.parametrize(
    "shapes", [((1,), ()), ((), (4,)), ((3,), (1, 4)), ((2, 3), (4,))], ids=str
)
def test_transforms_of_other_ranks(shapes: Any) -> None:
    grad = sz.zeros(shapes[0], sz.complex64).to_device("cluster")
    x = sz.zeros(shapes[1], sz.float32).to_device("cluster")
    same_refusal(sz.fft_r2c_backward, grad_out=grad, input=x)
