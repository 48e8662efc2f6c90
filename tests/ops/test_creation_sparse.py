"""7.2.1.14: create_sparse_tensor: what it makes, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers.moves import destroyed, refused

USUAL: dict[str, Any] = {"shape": (2, 3), "indices": [[0, 2], [1, 0]], "values": [5, 7]}


class TestCreateSparseTensor:
    def test_the_example_of_the_standard_is_out_of_range(self) -> None:
        with pytest.raises(sz.InvalidArgument, match=r"create_sparse_tensor \(7\.2\.1\.14\).*axis"):
            sz.create_sparse_tensor((2, 3), [[1, 3], [2, 4]], [5, 7], sz.float32, "cpu", 2)

    @pytest.mark.parametrize("name", ["int8", "uint8", "int32", "uint64", "int4"])
    def test_indices_of_any_integer_dtype(self, name: str) -> None:
        where = sz.tensor([[1, 2], [0, 0]], sz.dtype(name))
        x = sz.create_sparse_tensor((2, 3), where, [1, 2])
        assert (x.indices.dtype, x.indices.tolist()) == (sz.int64, [[1, 2], [0, 0]])

    def test_values_convert_as_those_of_tensor(self) -> None:
        x = sz.create_sparse_tensor([3], [[0], [2]], [1.7, -1.7], sz.int8)
        assert x.values.tolist() == [1, -1]
        x = sz.create_sparse_tensor([3], [[0], [2]], sz.tensor([0.1, 1e30]), sz.float16)
        assert x.values.tolist() == sz.tensor([0.1, 1e30], sz.float16).tolist()
        array = np.array([1.0, 2.0], np.float32)
        x = sz.create_sparse_tensor((3,), [[0], [2]], array)
        array[:] = 9
        assert x.values.tolist() == [1, 2], "a copy"

    def test_nothing_stored(self) -> None:
        for where in ([], np.empty((0, 3), np.int32), sz.tensor(np.empty((0, 3), np.int64))):
            x = sz.create_sparse_tensor((2, 0, 3), where, [], sz.complex32, nnzs=0)
            assert (x.nnz, x.size, x.dtype) == (0, 0, sz.complex32)
            assert x.indices.shape == (0, 3)

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            ({"indices": [[0, 3]], "values": [1]}, "indices contain 3 for axis 1"),
            ({"indices": [[-1, 0]], "values": [1]}, "indices contain -1 for axis 0"),
            ({"indices": np.array([[2**64 - 1, 0]], np.uint64), "values": [1]}, "for axis 0"),
            ({"indices": [[2**70, 0]], "values": [1]}, "indices"),
            ({"indices": [[0.0, 1.0]], "values": [1]}, "indices are float32"),
            ({"indices": [[True, False]], "values": [1]}, "indices are bool"),
            ({"indices": [[0], [1]]}, "it must be (nnz, 2)"),
            ({"indices": [0, 1]}, "it must be (nnz, 2)"),
            ({"indices": [[0, 1], [1]]}, "unequal"),
            ({"indices": "text"}, "indices"),
            ({"indices": "", "values": []}, "indices are char"),
            ({"indices": object()}, "indices"),
            ({"values": [1]}, "they must have shape (2,)"),
            ({"values": [[1, 2]]}, "they must have shape (2,)"),
            ({"values": 1}, "they must have shape (2,)"),
            ({"values": [1, 300], "dtype": sz.int8}, "300"),
            ({"values": "ab"}, "values"),
            ({"values": [1, None]}, "values"),
            ({"values": sz.tensor([1, 2], sz.QT_SYM_INT8)}, "values"),
            ({"nnzs": 3}, "nnzs is 3"),
            ({"nnzs": True}, "nnzs is True"),
            ({"nnzs": 2.0}, "nnzs is 2.0"),
            ({"dtype": sz.char}, "dtype is char"),
            ({"dtype": sz.QT_SYM_INT8}, "dtype is QT_SYM_INT8; it takes integers"),
            ({"dtype": "float33"}, "float33"),
            ({"device": "npu"}, "no provider for npu"),
            ({"device": "abacus"}, "abacus"),
            ({"device": None}, "Device"),
            ({"layout": "csc"}, "'coo' or 'csr'"),
            ({"layout": None}, "'coo' or 'csr'"),
            ({"shape": (2, -3)}, "shape is"),
            ({"shape": (2, 2**63)}, "shape is"),
            ({"shape": (2, 3, 1), "layout": "csr", "indices": [], "values": []}, "two axes"),
            ({"shape": (2, 0)}, "there are none"),
        ],
    )
    def test_what_is_refused(self, arguments: dict[str, Any], text: str) -> None:
        refused(sz.InvalidArgument, "create_sparse_tensor", **(USUAL | arguments), match=text)

    @pytest.mark.parametrize("name", ["shape", "indices", "values"])
    def test_what_is_missing(self, name: str) -> None:
        for nothing in (None, destroyed()):
            given = USUAL | {name: nothing}
            refused(sz.UninitializedObject, "create_sparse_tensor", **given, match=f"{name} is")
