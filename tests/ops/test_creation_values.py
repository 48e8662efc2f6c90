"""7.2.1.1 and .2: create_tensor and wrap_tensor: values of others, copied and shared."""

from __future__ import annotations

import array
import gc
import io
import itertools
import mmap
import weakref
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import exact
from suanzi import _core

ORDERS = list(itertools.permutations(range(3)))
SHAPE = (2, 3, 4)


def place(index: tuple[int, ...], shape: tuple[int, ...], order: tuple[int, ...]) -> int:
    """Where an element lies: the axes of the order count like digits, the first the fastest."""
    at, unit = 0, 1
    for axis in order:
        at += index[axis] * unit
        unit *= shape[axis]
    return at


@pytest.mark.parametrize("order", ORDERS)
def test_bytes_are_read_in_the_order_of_the_layout(order: tuple[int, ...]) -> None:
    raw = array.array("i", range(24))
    made = sz.create_tensor(SHAPE, raw, sz.int32, layout=order)
    shared = sz.wrap_tensor(SHAPE, sz.int32, values=raw, layout=order)
    for x in (made, shared):
        assert x.layout.min2maj == order
        for index in np.ndindex(SHAPE):
            assert x.numpy()[index] == place(index, SHAPE, order)


@pytest.mark.parametrize("order", ORDERS)
def test_tensors_and_arrays_keep_their_indices(order: tuple[int, ...]) -> None:
    values = np.arange(24, dtype=np.float32).reshape(SHAPE)
    for source in (values, values.copy("F"), sz.tensor(values), values.tolist(),
                   _core.view(sz.tensor(values[::-1].copy()), 12, SHAPE, (-12, 4, 1))):  # fmt: skip
        x = sz.create_tensor(SHAPE, source, layout=order)
        assert x.tolist() == values.tolist()
        assert x.layout.min2maj == order
        assert x.storage.size == 24


BUFFERS = [bytes, bytearray, memoryview, lambda b: array.array("B", b), io.BytesIO]


@pytest.mark.parametrize("kind", BUFFERS)
@pytest.mark.parametrize("length", [0, 1, 5, 23, 24, 25, 100])
@pytest.mark.parametrize("n_bytes", [None, 0, 3, 24, 1000, 2**70])
def test_what_is_missing_is_zero_and_what_is_too_much_is_left(
    kind: Any, length: int, n_bytes: int | None
) -> None:
    raw = bytes(range(1, length + 1))
    buffer = kind(raw).getbuffer() if kind is io.BytesIO else kind(raw)
    x = sz.create_tensor((2, 3), buffer, sz.uint32, n_bytes=n_bytes)
    taken = raw[: 24 if n_bytes is None else min(n_bytes, 24)]
    assert bytes(x.storage.memory) == taken + bytes(24 - len(taken))


def test_a_buffer_with_gaps_is_read_in_its_own_order() -> None:
    every_second = memoryview(bytes(range(12)))[::2]
    assert sz.create_tensor((6,), every_second, sz.uint8).tolist() == [0, 2, 4, 6, 8, 10]
    with pytest.raises(sz.InvalidArgument, match="not contiguous"):
        sz.wrap_tensor((6,), sz.uint8, values=every_second)


def test_a_large_buffer() -> None:
    raw = np.random.default_rng(1).bytes(3_000_001)
    x = sz.create_tensor((4_000_000,), raw, sz.uint8)
    assert bytes(x.storage.memory) == raw + bytes(999_999)


def test_n_bytes_limits_tensors_too() -> None:
    x = sz.create_tensor((2, 2), [[1, 2], [3, 4]], sz.int16, n_bytes=5)
    assert x.tolist() == [[1, 2], [3, 0]]
    x = sz.create_tensor((2, 2), [[1, 2], [3, 4]], sz.int16, n_bytes=4, layout=(0, 1))
    assert x.tolist() == [[1, 0], [3, 0]]


@pytest.mark.parametrize("name", ["bool", "int4", "uint4", "uint1"])
def test_bytes_are_brought_into_range(name: str) -> None:
    every = bytes(range(256))
    width, signed = {"bool": (1, False)}.get(name) or exact.INTEGERS[name]
    low = [i % 2**width for i in range(256)]
    wanted: list[Any] = [i - 2**width if signed and i >> (width - 1) else i for i in low]
    if name == "bool":
        wanted = [i != 0 for i in range(256)]
    shared = sz.wrap_tensor((256,), name, values=every)
    for source in (every, shared):
        for order in ((0, 1), (1, 0)):
            values = source if source is every else sz.wrap_tensor((16, 16), name, values=shared)
            x = sz.create_tensor((16, 16), values, name, layout=order)
            flat = np.array(wanted).reshape(16, 16)
            assert x.tolist() == (flat.T if source is every and order == (0, 1) else flat).tolist()
            stored = {(b ^ 128) - 128 if signed else b for b in bytes(x.storage.memory)}
            assert stored == {int(v) for v in wanted}
    # Shared memory is what it is; what reads it brings it into range.
    assert sz.equal(shared, sz.create_tensor((256,), every, name)).numpy().all()


@pytest.mark.parametrize("nothing", [None, (), []])
def test_without_values_it_is_not_initialised(nothing: Any) -> None:
    for x in (
        sz.create_tensor((2, 3), nothing, sz.float16, layout=(0, 1)),
        sz.wrap_tensor((2, 3), sz.float16, values=nothing, layout=(0, 1)),
        sz.wrap_tensor((2, 3), sz.float16, layout=(0, 1)),
    ):
        assert (x.shape, x.dtype, x.strides) == ((2, 3), sz.float16, (1, 2))
        x.numpy()[:] = 1


def test_a_copy_is_a_copy() -> None:
    buffer, values, x = bytearray(4), np.zeros(4, np.uint8), sz.zeros((4,), sz.uint8)
    for source in (buffer, values, x):
        made = sz.create_tensor((4,), source, sz.uint8)
        made.numpy()[:] = 7
        assert list(np.asarray(source)) == [0] * 4
    buffer.append(1)  # which would fail if the buffer were still in use


def test_big_endian_arrays_are_converted() -> None:
    assert sz.create_tensor((2,), np.array([1, 2], ">f4")).tolist() == [1, 2]
    with pytest.raises(sz.InvalidArgument, match="byte order"):
        sz.wrap_tensor((2,), values=np.array([1, 2], ">f4"))


class Dlpack:
    """Only what the protocol needs."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self.values.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.values.__dlpack_device__()


def test_dlpack() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert sz.create_tensor((2, 3), Dlpack(values)).tolist() == values.tolist()
    shared = sz.wrap_tensor((2, 3), values=Dlpack(values))
    values[0, 0] = 9
    assert shared.tolist() == values.tolist()


# ---- wrap_tensor ---------------------------------------------------------------------------------


def test_writes_show_both_ways() -> None:
    buffer = bytearray(8)
    x = sz.wrap_tensor((2, 2), sz.int16, values=buffer, layout=(0, 1))
    buffer[2] = 5
    assert x.tolist() == [[0, 0], [5, 0]]
    x.numpy()[0, 1] = 258
    assert bytes(buffer) == bytes([0, 0, 5, 0, 2, 1, 0, 0])
    y = sz.wrap_tensor((2, 2), sz.int16, values=x)
    y.numpy()[1, 1] = 3
    assert x.tolist() == [[0, 258], [5, 3]]
    assert y.storage == x.storage
    assert y is not x


def test_memory_is_kept_alive_and_let_go() -> None:
    class Kept(bytearray):
        pass

    buffer = Kept(b"\1\2\3\4")
    alive = weakref.ref(buffer)
    x = sz.wrap_tensor((4,), sz.uint8, values=buffer)
    with pytest.raises(BufferError):
        buffer.append(1)
    del buffer
    gc.collect()
    assert alive() is not None
    assert x.tolist() == [1, 2, 3, 4]
    part = _core.view(x, 1, (2,), (1,))
    del x
    assert part.tolist() == [2, 3]
    del part
    gc.collect()
    assert alive() is None


def test_a_mapped_file() -> None:
    with mmap.mmap(-1, 4096) as memory:
        x = sz.wrap_tensor((1024,), values=memory)
        x.numpy()[3] = 1
        assert memory[12:16] == np.float32(1).tobytes()
        with pytest.raises(BufferError):
            memory.close()
        sz.destroy(x)


@pytest.mark.parametrize(
    "source", [b"\0" * 8, memoryview(b"\0" * 8), np.frombuffer(b"\0" * 8, "u1")]
)
def test_read_only_memory_makes_a_read_only_tensor(source: Any) -> None:
    x = sz.wrap_tensor((8,), sz.uint8, values=source)
    assert x.storage.read_only
    assert not x.numpy().flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        _core.copy_into(x, sz.zeros((8,), sz.uint8))
    assert sz.add(x, 1).tolist() == [1] * 8
    assert not sz.duplicate(x).storage.read_only


@pytest.mark.parametrize("name", exact.NAMES)
def test_too_small_and_misaligned(name: str) -> None:
    size = exact.ITEMSIZE[name]
    part = size // (2 if name in exact.COMPLEX else 1)
    buffer = memoryview(bytearray(6 * size + 16))
    start = -np.frombuffer(buffer, "u1").ctypes.data % 16
    before = _core.pool_info()["storages"]
    with pytest.raises(sz.InvalidArgument, match=rf"has {6 * size - 1} bytes.*needs {6 * size}\."):
        sz.wrap_tensor((2, 3), name, values=buffer[start : start + 6 * size - 1])
    for shift in range(1, part):
        with pytest.raises(sz.InvalidArgument, match=f"not a multiple of {part}"):
            sz.wrap_tensor((2, 3), name, values=buffer[start + shift : start + shift + 6 * size])
    assert _core.pool_info()["storages"] <= before
    aligned = buffer[start + part : start + part + 6 * size]
    assert sz.equal(sz.wrap_tensor((2, 3), name, values=aligned), 0).numpy().all()
    if part > 1:
        kind = sz.tensor([0], name).numpy().dtype
        odd = np.frombuffer(buffer[start + 1 : start + 1 + 6 * size], kind)
        with pytest.raises(sz.InvalidArgument, match="not aligned"):
            sz.wrap_tensor((6,), name, values=odd)


def test_a_larger_buffer_and_none_at_all() -> None:
    x = sz.wrap_tensor((2,), sz.uint8, values=bytes(range(10)))
    assert x.tolist() == [0, 1]
    assert x.storage.size == 10
    assert sz.wrap_tensor((0, 5), sz.int32, values=b"").tolist() == []
    assert sz.wrap_tensor((), sz.int8, values=b"\7").item() == 7
    assert sz.wrap_tensor((2**40, 0), sz.int32, values=b"").size == 0


def test_arrays_keep_their_strides() -> None:
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    for part in (values.T, values[::-1, ::2], values[1:3], values[:, 2]):
        x = sz.wrap_tensor(part.shape, values=part)
        assert x.tolist() == part.tolist()
        assert np.shares_memory(x.numpy(), values)
        y = sz.wrap_tensor(part.shape, values=x)
        assert (y.strides, y.offset) == (x.strides, x.offset)


def test_a_contiguous_array_of_another_shape_counts_as_a_buffer() -> None:
    flat = np.arange(6, dtype=np.float32)
    assert sz.wrap_tensor((2, 3), values=flat).tolist() == flat.reshape(2, 3).tolist()
    assert sz.wrap_tensor((2, 2), values=flat, layout=(0, 1)).tolist() == [[0, 2], [1, 3]]
    assert sz.wrap_tensor((3,), values=sz.tensor(flat[:4])).tolist() == [0, 1, 2]
    for bad in (flat[::2], flat[:5]):
        with pytest.raises(sz.InvalidArgument, match="contiguous and large enough"):
            sz.wrap_tensor((2, 3), values=bad)


def test_a_layout_that_the_values_do_not_have() -> None:
    values = np.zeros((2, 3), np.float32)
    assert sz.wrap_tensor((2, 3), values=values, layout=(1, 0)).strides == (3, 1)
    assert sz.wrap_tensor((2, 3), values=values.copy("F"), layout=(0, 1)).strides == (1, 2)
    with pytest.raises(sz.InvalidArgument, match="memory is shared unchanged"):
        sz.wrap_tensor((2, 3), values=values, layout=(0, 1))
    with pytest.raises(sz.InvalidArgument, match="memory is shared unchanged"):
        sz.wrap_tensor((2, 3), values=values.copy("F"), layout=(1, 0))


# ---- what does not fit ---------------------------------------------------------------------------


@pytest.mark.parametrize("wrong", ["text", {}, object(), {1}, iter([1]), int])
def test_values_of_a_wrong_type(wrong: Any) -> None:
    for call in (
        lambda: sz.create_tensor((1,), wrong),
        lambda: sz.wrap_tensor((1,), values=wrong),
    ):
        with pytest.raises(sz.TypeMismatch, match=r"_tensor \(7.2.1.[12]\): values is a .*\.$"):
            call()


@pytest.mark.parametrize(
    "wrong",
    [np.array(["a"]), np.array([object()]), np.ma.masked_array([1.0]), np.zeros(2, "M8[s]")],
)
def test_arrays_of_no_known_dtype(wrong: Any) -> None:
    with pytest.raises(sz.TypeMismatch, match=r"create_tensor \(7.2.1.1\): values: .*\.$"):
        sz.create_tensor(wrong.shape, wrong)
    with pytest.raises(sz.InvalidArgument, match=r"wrap_tensor \(7.2.1.2\): values: .*\.$"):
        sz.wrap_tensor(wrong.shape, values=wrong)


def test_numbers_and_lists_that_do_not_fit() -> None:
    assert sz.create_tensor((), 5, sz.int8).item() == 5
    assert sz.create_tensor((3,), range(3), sz.int8).tolist() == [0, 1, 2]
    for bad in ([300, 1], [[1], [2, 3]], ["a", "b"]):
        with pytest.raises(sz.StatusError, match=r"create_tensor \(7.2.1.1\): values: .*\.$"):
            sz.create_tensor((2,), bad, sz.int8)
    with pytest.raises(sz.InvalidArgument, match="no memory to share"):
        sz.wrap_tensor((), values=np.float32(1))
    with pytest.raises(sz.TypeMismatch):
        sz.wrap_tensor((2,), values=[1, 2])
