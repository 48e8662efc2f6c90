"""What Zarr and HDF5 have in common: how blocks become arrays of a file, and how they come back.

Dtypes that NumPy has by itself are stored as they are, for any program to read. Of the others the
bits are, as unsigned integers, and of quantised ones the integers; the attribute `suanzi` says what
they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from suanzi import _core
from suanzi.base.dtypes import DType, iinfo, int8
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import shown
from suanzi.base.status import InvalidArgument, StatusError
from suanzi.runtimes.cluster import grid
from suanzi.runtimes.cluster.graph import from_tasks, new_name
from suanzi.runtimes.cluster.moving import reblocked
from suanzi.runtimes.cluster.quantization import Quantization
from suanzi.runtimes.cluster.tensor import BlockTensor
from suanzi.tensors.exchange import from_numpy
from suanzi.tensors.make import tensor
from suanzi.tensors.parts import from_parts, quantises, to_parts
from suanzi.tensors.tensor import Tensor

ATTRIBUTE = "suanzi"
"""What says of an array of bits which dtype they are of."""

_NUMPYS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
_PLAIN = frozenset([*_NUMPYS, "complex64", "complex128"])

Where = tuple[slice, ...]


@dataclass(frozen=True)
class Form:
    """How a tensor of blocks is stored, or was found to be."""

    dtype: DType
    quantization: Quantization | None = None

    @property
    def array(self) -> np.dtype[Any]:
        """The dtype of the array in the file."""
        if self.dtype.name in _PLAIN:
            return np.dtype(self.dtype.name)
        return np.dtype(f"<u{self.dtype.itemsize}")

    @property
    def attribute(self) -> dict[str, Any] | None:
        """The value of the attribute; None where the array needs none."""
        if self.dtype.name in _PLAIN:
            return None
        described: dict[str, Any] = {"dtype": self.dtype.name}
        if self.quantization is not None:
            facts = self.quantization
            described |= {"scale": list(facts.scale), "zero_point": facts.zero_point}
            described["channel_axis"] = facts.axis
        return described

    def to_array(self, block: Tensor) -> np.ndarray[Any, Any]:
        """Return a block as what is stored."""
        if self.dtype.name in _PLAIN:
            return block.numpy()
        raw = to_parts(_core.row_major_copy(block))[3]
        return np.frombuffer(raw, self.array).reshape(block.shape)

    def to_block(
        self, title: str, quantization: Quantization | None, array: np.ndarray[Any, Any]
    ) -> Tensor:
        """Return what is stored as a block."""
        if self.dtype.name in _PLAIN:
            return from_numpy(np.array(array, self.array, order="C"))
        given = np.ascontiguousarray(array, self.array)
        order = tuple(range(array.ndim))[::-1]
        made = from_parts(self.dtype.name, array.shape, order, given.tobytes(), None)
        if self.dtype.bits < 8 and given.size:
            _check_bits(title, self.dtype, given)
        return made if quantization is None else quantization.put_on(made)


def _check_bits(title: str, dtype: DType, given: np.ndarray[Any, Any]) -> None:
    limits, numbers = iinfo(dtype), given.view(np.int8 if dtype.kind == "int" else np.uint8)
    if numbers.min() < limits.min or numbers.max() > limits.max:
        raise InvalidArgument(f"{title} contains bytes that are not valid {dtype} numbers.")


def form_of(x: BlockTensor) -> Form:
    """Return how a tensor is stored."""
    return Form(x.dtype, x.quantization)


def form_found(title: str, shape: tuple[int, ...], array: Any, attribute: Any) -> Form:
    """Return how an array of a file is to be read, or raise InvalidArgument.

    `array` is its dtype, and `attribute` what the file says; neither is trusted.
    """
    if attribute is None:
        try:
            found = dtype_of(np.dtype(array).newbyteorder("="))
            if found.name not in _PLAIN:
                raise InvalidArgument("not a plain dtype")
        except (StatusError, TypeError):
            raise InvalidArgument(
                f"{title} has elements of {shown(str(array))}, for which there is no dtype."
            ) from None
        return Form(found)
    problem = InvalidArgument(
        f"{title} has the attribute {ATTRIBUTE!r}, {shown(attribute)}, which does not match its "
        f"elements of {array} with shape {shape}."
    )
    try:
        given = json.loads(attribute) if isinstance(attribute, str) else attribute
        if not isinstance(given, dict):
            raise problem
        form = Form(dtype_of(given["dtype"]) if type(given["dtype"]) is str else int8)
        if form.dtype.name in _PLAIN or np.dtype(array).newbyteorder("<") != form.array:
            raise problem
        if "scale" not in given:
            return form
        facts = [
            [float(s) for s in given["scale"]],
            given["zero_point"],
            given["channel_axis"],
        ]
        if not quantises(form.dtype, shape, *facts):
            raise problem
        return Form(form.dtype, Quantization(tuple(facts[0]), facts[1], facts[2]))
    except (StatusError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        raise problem from None


# ---- blocks in, and out --------------------------------------------------------------------------


def regular(x: BlockTensor) -> BlockTensor:
    """Return a tensor whose blocks along an axis all have one size, except the last."""
    sizes = tuple(map(max, x.blocks))
    cuts = tuple(
        tuple(min(size, n - at) for at in range(0, n, size)) if n else (0,)
        for size, n in zip(sizes, x.shape, strict=True)
    )
    return reblocked(x, cuts)


def chunks_of(x: BlockTensor) -> tuple[int, ...]:
    """Return the size of the chunks of a file that has the blocks of a tensor."""
    return tuple(max(*axis, 1) for axis in x.blocks)


def read(
    op: str,
    title: str,
    form: Form,
    shape: tuple[int, ...],
    chunks: Sequence[int] | None,
    part: Callable[[Where], np.ndarray[Any, Any]],
) -> BlockTensor:
    """Return the blocks of a file; `part` reads one of them, by the worker that needs it.

    They are the chunks of the file, unless :func:`suanzi.cluster.blocks` says otherwise.
    """
    if chunks and any(n < 1 for n in chunks):
        raise InvalidArgument(f"{title} has chunks of {tuple(chunks)}; sizes must be at least 1.")
    own = tuple(chunks) if chunks and grid.is_left_open() else None
    cuts = grid.cut(shape, own, form.dtype)
    name = new_name(op)
    tasks = {}
    for place, where in grid.parts(cuts):
        facts = form.quantization and form.quantization.part(where)
        step = partial(_read, title, part, where, form, facts)
        tasks[(name, *place)] = (step,)
    made = from_tasks(name, tasks, cuts, form.dtype)
    return BlockTensor(made.graph, name, cuts, form.dtype, form.quantization)


def _read(
    title: str,
    part: Callable[[Where], np.ndarray[Any, Any]],
    where: Where,
    form: Form,
    facts: Quantization | None,
) -> Tensor:
    with errors_as(f"{title} cannot be read"):
        array = part(where)
    expected = tuple(axis.stop - axis.start for axis in where)
    if array.shape != expected or array.dtype.newbyteorder("=") != form.array.newbyteorder("="):
        raise InvalidArgument(
            f"{title} has changed: read a block of shape {array.shape} and dtype {array.dtype}, "
            f"expected shape {expected} and dtype {form.array}. Open it again."
        )
    return form.to_block(title, facts, array)


def write(
    op: str,
    title: str,
    x: BlockTensor,
    put: Callable[[Where, np.ndarray[Any, Any]], None],
    one_at_a_time: bool = False,
) -> None:
    """Write every block by the worker that has it, now; one after the other if it must be."""
    form, name = form_of(x), new_name(op)
    tasks: dict[Any, Any] = {}
    last: list[Any] = []
    for i, (place, where) in enumerate(grid.parts(x.blocks)):
        step = partial(_write, title, put, where, form)
        tasks[(name, i)] = (step, (x.name, *place), *last)
        last = [(name, i)] if one_at_a_time else []
    from_tasks(name, tasks, ((1,) * len(tasks),), int8, [x]).to_host()


def _write(
    title: str,
    put: Callable[[Where, np.ndarray[Any, Any]], None],
    where: Where,
    form: Form,
    block: Tensor,
    before: object = None,
) -> Tensor:
    array = form.to_array(block)
    with errors_as(f"{title} cannot be written"):
        put(where, array)
    return tensor([1], int8)


def attributes_of(form: Form) -> Mapping[str, Any]:
    """Return the attributes that an array of a file gets."""
    return {} if form.attribute is None else {ATTRIBUTE: form.attribute}


@contextmanager
def errors_as(what: str, *kept: type[Exception]) -> Iterator[None]:
    """Raise InvalidArgument with the first line of any error of a library, except those `kept`."""
    try:
        yield
    except kept:
        raise
    except Exception as error:  # of many kinds
        text = str(error).strip().splitlines()
        said = (text[0] if text else type(error).__name__)[:300].rstrip(".")
        raise InvalidArgument(f"{what}: {said}.") from error


def library(name: str, op: str) -> Any:
    """Return zarr or h5py."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        title = {"zarr": "Zarr"}.get(name, name)
        raise ImportError(
            f"{op} needs {title}; `pip install 'suanzi[cluster-files]'` installs it."
        ) from None
