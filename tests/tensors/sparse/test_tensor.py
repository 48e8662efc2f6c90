"""Sparse tensors: what they store, and how they become dense."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from random import Random

import numpy as np
import pytest

import suanzi as sz
from helpers.sparse_cases import NAMES, SHAPES, bits, distinct, indices, make, places, same
from suanzi import _core

EXAMPLE = [[0, 2], [1, 0], [0, 2]]


def example(layout: str = "coo") -> sz.SparseTensor:
    return sz.create_sparse_tensor((2, 3), EXAMPLE, [5, 7, 1], sz.int8, layout=layout)


class TestWhatItIs:
    def test_coo(self) -> None:
        x = example()
        assert (x.dtype, x.shape, x.ndim, x.size, x.nnz) == (sz.int8, (2, 3), 2, 6, 3)
        assert x.layout == sz.Layout(sz.LayoutType.COO, (1, 0))
        assert x.device == sz.Device("cpu")
        assert (x.indices.dtype, x.indices.tolist()) == (sz.int64, EXAMPLE)
        assert (x.values.dtype, x.values.tolist()) == (sz.int8, [5, 7, 1])
        assert (x.storage.size, x.storage) == (3, x.values.storage)
        assert not x.is_coalesced

    def test_csr(self) -> None:
        x = example("csr")
        assert x.layout == sz.Layout(sz.LayoutType.CSR, (1, 0))
        assert x.row_pointers.tolist() == [0, 1, 2]
        assert x.columns.tolist() == [2, 0]
        assert x.values.tolist() == [6, 7]
        assert x.indices.tolist() == [[0, 2], [1, 0]]
        assert x.is_coalesced
        assert x.to_coo().indices.tolist() == [[0, 2], [1, 0]]
        assert x.to_csr() is x

    def test_coalesce_sorts_and_adds(self) -> None:
        x = example().coalesce()
        assert (x.indices.tolist(), x.values.tolist()) == ([[0, 2], [1, 0]], [6, 7])
        assert x.coalesce() is x
        assert x.to_coo() is x

    def test_a_coo_tensor_has_no_rows(self) -> None:
        for name in ("row_pointers", "columns"):
            with pytest.raises(sz.TypeMismatch, match=r"use to_csr\(\)"):
                getattr(example(), name)
        with pytest.raises(sz.InvalidArgument, match="3 axes"):
            sz.create_sparse_tensor((1, 1, 1), [], []).to_csr()

    def test_it_prints(self) -> None:
        assert repr(example()) == (
            "SparseTensor({(0, 2): 5, (1, 0): 7, (0, 2): 1}, shape=(2, 3), dtype=int8, layout=coo)"
        )
        assert repr(example("csr")) == (
            "SparseTensor({(0, 2): 6, (1, 0): 7}, shape=(2, 3), dtype=int8, layout=csr)"
        )
        empty = sz.create_sparse_tensor((), [], [], sz.bfloat16)
        assert repr(empty) == "SparseTensor({}, shape=(), dtype=bfloat16, layout=coo)"
        for layout in ("coo", "csr"):
            many = sz.to_sparse(sz.tensor(np.diag(np.arange(1.0, 10))), layout)
            assert repr(many) == (
                "SparseTensor({(0, 0): 1, (1, 1): 2, (2, 2): 3, ..., (6, 6): 7, (7, 7): 8, "
                f"(8, 8): 9}},\n             shape=(9, 9), nnz=9, dtype=float64, layout={layout})"
            )
        far = sz.create_sparse_tensor((2**40,) * 3, [[2**39] * 3] * 4, [0.1] * 4)
        assert repr(far).count("\n") == 5

    def test_copies_have_their_own_memory(self) -> None:
        for x in (example(), example("csr")):
            for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
                assert isinstance(made, sz.SparseTensor)
                assert repr(made) == repr(x)
                made.values.numpy()[0] = 99
                made.indices.numpy()[0] = 1
                assert repr(made) != repr(x)
                assert repr(x) == repr(example(x.layout.type.name))

    def test_item_and_truth(self) -> None:
        assert sz.create_sparse_tensor((1, 1), [[0, 0]], [5]).item() == 5.0
        assert not sz.create_sparse_tensor((), [], [])
        assert sz.create_sparse_tensor((), [[], []], [1, 1]).item() == 2.0
        for use in (lambda: example().item(), lambda: bool(example())):
            with pytest.raises(sz.InvalidArgument, match="6 elements"):
                use()

    def test_numpy_does_not_make_it_dense_unasked(self) -> None:
        with pytest.raises(sz.TypeMismatch, match=r"to_dense\(\)"):
            np.asarray(example())

    def test_more_elements_than_an_int64_counts(self) -> None:
        shape = (2**40, 2**40, 3)
        where = [[5, 2**39, 1], [2**40 - 1, 0, 0], [5, 2**39, 0], [5, 2**39, 1]]
        x = sz.create_sparse_tensor(shape, where, [1, 2, 4, 8], sz.int16)
        assert x.size == 3 * 2**80
        assert not x.is_coalesced
        both = (x + x).coalesce()
        assert both.indices.tolist() == [[5, 2**39, 0], [5, 2**39, 1], [2**40 - 1, 0, 0]]
        assert both.values.tolist() == [8, 18, 4]
        assert x.reduce("SUM").item() == 15
        assert x.reduce("SUM", axis=(0, 1)).to_dense().tolist() == [6, 9, 0]
        with pytest.raises(sz.AllocFailed, match="to_dense"):
            x.to_dense()
        with pytest.raises(sz.AllocFailed, match="reshape"):
            x.reshape((3, 2**40, 2**40))
        with pytest.raises(sz.AllocFailed, match="keep it in COO"):
            sz.create_sparse_tensor((2**50, 2), [], []).to_csr()
        with pytest.raises(sz.AllocFailed, match=r"create_sparse_tensor \(7\.2\.1\.14\)"):
            sz.create_sparse_tensor((2**50, 2), [], [], layout="csr")
        tall = sz.create_sparse_tensor((2**50, 0), [], [])
        assert tall.reduce("SUM", 1).nnz == 0
        with pytest.raises(sz.AllocFailed, match=r"reduce \(7\.2\.13\.1\)"):
            tall.reduce("PROD", 1)
        with pytest.raises(sz.AllocFailed, match=r"matmul \(7\.2\.17\.1\)"):
            tall @ sz.tensor(np.ones((0, 2)))


class TestDense:
    @pytest.mark.parametrize("name", NAMES)
    def test_there_and_back(self, name: str) -> None:
        """Every bit is kept, those of -0.0 and NaN among them."""
        random = Random(name)
        for shape in SHAPES:
            dense = distinct(random, shape, name).to_dense()
            for layout in ("coo", "csr") if len(shape) == 2 else ("coo",):
                x = sz.to_sparse(dense, layout)
                assert bits(x.to_dense()) == bits(dense)
                assert x.is_coalesced
                assert x.layout.type.name.lower() == layout

    @pytest.mark.parametrize("name", NAMES)
    def test_duplicates_add_up(self, name: str) -> None:
        random = Random(name)
        for shape in SHAPES:
            for layout in ("coo", "csr") if len(shape) == 2 else ("coo",):
                found = places(random, shape, random.randrange(30))
                top = 1 if name in ("bool", "uint1") else 3
                values = [random.randint(0, top) for _ in found]
                x = sz.create_sparse_tensor(
                    shape, indices(found, len(shape)), values, sz.dtype(name), layout=layout
                )
                total: dict[tuple[int, ...], int] = {}
                for place, value in zip(found, values, strict=True):
                    total[place] = total.get(place, 0) + value
                expected = np.zeros(shape, np.int64)
                for place, value in total.items():
                    expected[place] = _wrapped(name, value)
                got = x.to_dense()
                assert got.dtype is sz.dtype(name)
                assert np.array_equal(np.asarray(got.numpy()).astype(complex), expected)

    @pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
    def test_narrow_duplicates_are_rounded_once(self, name: str) -> None:
        """float32 adds these exactly; only the sum is rounded."""
        random = Random(name)
        choice = [Fraction(n, 16) for n in range(-8, 9)]
        for _ in range(50):
            values = [random.choice(choice) for _ in range(random.randrange(1, 20))]
            x = sz.create_sparse_tensor(
                (1,), [[0]] * len(values), [float(v) for v in values], sz.dtype(name)
            )
            assert x.to_dense().tolist() == sz.tensor([float(sum(values))], sz.dtype(name)).tolist()

    def test_many_duplicates_are_added_pairwise(self) -> None:
        """One after the other, the error would be a hundred times as large."""
        n = 2**17
        tenth = np.full(n, 0.1, np.float32)
        x = sz.SparseTensor(
            (1,), sz.LayoutType.COO, (np.zeros((1, n), np.int64),), sz.tensor(tenth)
        )
        exact = n * Fraction(float(tenth[0]))
        (got,) = x.coalesce().values.tolist()
        assert abs(Fraction(got) - exact) <= exact / 2**22
        one_by_one = float(np.cumsum(tenth, dtype=np.float32)[-1])
        assert abs(Fraction(one_by_one) - exact) > exact / 2**16

    def test_views_and_columns_first(self) -> None:
        array = np.arange(24.0).reshape(4, 6) % 5
        for view in (array.T, array[::2, ::-1], np.asfortranarray(array), array[1:, 2]):
            assert np.array_equal(sz.to_sparse(sz.from_dlpack(view)).to_dense().numpy(), view)

    def test_what_can_become_sparse(self) -> None:
        assert sz.to_sparse([[0, 1]]).nnz == 1
        assert sz.to_sparse(np.eye(3)).nnz == 3
        assert sz.to_sparse(example(), "csr").layout.type is sz.LayoutType.CSR
        quantised = sz.tensor([1, 2], sz.QT_SYM_INT8)
        destroyed = sz.tensor([1.0])
        _core.destroy(destroyed)
        for error, x, layout, text in (
            (sz.TypeMismatch, sz.tensor("text"), "coo", "x is char"),
            (sz.TypeMismatch, quantised, "coo", r"sz\.cast\(x, sz\.float32\)"),
            (sz.TypeMismatch, object(), "coo", "elements are Python numbers"),
            (sz.UninitializedObject, None, "coo", "None"),
            (sz.UninitializedObject, destroyed, "coo", "destroyed"),
            (sz.InvalidArgument, [[1]], "csc", "'coo' or 'csr'"),
            (sz.InvalidArgument, [[1]], sz.LayoutType.DENSE, "'coo' or 'csr'"),
            (sz.InvalidArgument, [1], "csr", "two axes"),
            (sz.InvalidArgument, example(), 7, "'coo' or 'csr'"),
        ):
            with pytest.raises(error, match=text):
                sz.to_sparse(x, layout)

    def test_zeros_that_are_stored_stay(self) -> None:
        x = sz.create_sparse_tensor((2, 2), [[0, 0], [1, 1]], [0, 3])
        assert x.nnz == x.coalesce().nnz == x.to_csr().nnz == 2
        assert x.to_dense().tolist() == [[0, 0], [0, 3]]


def _wrapped(name: str, value: int) -> int:
    if name == "bool":
        return min(value, 1)
    if not name.startswith(("int", "uint")):
        limit = {"float8_e4m3fn": 16, "float8_e5m2": 8}.get(name, 2**20)
        if value > limit:
            return int(sz.tensor(value, sz.dtype(name)).item().real)  # type: ignore[union-attr]
        return value
    width = int(name.lstrip("uint"))
    value %= 2**width
    return value - 2**width if name[0] == "i" and value >= 2 ** (width - 1) else value


def test_make_makes_duplicates() -> None:
    """The tests that follow would show little without."""
    random = Random(0)
    made = [make(random, (2, 3, 4), "float32") for _ in range(10)]
    assert sum(not x.is_coalesced for x in made) > 5
    same(made[0].to_dense(), made[0].coalesce().to_dense())


@pytest.mark.parametrize("name", ["int8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize(
    ("rows", "columns", "count"), [(1, 5, 9), (3, 2**31 - 1, 40), (7, 400, 700), (5000, 300, 20000)]
)
def test_rows_are_put_in_order(name: str, rows: int, columns: int, count: int) -> None:
    """Rows of few and of many elements, in any order, some of them twice: against a dict."""
    random = np.random.default_rng(count)
    at = np.stack([random.integers(0, rows, count), random.integers(0, columns, count)], 1)
    at[-3:] = rows - 1, columns - 1  # the last place of all, several times
    values = random.integers(-3, 4, count)
    expected: dict[tuple[int, int], int] = {}
    for place, value in zip(map(tuple, at.tolist()), values.tolist(), strict=True):
        expected[place] = expected.get(place, 0) + value
    x = sz.create_sparse_tensor((rows, columns), at.tolist(), values.tolist(), sz.dtype(name))
    y = x.to_csr()
    assert [tuple(place) for place in y.indices.tolist()] == sorted(expected)
    assert y.values.tolist() == [expected[place] for place in sorted(expected)]
    counts = np.bincount([r for r, _ in expected], minlength=rows)
    assert y.row_pointers.tolist() == [0, *np.cumsum(counts).tolist()]
    again = x.coalesce().to_csr()
    assert again.columns.tolist() == y.columns.tolist()


def test_what_is_in_order_keeps_its_values() -> None:
    x = sz.create_sparse_tensor((3, 4), [[0, 1], [0, 3], [2, 0]], [1, 2, 3])
    fresh = sz.SparseTensor(x.shape, x.layout.type, (x.coordinates,), x.values)
    y = fresh.to_csr()
    assert y.values is fresh.values
    assert fresh.is_coalesced
    assert (y.row_pointers.tolist(), y.columns.tolist()) == ([0, 2, 2, 3], [1, 3, 0])
