from __future__ import annotations

import io
import json
import math
import os
import pickle
import random
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from suanzi import _core
from suanzi.base.dtypes import DTYPES
from suanzi.tensors import saving
from suanzi.tensors.saving import FORMAT, VERSION


def sample(dt: sz.DType, shape: tuple[int, ...] = (2, 3)) -> sz.Tensor:
    """A tensor with every kind of bit pattern."""
    x: sz.Tensor = _core.empty(shape, dt)
    raw = random.Random(dt.name).randbytes(x.storage.nbytes)
    if dt.kind == "bool" or (dt.kind in ("int", "uint") and dt.bits < 8):
        raw = bytes(byte % 2 for byte in raw)
    x.storage.memory[:] = raw
    return x


def saved(tensors: Any) -> io.BytesIO:
    file = io.BytesIO()
    sz.save(file, tensors)
    return file


def through_file(x: sz.Tensor) -> sz.Tensor:
    found = sz.load(saved(x))
    assert isinstance(found, sz.Tensor)
    return found


def through_pickle(x: sz.Tensor) -> sz.Tensor:
    found = pickle.loads(pickle.dumps(x))
    assert isinstance(found, sz.Tensor)
    return found


def bits(x: sz.Tensor) -> bytes:
    return bytes(_core.row_major_copy(x).storage)


def check_same(x: sz.Tensor, y: sz.Tensor) -> None:
    assert y.dtype is x.dtype
    assert y.shape == x.shape
    assert bits(y) == bits(x)
    assert (y.scale, y.zero_point, y.channel_axis) == (x.scale, x.zero_point, x.channel_axis)
    assert y.storage != x.storage


@pytest.mark.parametrize("way", [through_file, through_pickle])
class TestRoundTrip:
    @pytest.mark.parametrize("dt", DTYPES, ids=str)
    @pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0, 3), (2, 3), (2,) * 9])
    def test_every_dtype(self, way: Any, dt: sz.DType, shape: tuple[int, ...]) -> None:
        check_same(sample(dt, shape), way(sample(dt, shape)))

    @pytest.mark.parametrize("order", [(2, 1, 0), (0, 1, 2), (1, 0, 2), (0, 2, 1)])
    def test_layouts(self, way: Any, order: tuple[int, ...]) -> None:
        shape, strides, stride = (2, 3, 4), [0, 0, 0], 1
        for axis in order:
            strides[axis], stride = stride, stride * shape[axis]
        # Not at the beginning of its storage.
        x: sz.Tensor = _core.view(sample(sz.int16, (30,)), 5, shape, strides)
        y = way(x)
        check_same(x, y)
        assert y.layout.min2maj == x.layout.min2maj == order

    @pytest.mark.parametrize("strides", [(6, 2), (-3, 1), (0, 1), (1, -2)])
    def test_views_with_gaps(self, way: Any, strides: tuple[int, ...]) -> None:
        x: sz.Tensor = _core.view(sample(sz.bfloat16, (40,)), 20, (2, 3), strides)
        y = way(x)
        check_same(x, y)
        assert y.layout.min2maj == (1, 0)

    def test_quantisation(self, way: Any) -> None:
        x, y = sample(sz.QT_ASYM_UINT8), sample(sz.QT_CH_SYM_INT16)
        _core.set_quantization(x, [0.1], 128, -1)
        _core.set_quantization(y, [0.1, 1e-30, 3e38], 0, 1)
        check_same(x, way(x))
        check_same(y, way(y))
        for row in y:
            check_same(row, way(row))

    def test_read_only_memory(self, way: Any) -> None:
        array = np.arange(3)
        array.flags.writeable = False
        check_same(sz.from_dlpack(array), way(sz.from_dlpack(array)))

    def test_what_is_loaded_can_be_written(self, way: Any) -> None:
        x = way(sample(sz.int8))
        _core.copy_into(x, 0)
        assert x.tolist() == [[0] * 3] * 2


class TestPickle:
    def test_damaged_parts(self) -> None:
        from suanzi.tensors.saving import from_parts, to_parts

        kind, shape, order, raw, *_ = to_parts(sample(sz.float32))
        with pytest.raises(sz.InvalidArgument):
            from_parts(kind, shape, order, raw[:-1], None)
        with pytest.raises(sz.InvalidArgument):
            from_parts(kind, (2**40, 2**40), order, raw, None)
        with pytest.raises(sz.InvalidArgument):
            from_parts(kind, shape, (0, 0), raw, None)
        for quantization in ([[1.0, 2.0], 0, None], [[1.0], 0, 0], [[1.0] * 3, 0, 5]):
            with pytest.raises(sz.InvalidArgument):
                from_parts(kind, shape, order, raw, quantization)

    def test_destroyed(self) -> None:
        x = sample(sz.int8)
        _core.destroy(x)
        with pytest.raises(sz.UninitializedObject):
            pickle.dumps(x)
        with pytest.raises(sz.UninitializedObject):
            sz.save(io.BytesIO(), {"x": x})


class TestNames:
    def test_dictionary(self) -> None:
        tensors = {
            "z": sample(sz.int8),
            "a/b": sample(sz.char),
            "权重": sample(sz.bool),
            "": sample(sz.int4),
        }
        found = sz.load(saved(tensors))
        assert isinstance(found, dict)
        assert list(found) == list(tensors)
        for name, x in tensors.items():
            check_same(x, found[name])

    @pytest.mark.parametrize("names", [[], [""], ["../../etc/passwd"], ["tensors.json", "data/0"]])
    def test_are_only_names(self, names: list[str]) -> None:
        found = sz.load(saved({name: sample(sz.int8) for name in names}))
        assert isinstance(found, dict)
        assert list(found) == names

    @pytest.mark.parametrize(
        "bad", [None, 1, [sz.tensor(1)], {"x": 1}, {1: sz.tensor(1)}, {None: sz.tensor(1)}, "x"]
    )
    def test_what_cannot_be_saved(self, bad: Any) -> None:
        file = io.BytesIO(b"before")
        with pytest.raises(sz.TypeMismatch, match="save"):
            sz.save(file, bad)
        assert file.getvalue() == b"before"


class TestFiles:
    @pytest.mark.parametrize("make", [str, Path])
    def test_paths(self, tmp_path: Path, make: Any) -> None:
        x = sample(sz.float8_e4m3fn)
        sz.save(make(tmp_path / "x"), x)
        found = sz.load(make(tmp_path / "x"))
        assert isinstance(found, sz.Tensor)
        check_same(x, found)
        assert [file.name for file in tmp_path.iterdir()] == ["x"]

    def test_open_files(self, tmp_path: Path) -> None:
        x = sample(sz.complex32)
        with open(tmp_path / "x", "w+b") as file:
            sz.save(file, x)
            for _ in range(2):
                found = sz.load(file)
                assert isinstance(found, sz.Tensor)
                check_same(x, found)
            assert not file.closed

    def test_missing(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            sz.load(tmp_path / "x")
        with pytest.raises(FileNotFoundError):
            sz.save(tmp_path / "no" / "x", sample(sz.int8))

    def test_little_end_first(self) -> None:
        with zipfile.ZipFile(saved(sz.tensor([1, 2], sz.int32))) as archive:
            assert archive.read("data/0") == b"\1\0\0\0\2\0\0\0"


def archive_of(head: Any, data: bytes | None = b"\1\2\3\4", method: int = 0) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("tensors.json", head if isinstance(head, bytes) else json.dumps(head))
        if data is not None:
            archive.writestr("data/0", data)
    return file


def head(**changes: Any) -> dict[str, Any]:
    return {"format": FORMAT, "version": VERSION, "tensors": [], **changes}


def entry(**changes: Any) -> dict[str, Any]:
    facts = {"name": "x", "dtype": "int8", "shape": [2, 2], "min2maj": [1, 0], "quantization": None}
    return head(tensors=[{**facts, **changes}])


class TestBadFiles:
    def test_the_pattern_of_the_others_is_right(self) -> None:
        assert sz.load(archive_of(entry()))["x"].tolist() == [[1, 2], [3, 4]]

    def test_what_save_never_writes(self) -> None:
        with pytest.raises(sz.InvalidArgument, match="compressed entries"):
            sz.load(archive_of(entry(), method=zipfile.ZIP_DEFLATED))
        file = archive_of(entry())
        with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("data/0", b"\1\2\3\4")
        with pytest.raises(sz.InvalidArgument, match="occurs twice"):
            sz.load(file)

    @pytest.mark.parametrize("content", [b"", b"PK", b"not a ZIP file" * 100, b"\x80\x04K\x01."])
    def test_not_an_archive(self, content: bytes) -> None:
        with pytest.raises(sz.InvalidArgument, match="load"):
            sz.load(io.BytesIO(content))

    def test_code_is_not_run(self) -> None:
        class Evil:
            def __reduce__(self) -> Any:
                return pytest.fail, ("a file was executed",)

        for content in (pickle.dumps(Evil()), archive_of(pickle.dumps(Evil())).getvalue()):
            with pytest.raises(sz.InvalidArgument):
                sz.load(io.BytesIO(content))

    def test_numpy_files(self) -> None:
        file = io.BytesIO()
        np.savez(file, x=np.ones(3))
        with pytest.raises(sz.InvalidArgument):
            sz.load(file)

    @pytest.mark.parametrize(
        "head",
        [
            [], {}, None, 5, "text", b"\xff\xfe\x00", b"[" * 100_000, b"",
            head(format="other"),
            {"format": FORMAT, "version": 1},
            *(
                head(version=version)
                for version in (VERSION + 1, "1", float("nan"), -5, 0, 1.0, True, None, -math.inf)
            ),
            *(head(tensors=tensors) for tensors in (5, ["x"], [{}], entry()["tensors"] * 2)),
            head(tensors=[*entry()["tensors"], *entry(name=None)["tensors"]]),
            *(entry(name=name) for name in (5, [1])),
            *(entry(dtype=dtype) for dtype in ("float17", None, ["int8"], "int16")),
            *(
                entry(shape=shape)
                for shape in (
                    [2, 3], [-2, -2], [2.0, 2.0], [True, 4], "22", 4, [2**40, 2**40], [2**70, 0],
                    [2**30, 2**30, 2**30, 0],
                )
            ),
            entry(shape=[1] * 65 + [4], min2maj=list(range(66))),
            *(
                entry(min2maj=order)
                for order in ([1], [0, 0], [1, 2], [1.0, 0.0], [[0], [1]], None)
            ),
            *(
                entry(quantization=wrong)
                for wrong in (
                    5, [], [[1.0], 0], [1.0, 0, None], [["a"], 0, None], [[1.0], "a", None],
                    [[1.0], 2**40, None], [[1.0], 0, 2**40], [[1.0, 2.0], 0, -1], [[1.0], 0, None],
                )
            ),
            *(
                entry(dtype="QT_SYM_INT8", quantization=wrong)
                for wrong in (
                    *([[scale], 0, None] for scale in (math.nan, math.inf, 0.0, -1.0, 1e300)),
                    *([[scale], 0, None] for scale in (True, 1)),
                    ["1", 0, None], [[1.0], 5, None], [[1.0, 2.0], 0, 0],
                )
            ),
            entry(dtype="QT_ASYM_UINT8", quantization=[[1.0], 2**28 + 1, None]),
            entry(dtype="QT_ASYM_UINT8", quantization=[[1.0], -(2**28) - 1, None]),
            entry(dtype="QT_ASYM_INT8", quantization=[[1.0], 1.0, None]),
            entry(dtype="QT_CH_SYM_INT8", quantization=[[1.0, 2.0], 0, 0.0]),
            entry(dtype="QT_CH_SYM_INT8", quantization=[[1.0, 2.0, 3.0], 0, 0]),
        ],
        ids=lambda head: repr(head)[-60:],
    )  # fmt: skip
    def test_bad_heads(self, head: Any) -> None:
        before = _core.pool_info()["storages"]
        with pytest.raises(sz.InvalidArgument, match="load"):
            sz.load(archive_of(head))
        assert _core.pool_info()["storages"] <= before

    def test_missing_data(self) -> None:
        with pytest.raises(sz.InvalidArgument):
            sz.load(archive_of(entry(), None))

    @pytest.mark.parametrize("data", [b"", b"\1\2\3", b"\1\2\3\4\5"])
    def test_other_sizes(self, data: bytes) -> None:
        with pytest.raises(sz.InvalidArgument):
            sz.load(archive_of(entry(), data))

    def test_a_bomb_is_not_unpacked(self) -> None:
        file = archive_of(entry(), bytes(50_000_000), zipfile.ZIP_DEFLATED)
        assert len(file.getvalue()) < 100_000
        with pytest.raises(sz.InvalidArgument, match="compressed"):
            sz.load(file)

    def test_a_head_that_is_a_bomb_is_not_unpacked(self) -> None:
        head = json.dumps(entry()).encode() + b" " * saving._LONGEST_HEAD
        with pytest.raises(sz.InvalidArgument, match="its header has"):
            sz.load(archive_of(head))
        with pytest.raises(sz.InvalidArgument, match="write them to several files"):
            sz.save(io.BytesIO(), {"x" * saving._LONGEST_HEAD: sz.tensor([1])})

    @pytest.mark.parametrize("error", [MemoryError(), sz.AllocFailed("no room")])
    def test_without_memory(self, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object) -> None:
            raise error

        monkeypatch.setattr(saving, "from_parts", fail)
        with pytest.raises(sz.AllocFailed, match=r"^load: there is not enough memory"):
            sz.load(archive_of(entry()))

    def test_every_truncation(self) -> None:
        whole = saved({"x": sample(sz.int16), "y": sample(sz.complex64)}).getvalue()
        for length in range(len(whole)):
            with pytest.raises(sz.InvalidArgument):
                sz.load(io.BytesIO(whole[:length]))

    @pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
    @pytest.mark.parametrize("on_disk", [False, True])
    def test_damage_anywhere(self, tmp_path: Path, method: int, on_disk: bool) -> None:
        whole = archive_of(entry(), method=method).getvalue()
        chance = random.Random(1)
        for at in range(len(whole)):
            broken = bytearray(whole)
            broken[at] ^= chance.randrange(1, 256)
            file = tmp_path / "broken"
            file.write_bytes(broken)
            # Some bytes, such as those of a date, may be anything.
            try:
                found = sz.load(file if on_disk else io.BytesIO(broken))
            except sz.InvalidArgument:
                continue
            assert isinstance(found, dict)
            assert found["x"].tolist() == [[1, 2], [3, 4]]


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.sz"
    sz.save(file, sz.tensor([1, 2]))

    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(saving, "to_parts", fail)
    with pytest.raises(OSError, match="no space left"):
        sz.save(file, sz.tensor([3]))
    monkeypatch.undo()
    loaded = sz.load(file)
    assert isinstance(loaded, sz.Tensor)
    assert loaded.tolist() == [1, 2]
    assert [f.name for f in tmp_path.iterdir()] == ["x.sz"]


def test_links_modes_and_pipes(tmp_path: Path) -> None:
    target, link = tmp_path / "target.sz", tmp_path / "link.sz"
    sz.save(target, sz.tensor([1]))
    target.chmod(0o640)
    link.symlink_to(target)
    sz.save(link, sz.tensor([2]))
    assert link.is_symlink()
    loaded = sz.load(target)
    assert isinstance(loaded, sz.Tensor)
    assert loaded.tolist() == [2]
    assert target.stat().st_mode & 0o777 == 0o640
    sz.save(os.devnull, sz.tensor([3]))
    assert not Path(os.devnull).is_file()


def test_many_threads_save_one_file(tmp_path: Path) -> None:
    file = tmp_path / "x.sz"
    sz.save(file, sz.tensor([0] * 100))

    def work(value: int) -> None:
        for _ in range(20):
            sz.save(file, sz.tensor([value] * 100))
            loaded = sz.load(file)
            assert isinstance(loaded, sz.Tensor)
            assert len(set(loaded.tolist())) == 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert [f.name for f in tmp_path.iterdir()] == ["x.sz"]


@pytest.mark.parametrize("wrong", [None, 1.5, []])
def test_save_to_what_is_no_file(wrong: Any) -> None:
    with pytest.raises(sz.TypeMismatch, match="neither a path nor a file"):
        sz.save(wrong, sz.tensor([1]))
