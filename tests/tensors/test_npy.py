"""Files of NumPy: both ways, read and written by NumPy itself, and damaged."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import tracemalloc
import zipfile
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument, StatusError, TypeMismatch

NUMPYS = [
    *(sz.bool, sz.int8, sz.int16, sz.int32, sz.int64, sz.uint8, sz.uint16, sz.uint32, sz.uint64),
    *(sz.float16, sz.float32, sz.float64, sz.complex64, sz.complex128),
]
NAMED = [sz.float8_e4m3fn, sz.float8_e5m2, sz.int4, sz.uint4, sz.uint1, sz.complex32]


def made(dt: sz.DType) -> sz.Tensor:
    return sz.cast(sz.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), dt)


def written(x: sz.Tensor | dict[str, sz.Tensor]) -> bytes:
    file = io.BytesIO()
    sz.npy.save(file, x)
    return file.getvalue()


def by_numpy(array: np.ndarray) -> io.BytesIO:
    file = io.BytesIO()
    np.save(file, array)
    file.seek(0)
    return file


def same(a: sz.Tensor, b: sz.Tensor) -> bool:
    return (a.dtype, a.shape, a.tolist()) == (b.dtype, b.shape, b.tolist())


@pytest.mark.parametrize("dt", [*NUMPYS, sz.bfloat16, *NAMED], ids=str)
def test_both_ways(dt: sz.DType, tmp_path: Path) -> None:
    x = made(dt)
    views = (x, x.T, x[::2], x[:, ::-1], x[0, 0], x[:0])
    for i, one in enumerate(views):
        path = tmp_path / f"{i}.npy"
        sz.npy.save(path, one)
        found = sz.npy.load(path)
        assert same(found, one)
        if found.size:
            found[...] = 0  # can be written to
    some = {str(i): one for i, one in enumerate(views)}
    sz.npy.save(tmp_path / "all.npz", some)
    back = sz.npy.load(tmp_path / "all.npz")
    assert back.keys() == some.keys()
    assert all(same(back[name], some[name]) for name in some)


def test_an_archive_whose_entries_lie_before_its_begin(tmp_path: Path) -> None:
    path = tmp_path / "all.npz"
    sz.npy.save(path, {"x": sz.tensor([1.0]), "y": sz.tensor([2])})
    damaged = bytearray(path.read_bytes())
    at = len(damaged) - 6  # where the end says that the directory begins
    begin = int.from_bytes(damaged[at : at + 4], "little")
    damaged[at : at + 4] = (begin + 50).to_bytes(4, "little")
    path.write_bytes(damaged)
    with pytest.raises(sz.InvalidArgument, match="load: the "):
        sz.npy.load(path)


@pytest.mark.parametrize("dt", NUMPYS, ids=str)
def test_numpy_reads_and_writes_the_same(dt: sz.DType) -> None:
    x = made(dt)
    for one in (x, x.T, x[0, 0], x[:0]):
        array = one.numpy()
        read = np.load(io.BytesIO(written(one)))
        assert read.dtype == array.dtype
        assert np.array_equal(read, array)
        assert same(sz.npy.load(by_numpy(array)), one)
        if one.ndim:
            turned = array.astype(array.dtype.newbyteorder(">"))
            assert same(sz.npy.load(by_numpy(turned)), one)
    both = io.BytesIO()
    np.savez_compressed(both, a=x.numpy(), b=x.T.numpy())
    found = sz.npy.load(both)
    assert same(found["a"], x)
    assert same(found["b"], x.T)


def test_the_dtypes_of_ml_dtypes_are_restored() -> None:
    array = np.array([[1.5, -2.0]], ml_dtypes.bfloat16)
    assert np.load(by_numpy(array)).dtype == "V2"  # what NumPy makes of it
    assert same(sz.npy.load(by_numpy(array)), sz.tensor([[1.5, -2.0]], sz.bfloat16))
    read = np.load(io.BytesIO(written(sz.tensor([[1.5, -2.0]], sz.bfloat16))))
    assert read.view(ml_dtypes.bfloat16).tolist() == [[1.5, -2.0]]
    f8 = np.array([1.5, -2.0], ml_dtypes.float8_e5m2)
    assert same(sz.npy.load(by_numpy(f8)), sz.tensor([1.5, -2.0], sz.float8_e5m2))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "int4", "uint4"])
def test_raw_bytes_that_could_be_several_dtypes(name: str) -> None:
    file = by_numpy(np.array([1, 2], getattr(ml_dtypes, name)))
    with pytest.raises(TypeMismatch, match=f"raw bytes, 1 for each element.*dtype=.*{name}"):
        sz.npy.load(file)
    assert same(sz.npy.load(file, dtype=name), sz.tensor([1, 2], sz.dtype(name)))
    with pytest.raises(TypeMismatch, match="raw bytes"):
        sz.npy.load(file, dtype=sz.float32)


@pytest.mark.parametrize("dt", NAMED, ids=str)
def test_what_numpy_reads_of_named_bytes(dt: sz.DType) -> None:
    read = np.load(io.BytesIO(written(made(dt))))
    assert read.dtype.names == (dt.name,)
    assert read[dt.name].tobytes() == made(dt).numpy().tobytes()


def test_what_is_no_number_is_refused(tmp_path: Path) -> None:
    objects = io.BytesIO()
    np.save(objects, np.array([object()], object), allow_pickle=True)
    for file in (objects, by_numpy(np.array(["a"])), by_numpy(np.zeros(2, "M8[s]"))):
        with pytest.raises(TypeMismatch, match="load: the file has"):
            sz.npy.load(file)
    with pytest.raises(TypeMismatch, match="save: the tensor is QT_SYM_INT8"):
        sz.npy.save(tmp_path / "x.npy", sz.quantize(sz.tensor([1.0]), sz.QT_SYM_INT8))
    assert not (tmp_path / "x.npy").exists()
    with pytest.raises(TypeMismatch, match="save: it takes a Tensor"):
        sz.npy.save(tmp_path / "x.npy", [1])  # type: ignore[arg-type]
    with pytest.raises(TypeMismatch, match="neither a path nor a file"):
        sz.npy.load(7)  # type: ignore[arg-type]


def test_damaged_files_are_refused() -> None:
    chance = random.Random(0)
    for whole in (written(made(sz.float32)), written({"a": made(sz.bfloat16)})):
        for _ in range(200):
            damaged = bytearray(whole)
            if chance.random() < 0.3:
                damaged = damaged[: chance.randrange(len(damaged))]
            else:
                damaged[chance.randrange(min(len(damaged), 200))] = chance.randrange(256)
            with contextlib.suppress(StatusError):
                sz.npy.load(io.BytesIO(bytes(damaged)))
    with pytest.raises(InvalidArgument, match="load: the file is neither"):
        sz.npy.load(io.BytesIO(b"no such file"))
    with pytest.raises(InvalidArgument, match="load: it ends before"):
        sz.npy.load(io.BytesIO(written(made(sz.float32))[:-1]))


# ---- files that lie -----------------------------------------------------------------------------


def forged(head: str, body: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode("latin1") + body


LARGE = "{'descr': '<f4', 'fortran_order': False, 'shape': (250000000,)}"


def archive(method: int, said: int | None = None) -> bytes:
    """Make an archive whose array is said to be large, and so is the entry."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as whole:
        whole.writestr("x.npy", forged(LARGE, bytes(100)))
    raw = bytearray(file.getvalue())
    if said:
        at = raw.rindex(b"PK\x01\x02")
        struct.pack_into("<II", raw, at + 20, said, said)  # of the directory, which is believed
    return bytes(raw)


@pytest.mark.parametrize(
    "file",
    [
        forged(LARGE, bytes(100)),
        archive(zipfile.ZIP_STORED),
        archive(zipfile.ZIP_DEFLATED),
        archive(zipfile.ZIP_STORED, 1_000_000_200),
        archive(zipfile.ZIP_DEFLATED, 1_000_000_200),
    ],
    ids=["npy", "stored", "deflated", "stored by a lie", "deflated by a lie"],
)
def test_a_small_file_takes_no_more_than_it_could_hold(file: bytes) -> None:
    """A gigabyte was taken, and written to, before the file was seen to be short."""
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgument, match="load: "):
            sz.npy.load(io.BytesIO(file))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_archives_that_numpy_does_not_write(method: int) -> None:
    with pytest.raises(InvalidArgument, match="a compression that NumPy does not write"):
        sz.npy.load(io.BytesIO(archive(method)))


@pytest.mark.parametrize(
    "head",
    ["-" * 9000 + "1", "[" * 9000, "1" + "+1" * 4000, "2**" * 3000 + "1", "a" + "[0]" * 3000, "1",
     "[]", "{}", "\x1b[31m", "{'descr': [1], 'fortran_order': 0, 'shape': ()}",
     LARGE.replace("<f4", "<f" + "9" * 5000), LARGE.replace("(2", "(" + "9" * 5000 + ", 2")],
    ids=lambda head: head[:8],
)  # fmt: skip
def test_heads_that_mean_nothing(head: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        sz.npy.load(io.BytesIO(forged(head)))
    assert "\x1b" not in str(caught.value)
    with pytest.raises(InvalidArgument, match="its header has"):
        sz.npy.load(io.BytesIO(forged(head + " " * 10_000)))


def test_bytes_that_are_no_bool_and_no_int4() -> None:
    for described, expected in (("'|b1'", [True, True]), ("[('int4', '|V1')]", [2, -1])):
        head = f"{{'descr': {described}, 'fortran_order': False, 'shape': (2,)}}"
        found = sz.npy.load(io.BytesIO(forged(head, b"\x02\xff")))
        assert found.tolist() == expected
        assert sz.cast(found, sz.int32).tolist() == [int(x) for x in expected]


def test_an_entry_that_occurs_twice() -> None:
    file = io.BytesIO()
    sz.npy.save(file, {"x": sz.tensor([1])})
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("x.npy", zipfile.ZipFile(file).read("x.npy"))
    with pytest.raises(InvalidArgument, match="occurs twice"):
        sz.npy.load(file)


@pytest.mark.parametrize(
    "said",
    ["'fortran_order': 0, 'shape': (2,)", "'fortran_order': [], 'shape': (2,)",
     "'fortran_order': False, 'shape': {1: 2}", "'fortran_order': False, 'shape': {2}",
     "'fortran_order': False, 'shape': [2]"],
)  # fmt: skip
def test_heads_that_numpy_refuses(said: str) -> None:
    head = f"{{'descr': '|u1', {said}}}".encode()
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\1\2"
    with pytest.raises(InvalidArgument, match="does not describe an array"):
        sz.npy.load(io.BytesIO(raw))
    with pytest.raises(ValueError, match="."):
        np.load(io.BytesIO(raw))
