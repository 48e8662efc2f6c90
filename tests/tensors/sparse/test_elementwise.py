"""Element-wise operators on sparse tensors against the same operators on dense ones."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.sparse_cases import NAMES, bits, distinct, make, numbers, same
from helpers.standard_operators import REGISTRY
from suanzi.ops.sparse.elementwise import operand_count
from suanzi.promote.registry import FUNCTIONS

UNARY, BINARY = ([k for k, op in REGISTRY.items() if operand_count(op) == n] for n in (1, 2))
ONE = sorted({*UNARY, "negative"} - {"cast", "clip", "rint"})
BROADCAST = [
    ((2, 3), (2, 3)), ((2, 3), (3,)), ((4, 1), (1, 3)), ((2, 1, 3), (4, 1)), ((3,), ()),
    ((), (2, 2)), ((), ()), ((0, 3), (1, 3)), ((1,), (0,)), ((2, 3), (1, 1)),
]  # fmt: skip


def function_of(name: str) -> Callable[..., Any]:
    return operator.neg if name == "negative" else FUNCTIONS[name]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a call returns, or the status it raises."""
    try:
        return function(*args)
    except sz.StatusError as error:
        return error


def layouts(shape: tuple[int, ...]) -> tuple[str, ...]:
    return ("coo", "csr") if len(shape) == 2 else ("coo",)


class TestOneOperand:
    @pytest.mark.parametrize("name", ONE)
    def test_as_if_it_were_dense(self, name: str) -> None:
        function, random = function_of(name), Random(name)
        kept = 0
        for dtype in NAMES:
            for shape in ((), (5,), (3, 4)):
                for layout in layouts(shape):
                    x = distinct(random, shape, dtype, layout)
                    zero = outcome(function, sz.tensor(0, sz.dtype(dtype)))
                    got, expected = outcome(function, x), outcome(function, x.to_dense())
                    if isinstance(expected, sz.StatusError):
                        assert (type(got), str(got)) == (type(expected), str(expected))
                    elif np.asarray(zero.numpy()).astype(complex) != 0:
                        assert isinstance(got, sz.TypeMismatch)
                        assert "to_dense()" in str(got)
                    else:
                        same(got.to_dense(), expected, signs=name not in ("negative", "conj"))
                        assert got.layout == x.layout
                        assert got.nnz == x.nnz or shape == ()
                        kept += 1
        never = "acos acosh bitwise_not cos cosh exp log log10 log2 logical_not reciprocal rsqrt"
        assert (kept == 0) == (name in [*never.split(), "is_finite"])

    def test_duplicates_are_added_first(self) -> None:
        x = sz.create_sparse_tensor((3,), [[1], [1]], [3, -5])
        assert abs(x).to_dense().tolist() == [0, 2, 0]
        assert sz.square(x).to_dense().tolist() == [0, 4, 0]
        assert sz.cast(sz.create_sparse_tensor((1,), [[0]] * 2, [0.6] * 2), sz.int8).item() == 1

    @pytest.mark.parametrize("name", NAMES)
    def test_cast(self, name: str) -> None:
        random = Random(name)
        for target in NAMES:
            for shape in ((3, 4), ()):
                x = distinct(random, shape, name)
                for saturate in (False, True):
                    got = sz.cast(x, sz.dtype(target), saturate=saturate)  # type: ignore[arg-type]
                    expected = sz.cast(x.to_dense(), sz.dtype(target), saturate=saturate)
                    same(got.to_dense(), expected)  # type: ignore[attr-defined]
        with pytest.raises(sz.TypeMismatch, match=r"cast \(7\.2\.3\.1\)"):
            sz.cast(x, sz.char)  # type: ignore[arg-type]

    def test_with_more_arguments(self) -> None:
        x: Any = sz.create_sparse_tensor((2, 2), [[0, 1], [1, 0]], [2.5, -3.5])
        assert sz.clip(x, -1, 2).to_dense().tolist() == [[0, 2], [-1, 0]]
        assert sz.clip(input=x, high=1).to_dense().tolist() == [[0, 1], [-3.5, 0]]
        assert sz.rint(x, "DOWNWARD").to_dense().tolist() == [[0, 2], [-4, 0]]
        with pytest.raises(sz.TypeMismatch, match="for zero is 1"):
            sz.clip(x, low=1)
        with pytest.raises(sz.TypeMismatch, match=r"0-d tensors.*to_dense\(\)"):
            sz.clip(x, low=sz.tensor([-1.0, -1.0]))
        for low in (sz.tensor(-1.0), np.float32(-1)):
            assert sz.clip(x, low).to_dense().tolist() == [[0, 2.5], [-1, 0]]
        for target in (np.int8, np.dtype("int8"), "int8", int):
            assert sz.cast(x, target).to_dense().tolist() == [[0, 2], [-3, 0]]
        assert sz.clip(high=1, input=x).to_dense().tolist() == [[0, 1], [-3.5, 0]]
        for args in ((sz.tensor([1.0]), x), (x, x)):
            with pytest.raises(sz.TypeMismatch, match=r"for this argument.*to_dense\(\)"):
                sz.clip(*args)
        with pytest.raises(sz.InvalidArgument, match="mode"):
            sz.rint(x, "SIDEWAYS")


class TestTwoSparse:
    @pytest.mark.parametrize("name", BINARY)
    def test_as_if_they_were_dense(self, name: str) -> None:
        function, random = getattr(sz, name), Random(name)
        kept = 0
        for dtype in random.sample(NAMES, 8):
            for shape, other in [((3, 4), (3, 4)), *random.sample(BROADCAST, 3)]:
                x = distinct(random, shape, dtype, random.choice(layouts(shape)))
                y = distinct(random, other, dtype, random.choice(layouts(other)))
                kept += _compare_two(name, function, x, y)
        refused = "div floordiv true_divide mod pow equal greater_equal less_equal".split()
        assert (kept == 0) == (name in refused)

    @pytest.mark.parametrize("rules", sorted(sz.rule_sets()))
    def test_every_rule_set(self, rules: str) -> None:
        random = Random(rules)
        pairs = [(a, b) for a in NAMES for b in NAMES]
        with sz.promotion(rules):
            for name in ("add", "mul", "max", "greater", "not_equal", "logical_and"):
                for a, b in random.sample(pairs, 3):
                    for shape, other in (((2, 3), (2, 3)), ((3,), ()), ((), ())):
                        x, y = distinct(random, shape, a), distinct(random, other, b)
                        _compare_two(name, getattr(sz, name), x, y)

    def test_no_zero_is_stored(self) -> None:
        x: Any = sz.create_sparse_tensor((2, 2), [[0, 0], [0, 1]], [1, -2])
        y: Any = sz.create_sparse_tensor((2, 2), [[0, 0], [1, 1]], [1, 5])
        for layout in ("coo", "csr"):
            x, y = sz.to_sparse(x, layout), sz.to_sparse(y, layout)
            assert (x - y).indices.tolist() == [[0, 1], [1, 1]]
            assert (x * y).indices.tolist() == [[0, 0]]
            assert (x > y).nnz == 0
            assert (x < y).values.tolist() == [True, True]
            assert {r.layout for r in (x - y, x * y, x > y)} == {x.layout}

    def test_layouts(self) -> None:
        coo = sz.create_sparse_tensor((1, 2), [[0, 0]], [1])
        csr = coo.to_csr()
        kinds = {
            (a.layout.type.name, b.layout.type.name): (a + b).layout.type.name
            for a in (coo, csr)
            for b in (coo, csr)
        }
        expected = {("COO", "COO"): "COO", ("CSR", "CSR"): "CSR"}
        assert kinds == expected | {("COO", "CSR"): "COO", ("CSR", "COO"): "COO"}

    def test_infinity_times_a_zero_that_is_not_stored(self) -> None:
        x = sz.create_sparse_tensor((3,), [[0], [1]], [math.inf, -2])
        y = sz.create_sparse_tensor((3,), [[2]], [math.nan])
        assert str((x * y).to_dense().tolist()) == "[nan, 0.0, nan]"

    def test_shapes_that_do_not_go_together(self) -> None:
        x = sz.create_sparse_tensor((2,), [], [])
        y = sz.create_sparse_tensor((3,), [], [])
        with pytest.raises(sz.DimensionsMismatch, match=r"x has shape \(2,\) and y has shape"):
            x + y
        with pytest.raises(sz.InvalidArgument, match="max"):
            sz.max(x, y)


def _compare_two(name: str, function: Any, x: sz.SparseTensor, y: sz.SparseTensor) -> bool:
    """Hold an operator of two sparse tensors against the dense one."""
    # What refuses two zeros refuses before it looks at the elements.
    zeros = [sz.tensor(np.zeros((1,) * t.ndim), t.dtype) for t in (x, y)]
    at_zero = outcome(function, *zeros)
    got = outcome(function, x, y)
    if isinstance(at_zero, sz.StatusError):
        assert (type(got), str(got)) == (type(at_zero), str(at_zero))
        return False
    if np.asarray(at_zero.numpy()).astype(complex) != 0:
        assert isinstance(got, sz.TypeMismatch)
        assert "to_dense()" in str(got)
        return False
    expected = outcome(function, x.to_dense(), y.to_dense())
    if isinstance(expected, sz.StatusError):
        # A shift that is too far is refused even where there is nothing to shift.
        assert type(got) is type(expected) or ("shift" in name and got.size == 0)
        return False
    same(got.to_dense(), expected, signs=name != "mul")
    assert got.is_coalesced
    assert not any(bits(v)[2] == bytes(v.dtype.itemsize) for v in got.values)
    return True


class TestWithDense:
    @pytest.mark.parametrize("name", BINARY)
    def test_as_if_it_were_dense(self, name: str) -> None:
        function, random = getattr(sz, name), Random(name)
        either = name in ("mul", "logical_and", "bitwise_and")
        first = name in ("div", "floordiv", "true_divide", "mod") or "shift" in name
        for dtype in random.sample(NAMES, 8):
            for shape, other in [((3, 4), (3, 4)), *random.sample(BROADCAST, 3)]:
                x = distinct(random, shape, dtype, random.choice(layouts(shape)))
                y = sz.tensor(numbers(random, dtype, math.prod(other)).reshape(other))
                for swap in (False, True):
                    got = outcome(function, *((y, x) if swap else (x, y)))
                    plain = (y, x.to_dense()) if swap else (x.to_dense(), y)
                    expected = outcome(function, *plain)
                    if isinstance(expected, sz.StatusError):
                        assert type(got) is type(expected)
                        continue
                    if isinstance(got, sz.StatusError):
                        # Zeros that are not stored are divided, too, though there are none.
                        assert isinstance(got, sz.DivisionByZero)
                        continue
                    assert isinstance(got, sz.SparseTensor) == (either or (first and not swap))
                    if isinstance(got, sz.SparseTensor):
                        same(got.to_dense(), expected, signs=False)
                        assert got.is_coalesced
                    else:
                        same(got, expected)

    @pytest.mark.parametrize("rules", sorted(sz.rule_sets()))
    def test_every_rule_set(self, rules: str) -> None:
        random = Random(rules)
        pairs = [(a, b) for a in NAMES for b in NAMES]
        with sz.promotion(rules):
            for name in ("add", "mul", "greater", "true_divide"):
                for a, b in random.sample(pairs, 3):
                    for shape, other in (((2, 3), (3,)), ((3,), ()), ((), (2,))):
                        x = distinct(random, shape, a)
                        y = sz.tensor(numbers(random, b, math.prod(other)).reshape(other))
                        got = outcome(getattr(sz, name), x, y)
                        expected = outcome(getattr(sz, name), x.to_dense(), y)
                        if isinstance(expected, sz.StatusError):
                            assert (type(got), str(got)) == (type(expected), str(expected))
                        elif isinstance(got, sz.SparseTensor):
                            same(got.to_dense(), expected, signs=False)
                        else:
                            same(got, expected)

    def test_nan_is_stored_where_the_dense_one_is_not_finite(self) -> None:
        x = sz.create_sparse_tensor((2, 3), [[0, 0]], [2], layout="csr")
        got = x * sz.tensor([3, math.inf, math.nan])
        assert str(got.to_dense().tolist()) == "[[6.0, nan, nan], [0.0, nan, nan]]"
        assert (got.nnz, got.layout) == (5, x.layout)
        assert str((x / sz.tensor([[0], [1]])).to_dense().tolist()) == (
            "[[inf, nan, nan], [0.0, 0.0, 0.0]]"
        )

    def test_a_large_sparse_tensor_is_not_made_dense(self) -> None:
        x = sz.create_sparse_tensor((10**9, 10**9), [[5, 7], [10**9 - 1, 0]], [1, 2])
        assert (x * sz.tensor(3.0)).values.tolist() == [3, 6]
        assert (x / sz.tensor([4.0])).values.tolist() == [0.25, 0.5]
        with pytest.raises(sz.AllocFailed, match=r"add \(7\.2\.4\.1\)"):
            x + sz.tensor(3.0)
        with pytest.raises(sz.AllocFailed, match=r"mul \(7\.2\.4\.3\)"):
            x * sz.tensor(math.inf)

    def test_numpy_arrays_on_either_side(self) -> None:
        x = sz.create_sparse_tensor((2,), [[1]], [2])
        for got in (x * np.array([3, 4], np.float32), np.array([3, 4], np.float32) * x):
            assert got.to_dense().tolist() == [0, 8]
        got = np.array([3, 4], np.float32) - x
        assert isinstance(got, sz.Tensor)
        assert got.tolist() == [3, 2]


class TestWithNumbers:
    @pytest.mark.parametrize("name", BINARY)
    @pytest.mark.parametrize("rules", ["cann", "numpy", "lossless", "strict"])
    def test_as_if_it_were_dense(self, name: str, rules: str) -> None:
        function, random = getattr(sz, name), Random(f"{name} {rules}")
        with sz.promotion(rules):
            for dtype in random.sample(NAMES, 4):
                for number in random.sample((0, 2, -3, 1.5, True, 1j, 10**30, math.inf, -0.0), 2):
                    for shape in ((3, 4), ()):
                        x = distinct(random, shape, dtype)
                        zero = sz.tensor(np.zeros((1,) * x.ndim), x.dtype)
                        for swap in (False, True):
                            args = [(number, t) if swap else (t, number) for t in (zero, x)]
                            at_zero, got = (outcome(function, *a) for a in args)
                            if isinstance(at_zero, sz.StatusError):
                                assert type(got) is type(at_zero)
                                continue
                            if np.asarray(at_zero.numpy()).astype(complex) != 0:
                                assert isinstance(got, sz.TypeMismatch)
                                assert "to_dense()" in str(got)
                                continue
                            dense = x.to_dense()
                            plain = (number, dense) if swap else (dense, number)
                            expected = outcome(function, *plain)
                            if isinstance(expected, sz.StatusError):
                                assert type(got) is type(expected)
                            else:
                                same(got.to_dense(), expected, signs=False)

    def test_symbols(self) -> None:
        x = sz.create_sparse_tensor((3,), [[0], [2]], [6, -4], sz.int32)
        for got, expected in (
            (x * 2, [12, 0, -8]), (2 * x, [12, 0, -8]), (x // 4, [1, 0, -1]), (x % 4, [2, 0, 0]),
            (x**2, [36, 0, 16]), (x / 2, [3, 0, -2]), (x << 1, [12, 0, -8]), (x >> 1, [3, 0, -2]),
            (x & 2, [2, 0, 0]), (x > 0, [True, False, False]), (x < -2, [False, False, True]),
            (x != 0, [True, False, True]), (x < 0, [False, False, True]), (-x, [-6, 0, 4]),
            (abs(x), [6, 0, 4]), (+x, [6, 0, -4]), (x | x, [6, 0, -4]), (x ^ x, [0, 0, 0]),
            (x - x, [0, 0, 0]), (sz.max(x, 0), [6, 0, 0]),
        ):  # fmt: skip
            assert isinstance(got, sz.SparseTensor)
            assert got.to_dense().tolist() == expected
        for refused in (
            lambda: x + 1, lambda: 1 - x, lambda: x >= 0, lambda: x == 0, lambda: x == x,
            lambda: ~x, lambda: x**0, lambda: 2**x,
        ):  # fmt: skip
            with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)"):
                refused()
        assert (x == None) is False  # noqa: E711
        assert (x == "text") is False
        for wrong in ("text", None, object()):
            with pytest.raises(TypeError):
                x + wrong


class TestDispatch:
    def test_what_has_no_sparse_form_says_so(self) -> None:
        x: Any = sz.create_sparse_tensor((2, 2), [], [])
        for call in (
            lambda: sz.where(x, 1, 2),
            lambda: sz.trace(x),
            lambda: sz.muladd(x, x, x),
        ):
            with pytest.raises(
                sz.TypeMismatch, match=r"sparse tensors are not supported.*to_dense\(\)"
            ):
                call()
        with pytest.raises(sz.TypeMismatch, match=r"concat \(7\.2\.3\.7\)"):
            x.__suanzi_operator__("concat", ([x, x], 0), {})

    def test_arguments_go_by_name(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A declaration may leave out the length of an array, which moves what follows it."""

        def reduce(input: Any, mode: Any = "SUM", axis: Any = None, keep_dims: Any = False) -> Any:
            raise NotImplementedError

        declared = replace(REGISTRY["abs"], name="reduce", clause="7.2.13.1", function=reduce)
        monkeypatch.setitem(REGISTRY, "reduce", declared)
        x = sz.create_sparse_tensor((2, 2), [[0, 1]], [5])
        assert x.__suanzi_operator__("reduce", (x, "SUM", 0, True), {}).shape == (1, 2)
        assert x.__suanzi_operator__("reduce", (), {"axis": 1, "input": x}).shape == (2,)
        assert x.reduce("MAX", 0, keep_dims=True).shape == (1, 2)
        with pytest.raises(sz.TypeMismatch, match="for this argument"):
            x.__suanzi_operator__("reduce", (sz.tensor([1]),), {"axis": x})

    def test_another_way_is_left_to_the_other(self) -> None:
        class Other:
            def __suanzi_operator__(self, name: str, args: Any, kwargs: Any) -> Any:
                return name

        x: Any = sz.create_sparse_tensor((2, 2), [], [])
        assert sz.add(x, Other()) == "add"

    def test_none_and_nonsense(self) -> None:
        x: Any = sz.create_sparse_tensor((2,), [], [])
        with pytest.raises(sz.UninitializedObject, match="y is None"):
            sz.add(x, None)
        with pytest.raises(sz.TypeMismatch, match="x is a str"):
            sz.add("text", x)
        with pytest.raises(TypeError):
            sz.add(x)
        with pytest.raises(TypeError):
            sz.sin(x, x)

    def test_queries(self) -> None:
        x = make(Random(1), (2, 3), "int8")
        call = x.__suanzi_operator__
        assert call("rank", (x,), {}) == 2
        assert call("size", (x,), {}) == 6
        got = call("shape", (), {"input": x})
        assert (got.dtype, got.tolist()) == (sz.int32, [2, 3])
        far = sz.create_sparse_tensor((2**31,), [], [])
        with pytest.raises(sz.InvalidArgument, match=r"shape \(7\.2\.2\.1\)"):
            call("shape", (far,), {})

    def test_duplicate_and_destroy(self) -> None:
        x = make(Random(1), (2, 3), "int8", "csr")
        other = x.__suanzi_operator__("duplicate", (x,), {})
        assert repr(other) == repr(x)
        assert other.storage != x.storage
        moved = x.reshape((3, 2))
        assert x.__suanzi_operator__("destroy", (x,), {}) is None
        assert repr(x) == "SparseTensor(destroyed)"
        moved.to_dense()  # other tensors on the memory stay
        for use in (
            lambda: x + other, lambda: other + x, lambda: x.values, lambda: x.to_dense(),
            lambda: x.shape, lambda: x.__suanzi_operator__("destroy", (x,), {}), lambda: x.layout,
        ):  # fmt: skip
            with pytest.raises(sz.UninitializedObject, match="destroyed"):
                use()

    def test_allclose(self) -> None:
        x: Any = sz.create_sparse_tensor((2,), [[0]], [1])
        y: Any = sz.create_sparse_tensor((2,), [[0], [1]], [1, 1e-9])
        assert sz.allclose(x, y).tolist() == [True]
        assert sz.allclose(x, y=sz.tensor([1, 1]), atol=0).tolist() == [False]


@pytest.mark.parametrize("op", ["floordiv", "mul", "mod", "true_divide"])
def test_nothing_repeated_to_a_shape_beyond_numpys_is_a_status(op: str) -> None:
    for stored in ([0], [1]):
        with pytest.raises(sz.AllocFailed):
            getattr(sz, op)(sz.to_sparse(sz.tensor(stored)), sz.empty((0, 2**62), sz.int64))
