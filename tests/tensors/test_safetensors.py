"""Files of safetensors: both ways, read by the library itself where it is there, and damaged."""

from __future__ import annotations

import contextlib
import io
import json
import random

import numpy as np
import pytest

import suanzi as sz

KEPT = [
    *(sz.bool, sz.int8, sz.int16, sz.int32, sz.int64, sz.uint8, sz.uint16, sz.uint32, sz.uint64),
    *(sz.float8_e4m3fn, sz.float8_e5m2, sz.float16, sz.bfloat16, sz.float32, sz.float64),
    sz.complex64,
]


def tensors() -> dict[str, sz.Tensor]:
    found = {str(dt): sz.cast(sz.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0]]), dt) for dt in KEPT}
    return found | {
        "turned": found["float32"].T,
        "gaps": found["float64"][::2],
        "number": sz.tensor(2.5, sz.bfloat16),
        "nothing": sz.zeros((0, 3), sz.float16),
        "名": sz.tensor([True, False]),
    }


def written(some: dict[str, sz.Tensor], words: dict[str, str] | None = None) -> bytes:
    file = io.BytesIO()
    sz.safetensors.save(file, some, words)
    return file.getvalue()


def same(a: sz.Tensor, b: sz.Tensor) -> bool:
    return (a.dtype, a.shape, a.tolist()) == (b.dtype, b.shape, b.tolist())


def test_both_ways(tmp_path) -> None:
    path = tmp_path / "model.safetensors"
    due = tensors()
    sz.safetensors.save(path, due, {"by": "hand"})
    found, words = sz.safetensors.load(path)
    assert words == {"by": "hand"}
    assert found.keys() == due.keys()
    assert all(same(found[name], due[name]) for name in due)
    found["float32"][0, 0] = 7  # can be written to
    assert sz.safetensors.load(path)[0]["float32"][0, 0].item() == 0
    sz.safetensors.save(path, {})
    assert sz.safetensors.load(path) == ({}, {})


def test_the_library_reads_and_writes_the_same() -> None:
    safetensors = pytest.importorskip("safetensors", reason="safetensors is not installed")
    numpys = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    due = tensors()
    raw = written(due, {"a": "b"})
    names = {name: entry["dtype"] for name, entry in safetensors.deserialize(raw)}
    assert names["bfloat16"] == "BF16"
    assert names["float8_e4m3fn"] == "F8_E4M3"
    some = (sz.float32, sz.int8, sz.uint64)
    plain = {n: x.numpy().copy("C") for n, x in due.items() if x.dtype in some}
    read, _ = sz.safetensors.load(io.BytesIO(numpys.save(plain)))
    assert all(np.array_equal(read[name].numpy(), plain[name]) for name in plain)
    back = numpys.load(written({n: due[n] for n in plain}))
    assert all(np.array_equal(back[name], plain[name]) for name in plain)


@pytest.mark.parametrize(
    ("some", "status"),
    [
        ({"x": sz.tensor([1], sz.int4)}, sz.TypeMismatch),
        ({"x": sz.tensor([1j], sz.complex128)}, sz.TypeMismatch),
        ({"x": sz.create_quant_tensor((1,), 1, sz.QT_SYM_INT8, values=[1])}, sz.TypeMismatch),
        ({"x": 1}, sz.TypeMismatch),
        ({1: sz.tensor([1])}, sz.TypeMismatch),
        (sz.tensor([1]), sz.TypeMismatch),
        ({"__metadata__": sz.tensor([1])}, sz.InvalidArgument),
    ],
)
def test_what_the_format_does_not_have_is_refused_before_anything_is_written(
    some, status, tmp_path
) -> None:
    path = tmp_path / "x"
    with pytest.raises(status, match="save: "):
        sz.safetensors.save(path, some)
    assert not path.exists()


def test_destroyed_tensors_and_words() -> None:
    x = sz.tensor([1])
    sz.destroy(x)
    with pytest.raises(sz.UninitializedObject):
        written({"x": x})
    with pytest.raises(sz.TypeMismatch, match="strings"):
        written({}, {"a": 1})  # type: ignore[dict-item]


def forged(head: object, data: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return len(text).to_bytes(8, "little") + text + data


ONE = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"1234567",
        (2**63).to_bytes(8, "little") + b"{}",
        forged([]),
        forged(b"{"),
        forged(b"[" * 100_000),
        forged(b'{"x":1,"x":1}'),
        forged({"x": 1}),
        forged({"x": ONE}),
        forged({"x": ONE}, b"12345"),
        forged({"x": ONE, "y": ONE}, b"1234"),
        forged({"x": ONE | {"data_offsets": [4, 8]}}, b"12345678"),
        forged({"x": ONE | {"data_offsets": [0, 2**70]}}, b"1234"),
        forged({"x": ONE | {"shape": [-1]}}, b"1234"),
        forged({"x": ONE | {"shape": [2**62, 2**62]}}, b"1234"),
        forged({"x": ONE | {"shape": [1.5]}}, b"1234"),
        forged({"x": ONE | {"shape": "1"}}, b"1234"),
        forged({"x": ONE | {"data_offsets": [0, True]}}, b"1234"),
        forged({"__metadata__": {"a": 1}}),
    ],
)
def test_a_file_that_is_none_says_so(raw) -> None:
    with pytest.raises(sz.InvalidArgument, match="not a safetensors file"):
        sz.safetensors.load(io.BytesIO(raw))


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(sz.TypeMismatch, match="'F4'"):
        sz.safetensors.load(io.BytesIO(forged({"x": ONE | {"dtype": "F4"}}, b"1234")))


def test_damaged_files_are_refused_or_read() -> None:
    whole = written(tensors())
    rng = random.Random(1)
    for _ in range(2000):
        raw = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
        del raw[rng.choice((len(raw), rng.randrange(len(raw)))) :]
        with contextlib.suppress(sz.StatusError):
            sz.safetensors.load(io.BytesIO(bytes(raw)))


def test_bytes_that_are_no_bools_are_true() -> None:
    raw = forged({"x": {"dtype": "BOOL", "shape": [2], "data_offsets": [0, 2]}}, b"\x02\x00")
    x = sz.safetensors.load(io.BytesIO(raw))[0]["x"]
    assert x.tolist() == [True, False]
    assert sz.reduce(x, "SUM").item() == 1


@pytest.mark.parametrize("file", [None, 3, object(), io.StringIO("text")])
def test_what_is_no_file_is_named(file) -> None:
    with pytest.raises(sz.TypeMismatch, match="neither a path nor a file"):
        sz.safetensors.load(file)


def test_a_shape_of_thousands_of_digits_is_not_repeated() -> None:
    head = json.dumps({"a": {"dtype": "F32", "shape": [10**4000], "data_offsets": [0, 8]}}).encode()
    raw = len(head).to_bytes(8, "little") + head + bytes(8)
    with pytest.raises(sz.InvalidArgument, match="a tuple is not a shape"):
        sz.safetensors.load(io.BytesIO(raw))


def test_a_file_that_reads_less_than_requested() -> None:
    class Slow(io.BytesIO):
        def readinto(self, buffer: object) -> int:
            with memoryview(buffer) as whole:  # type: ignore[arg-type]
                return super().readinto(whole[:3])

    file = Slow()
    sz.safetensors.save(file, {"x": sz.tensor([1.0, 2.0, 3.0])})
    assert sz.safetensors.load(file)[0]["x"].tolist() == [1, 2, 3]
