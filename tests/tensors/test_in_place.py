"""x += y and its kin: dtype, shape and memory stay, and views see what changed."""

import operator

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES

SYMBOLS = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.ipow: operator.pow,
    operator.iand: operator.and_,
    operator.ior: operator.or_,
    operator.ixor: operator.xor,
    operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
}
NUMBERS = [dt for dt in DTYPES if dt.kind in ("bool", "int", "uint", "float", "complex")]


def bits(x: sz.Tensor) -> bytes:
    return bytes(sz.contiguous(x).storage.memory)


@pytest.fixture(params=_core.levels())
def level(request):
    before = _core.level()
    _core.use_level(request.param)
    yield
    _core.use_level(before)


@pytest.mark.usefixtures("level")
@pytest.mark.parametrize("dt", NUMBERS, ids=str)
@pytest.mark.parametrize("in_place", SYMBOLS, ids=lambda f: f.__name__)
def test_bits_of_the_plain_form_in_the_same_memory(in_place, dt):
    rng = np.random.default_rng(1)
    for n in (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1000, 70_000):
        a, b = (sz.cast(sz.tensor(rng.integers(1, 3, n) + 0.0), dt) for _ in range(2))
        zero_dim = sz.cast(sz.tensor(2.0), dt)
        for other in (b, zero_dim, None):  # None: itself
            x = sz.duplicate(a)
            y = x if other is None else other
            try:
                due = SYMBOLS[in_place](a, a if other is None else other)
            except sz.StatusError as error:
                with pytest.raises(type(error)):
                    in_place(x, y)
                assert bits(x) == bits(a)
                continue
            memory = x.storage.data
            if due.dtype is not dt:
                with pytest.raises(sz.TypeMismatch, match="but x is"):
                    in_place(x, y)
                assert bits(x) == bits(a)
                continue
            assert in_place(x, y) is x
            assert (x.storage.data, x.dtype) == (memory, dt)
            assert bits(x) == bits(due)


def test_views_see_it_and_neighbours_do_not_change():
    x = sz.tensor([[1, 2, 3], [4, 5, 6]], sz.int16)
    columns = x[:, 1:]
    columns += 10
    assert x.tolist() == [[1, 12, 13], [4, 15, 16]]
    turned = x.T
    turned *= sz.tensor([1, 2], sz.int16)
    assert x.tolist() == [[1, 12, 13], [8, 30, 32]]


def test_operands_that_overlap_are_read_before_they_are_written():
    for n in (10, 5000, 100_000):
        x = sz.range(1, n, 1, sz.int64)
        head, tail = x[1:], x[:-1]
        due = (head + tail).tolist()
        head += tail
        assert head.tolist() == due
        backwards = x[::-1]
        due = (x + backwards).tolist()
        x += backwards
        assert x.tolist() == due


def test_the_other_operand_is_repeated_and_converted():
    x = sz.zeros((3, 4), sz.float32)
    x += sz.tensor([1, 2, 3, 4], sz.int8)
    x += sz.tensor([[1], [2], [3]], sz.bfloat16)
    assert x.tolist() == [[2, 3, 4, 5], [3, 4, 5, 6], [4, 5, 6, 7]]


def test_a_product_of_matrices():
    x = sz.tensor([[1.0, 2.0], [3.0, 4.0]])
    same = x
    x @= sz.tensor([[0.0, 1.0], [1.0, 0.0]])
    assert x is same
    assert x.tolist() == [[2, 1], [4, 3]]


@pytest.mark.parametrize(
    ("x", "y", "status", "words"),
    [
        (lambda: sz.tensor([1, 2]), 0.5, sz.TypeMismatch, "x [+]= y: the result is float32"),
        (lambda: sz.tensor([1]), sz.tensor([1, 2]), sz.DimensionsMismatch, r"keeps its shape \(1,"),
        (lambda: sz.expand(sz.tensor([1]), (3,)), 1, sz.InvalidArgument, "share memory"),
        (
            lambda: sz.from_dlpack(np.broadcast_to(np.ones(1), 2)[:1]),
            1.0,
            sz.InvalidArgument,
            "is read-only",
        ),
        (
            lambda: sz.create_quant_tensor((2,), 0.5, sz.QT_SYM_INT8, values=[1, 2]),
            1.5,
            sz.StatusError,
            "x",
        ),
    ],
)
def test_what_is_refused_changes_nothing(x, y, status, words):
    x = x()
    before = x.tolist()
    _ = x + y  # from here on, the fast path knows what they give
    with pytest.raises(status, match=words):
        x += y
    assert x.tolist() == before


def test_a_zero_divisor_leaves_x_as_it_was():
    x = sz.range(1, 100_000, 1, sz.int32)
    y = sz.zeros((100_000,), sz.int32) + 1
    y[99_999] = 0
    before = bits(x)
    with pytest.raises(sz.DivisionByZero):
        x //= y
    assert bits(x) == before


def test_what_python_does_not_add_is_left_to_the_other_operand():
    class Other:
        def __radd__(self, x):
            return "asked"

    x = sz.tensor([1])
    x += Other()
    assert x == "asked"
    x = sz.tensor([1])
    with pytest.raises(TypeError, match="unsupported operand"):
        x += None


@pytest.mark.parametrize("other", ["ab", b"ab", [1, 2], (1, 2), bytearray(b"ab")], ids=repr)
def test_python_repeats_nothing_as_often_as_a_tensor_says(other):
    """Else [1, 2] * tensor would be six numbers, where NumPy's array has two."""
    x = sz.tensor(3)
    for left, right in ((other, x), (x, other)):
        with pytest.raises(TypeError, match=r"for \*: .* int\(tensor\) repeats"):
            left * right
    y = sz.tensor(3)
    with pytest.raises(TypeError, match=r"for \*: "):
        y *= other
    assert other * int(x) == other * 3

    class Own(list):
        def __rmul__(self, x):
            return "asked"

    assert x * Own() == "asked"
    assert [list(range(x)), "abcd"[x]] == [[0, 1, 2], "d"]


@pytest.mark.parametrize(
    "value", [sz.tensor(300), sz.tensor([300]), np.int64(300), np.array([300])]
)
def test_an_integer_that_does_not_fit_is_refused_in_an_assignment(value):
    x = sz.zeros((2,), sz.int8)
    with pytest.raises(sz.InvalidArgument, match="300, which does not fit int8"):
        x[:1] = value
    assert x.tolist() == [0, 0]
    x[:1] = value - 200
    assert x.tolist() == [100, 0]
    with pytest.raises(sz.InvalidArgument, match="-1"):
        sz.zeros((1,), sz.uint64)[0] = sz.tensor(-1, sz.int8)
