"""Sparse tensors and the arrays of SciPy and pydata/sparse, and files."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import suanzi as sz
from helpers.sparse_cases import NAMES, SHAPES, bits, make

SCIPY = """bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 complex64
    complex128""".split()


class TestSciPy:
    @pytest.mark.parametrize("layout", ["coo", "csr"])
    @pytest.mark.parametrize("name", SCIPY)
    def test_there_and_back_without_a_copy(self, name: str, layout: str) -> None:
        random = Random(name)
        for shape in ((6, 5), (0, 3), (3, 0), (1, 1)):
            x = make(random, shape, name, layout)
            array = x.to_scipy()
            assert (array.format, array.shape, array.dtype) == (layout, shape, np.dtype(name))
            assert array.nnz == x.nnz
            with np.errstate(all="ignore"):
                if name != "bool":  # SciPy adds bools up as well as we do, but says so only in COO
                    total = array.toarray()
                    again = sz.from_scipy(array).to_dense().numpy()
                    assert np.array_equal(total, again, equal_nan="o" in name or "x" in name)
            back = sz.from_scipy(array)
            assert back.layout == x.layout
            assert repr(back) == repr(x)
            assert bits(back.values) == bits(x.values)
            if x.nnz and name != "bool":
                shared = array.data.ctypes.data == x.values.storage.data
                assert shared == x.is_coalesced
                assert back.values.storage.data == array.data.ctypes.data

    def test_what_scipy_does_in_place_leaves_the_tensor_as_it_is(self) -> None:
        x = sz.from_scipy(scipy.sparse.csr_array(([1.0, 2, 4], [2, 0, 2], [0, 3, 3]), shape=(2, 3)))
        for one in (x, x.to_coo()):
            before = repr(one)
            one.to_scipy().sum_duplicates()
            assert repr(one) == before

    @pytest.mark.parametrize("name", [n for n in NAMES if n not in SCIPY])
    def test_dtypes_scipy_does_not_have(self, name: str) -> None:
        x = make(Random(1), (2, 3), name)
        with pytest.raises(sz.TypeMismatch, match=r"sz\.cast\(x, sz\.\w+\)") as error:
            x.to_scipy()
        mended: Any = sz.cast(x, str(error.value).split("sz.")[-1].rstrip(".)"))  # type: ignore[arg-type]
        assert mended.to_scipy().shape == (2, 3)

    @pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
    def test_every_format(self, form: str) -> None:
        dense = np.array([[0, 1.5, 0], [2, 0, 0]])
        for make_one in (scipy.sparse.coo_array, scipy.sparse.coo_matrix):
            x = sz.from_scipy(make_one(dense).asformat(form))
            assert x.layout.type.name == ("CSR" if form == "csr" else "COO")
            assert x.to_dense().tolist() == dense.tolist()

    def test_any_rank_where_scipy_has_it(self) -> None:
        for shape in ((4,), (2, 3, 4)):
            x = make(Random(2), shape, "float32")
            try:
                array = x.to_scipy()
            except sz.TypeMismatch as error:
                pytest.skip(str(error))
            assert repr(sz.from_scipy(array)) == repr(x)

    def test_unsorted_csr_with_duplicates_and_room_behind(self) -> None:
        array = scipy.sparse.csr_array(([1.0, 2, 4], [2, 0, 2], [0, 3, 3]), shape=(2, 3))
        array.data = np.append(array.data, 99.0)
        array.indices = np.append(array.indices, 99)
        x = sz.from_scipy(array)
        assert (x.nnz, x.is_coalesced) == (3, False)
        assert x.to_dense().tolist() == [[2, 0, 5], [0, 0, 0]]
        assert x.coalesce().columns.tolist() == [0, 2]
        assert (x + x).to_dense().tolist() == [[4, 0, 10], [0, 0, 0]]
        assert (x @ sz.tensor([1.0, 1, 1], sz.float64)).tolist() == [7, 0]
        assert sz.sqrt(x * x).to_dense().tolist() == [[2, 0, 5], [0, 0, 0]]  # type: ignore[attr-defined]

    def test_damaged_arrays_are_refused(self) -> None:
        """SciPy does not look, and would read beyond the memory."""
        for name, wrong in (
            ("indices", [0, 9]), ("indices", [-1, 0]), ("indptr", [0, 2, 1]), ("indptr", [1, 1, 2]),
            ("indices", [0]),
        ):  # fmt: skip
            array = scipy.sparse.csr_array(([1.0, 2], [0, 1], [0, 1, 2]), shape=(2, 3))
            setattr(array, name, np.array(wrong, np.int32))
            with pytest.raises(sz.InvalidArgument, match=r"^from_scipy: .*\.$"):
                sz.from_scipy(array)
        array = scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(2, 3))
        array.col = np.array([3])
        with pytest.raises(sz.InvalidArgument, match="axis 1"):
            sz.from_scipy(array)

    def test_what_is_refused(self) -> None:
        with pytest.raises(sz.UninitializedObject, match="None"):
            sz.from_scipy(None)
        with pytest.raises(sz.TypeMismatch, match=r"sz\.to_sparse"):
            sz.from_scipy(np.eye(2))
        with pytest.raises(sz.TypeMismatch, match="longdouble|float128|no dtype"):
            sz.from_scipy(scipy.sparse.csr_array(np.eye(2, dtype=np.longdouble)))


class TestPydataSparse:
    sparse = None

    @pytest.fixture(autouse=True)
    def _sparse(self) -> None:
        self.sparse = pytest.importorskip("sparse", reason="pydata/sparse is not installed")
        if not hasattr(self.sparse, "COO"):  # a folder of that name on the path is a module, too
            pytest.skip("pydata/sparse is not installed")

    @pytest.mark.parametrize("name", [*SCIPY, "float16"])
    def test_there_and_back(self, name: str) -> None:
        random = Random(name)
        for shape in SHAPES:
            x = make(random, shape, name).coalesce()
            array = x.to_pydata_sparse()
            assert (array.shape, array.dtype) == (shape, np.dtype(name))
            back = sz.from_pydata_sparse(array)
            assert repr(back) == repr(x)
            assert bits(back.to_dense()) == bits(x.to_dense())
            if x.nnz and name != "bool":
                assert array.data.ctypes.data == x.values.storage.data
                assert back.values.storage.data == x.values.storage.data

    def test_duplicates(self) -> None:
        x = sz.create_sparse_tensor((3,), [[1], [1], [0]], [1, 2, 4])
        assert x.to_pydata_sparse().todense().tolist() == [4, 3, 0]

    def test_other_formats(self) -> None:
        assert self.sparse is not None
        dense = np.array([[0, 1.5], [2, 0]])
        for array in (self.sparse.GCXS.from_numpy(dense), self.sparse.DOK.from_numpy(dense)):
            assert sz.from_pydata_sparse(array).to_dense().tolist() == dense.tolist()

    def test_what_is_refused(self) -> None:
        assert self.sparse is not None
        with pytest.raises(sz.InvalidArgument, match="fill value is 1"):
            sz.from_pydata_sparse(self.sparse.COO.from_numpy(np.eye(2), fill_value=1))
        with pytest.raises(sz.UninitializedObject):
            sz.from_pydata_sparse(None)
        with pytest.raises(sz.TypeMismatch, match="ndarray"):
            sz.from_pydata_sparse(np.eye(2))
        with pytest.raises(sz.TypeMismatch, match=r"sz\.cast\(x, sz\.float32\)"):
            make(Random(1), (2,), "bfloat16").to_pydata_sparse()


class TestFiles:
    @pytest.mark.parametrize("name", NAMES)
    def test_saved_and_pickled(self, name: str) -> None:
        random = Random(name)
        for shape in SHAPES:
            for layout in ("coo", "csr") if len(shape) == 2 else ("coo",):
                x = make(random, shape, name, layout)
                file = io.BytesIO()
                sz.save(file, x)
                for back in (sz.load(file), pickle.loads(pickle.dumps(x))):
                    assert repr(back) == repr(x)
                    assert (back.layout, bits(back.values)) == (x.layout, bits(x.values))
                    assert back.indices.tolist() == x.indices.tolist()

    def test_beside_dense_tensors(self, tmp_path: Path) -> None:
        x, y = make(Random(1), (2, 3), "bfloat16"), sz.tensor([1, 2], sz.float16)
        sz.save(tmp_path / "both", {"x": x, "y": y})
        found = sz.load(tmp_path / "both")
        assert list(found) == ["x", "y"]
        assert (repr(found["x"]), repr(found["y"])) == (repr(x), repr(y))

    def test_files_without_a_sparse_tensor_stay_of_version_1(self) -> None:
        versions = []
        for x in (sz.tensor([1]), make(Random(1), (2,), "int8")):
            file = io.BytesIO()
            sz.save(file, x)
            with zipfile.ZipFile(file) as archive:
                versions.append(json.loads(archive.read("tensors.json"))["version"])
        assert versions == [1, 2]

    def test_a_destroyed_one_is_refused(self) -> None:
        x = make(Random(1), (2,), "int8")
        x.__suanzi_operator__("destroy", (x,), {})
        with pytest.raises(sz.UninitializedObject, match="save"):
            sz.save(io.BytesIO(), x)

    @pytest.mark.parametrize(
        ("path", "wrong"),
        [
            (["layout"], "csc"), (["layout"], "coo"), (["shape"], [2, 2]), (["shape"], [1, 3]),
            (["shape"], [2, -3]), (["shape"], "ab"), (["parts", 0, "dtype"], "float64"),
            (["parts", 2, "dtype"], "char"), (["parts"], []), (["parts", 1, "shape"], [1]),
            (["parts", 1, "shape"], [2, 1]), (["layout"], []),
        ],
    )  # fmt: skip
    def test_damaged_files_are_refused(self, path: list[Any], wrong: Any) -> None:
        file = io.BytesIO()
        sz.save(file, sz.create_sparse_tensor((2, 3), [[0, 1], [1, 2]], [1, 2], layout="csr"))
        with zipfile.ZipFile(file) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
        head = json.loads(entries["tensors.json"])
        target = head["tensors"][0]
        for key in path[:-1]:
            target = target[key]
        target[path[-1]] = wrong
        entries["tensors.json"] = json.dumps(head).encode()
        damaged = io.BytesIO()
        with zipfile.ZipFile(damaged, "w") as archive:
            for name, data in entries.items():
                archive.writestr(name, data)
        with pytest.raises(sz.InvalidArgument, match="not written by sz.save"):
            sz.load(damaged)
