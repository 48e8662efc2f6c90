"""TorchTensor: a tensor on a device of PyTorch, on the memory of a tensor of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import torch

from suanzi import _core
from suanzi.base.device import Device, DeviceLike
from suanzi.base.dtypes import DType, DTypeLike
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.layout import Layout, LayoutType, min2maj_of
from suanzi.base.status import AllocFailed, InvalidArgument, TypeMismatch, UninitializedObject
from suanzi.faces.array_api.declare import RULES, SYMBOLS
from suanzi.promote import registry
from suanzi.promote.context import get_promotion
from suanzi.promote.registry import LOADERS
from suanzi.runtimes.torch import deferred_errors, forks
from suanzi.runtimes.torch.dtypes import SUANZI, TORCH, carried, resolved, suanzi_dtype
from suanzi.tensors.elsewhere import Elsewhere
from suanzi.tensors.methods import counted
from suanzi.tensors.parts import permuted
from suanzi.tensors.print_options import in_force
from suanzi.tensors.printing import described, shown_of
from suanzi.tensors.tensor import Tensor

if TYPE_CHECKING:
    import numpy as np


class _Running:
    """What the methods call; modules above set it."""

    run: Callable[..., Any]
    again: Callable[..., Any]
    get: Callable[..., Any]
    put: Callable[..., Any]


def declare_running(run: Callable[..., Any], again: Callable[..., Any]) -> None:
    """Say what runs operators, and what runs calls that were checked before."""
    _Running.run, _Running.again = staticmethod(run), staticmethod(again)


def declare_subscripts(get: Callable[..., Any], put: Callable[..., Any]) -> None:
    """Say what ``x[key]`` and ``x[key] = value`` do."""
    _Running.get, _Running.put = staticmethod(get), staticmethod(put)


class TorchTensor(Elsewhere):
    """Elements of one dtype in a shape, on a device of PyTorch.

    Make one with ``sz.tensor(x, device="cuda")``, with any creation interface and a device, or on
    the memory of a tensor of PyTorch with :func:`suanzi.torch.from_torch`.
    """

    # The core reads and writes them where they lie.
    __slots__ = ("_device", "_dtype", "_likeness", "_plain", "_shape", "is_array_api")

    def __init__(self, plain: torch.Tensor, device: Device) -> None:
        """Arguments are not checked: the dtype is one that suanzi has."""
        self._plain: torch.Tensor | None = plain
        self._device = device
        self._dtype = SUANZI[plain.dtype]
        self._shape = tuple(plain.shape)
        self._likeness = 0
        self.is_array_api = False

    @property
    def likeness(self) -> int:
        """A number that tensors of one dtype, shape, strides and device share."""
        if not self._likeness:
            plain = self.plain
            facts = self._dtype, self._shape, plain.stride(), plain.device
            if len(_likenesses) > _MOST_LIKENESSES:
                _likenesses.clear()
            self._likeness = _likenesses.get(facts, 0) or next(_numbers)
            _likenesses[facts] = self._likeness
        return self._likeness

    # ---- what it is ------------------------------------------------------------------------------

    @property
    def plain(self) -> torch.Tensor:
        """The tensor of PyTorch."""
        if self._plain is None:
            raise UninitializedObject("the tensor was destroyed.")
        return self._plain

    def alive(self, title: str, name: str) -> None:
        """Raise UninitializedObject if it was destroyed."""
        if self._plain is None:
            raise UninitializedObject(f"{title}: {name} was destroyed.")

    def destroy(self) -> None:
        """Give up the memory."""
        self._plain, self._likeness = None, 0  # a call that was kept asks for its likeness

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return self._shape

    @property
    def device(self) -> Device:
        """The device the elements are on."""
        return self._device

    @property
    def strides(self) -> tuple[int, ...]:
        """The steps in memory along each axis, in elements."""
        return tuple(self.plain.stride())

    @property
    def layout(self) -> Layout:
        """The order of the axes in memory."""
        return Layout(LayoutType.DENSE, min2maj_of(self.shape, self.strides))

    scale = zero_point = channel_axis = None

    # ---- to and from others ----------------------------------------------------------------------

    def to_host(self) -> Tensor:
        """Return a copy on the CPU; errors of calls on the device are raised here."""
        forks.check(self.plain.device)
        deferred_errors.check(self.plain.device)
        made = fetched(self.plain)
        return _core.as_array_api(made) if self.is_array_api else made

    def to_device(self, device: DeviceLike, /, *, stream: object = None) -> Any:
        """Return the tensor on a device: itself if it is there, else a copy."""
        try:
            place = Device(device)
        except InvalidArgument as error:
            raise InvalidArgument(f"to_device: {error}") from None
        if place == self.device:
            return self
        if place.name == "cpu":
            return self.to_host()
        from suanzi.base.device import provider_of, take

        provider = provider_of(place)
        made = NotImplemented if provider is None else take(self, None, place, provider)
        if made is NotImplemented:
            return self.to_host().to_device(place)
        made.is_array_api = self.is_array_api
        return made

    def to_torch(self) -> torch.Tensor:
        """Return the tensor of PyTorch on the same memory."""
        return self.plain

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError(f"the tensor is on {self.device}; an array of NumPy needs a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> object:  # fmt: skip
        given: dict[str, Any] = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        if stream is not None or self.plain.is_cuda:
            given["stream"] = stream
        return resolved(self.plain).__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self.plain.__dlpack_device__()
        return int(kind), int(number)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """Return :mod:`suanzi.array_api`."""
        return LOADERS["array_api"]()

    # ---- other forms of it -----------------------------------------------------------------------

    def transpose(self, *axes: Any) -> Any:
        """Return a view with the axes in another order; without one, from the last to the first."""
        if not axes or axes == (None,):
            return self.T
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        order = [counted(axis, self.ndim) for axis in given]
        if set(order) == set(range(self.ndim)):  # the operator takes where each axis goes
            order = [order.index(i) for i in range(self.ndim)]
        return self._call("transpose", order)

    @property
    def mT(self) -> TorchTensor:
        """Matrices transposed."""
        if self.ndim < 2:
            raise InvalidArgument(f"mT: the tensor has shape {self.shape}; it needs two axes.")
        return self.transpose(*range(self.ndim - 2), self.ndim - 1, self.ndim - 2)

    def flatten(self) -> Any:
        """Return a copy of the elements along one axis, row by row."""
        return self.copy().reshape(-1)

    def copy(self) -> Any:
        """Return a copy with memory of its own."""
        return self._call("duplicate")

    def astype(self, dtype: DTypeLike, /, *, copy: bool = True) -> TorchTensor:
        """Return the elements in another dtype, as :func:`suanzi.cast`."""
        target = dtype_of(dtype)
        return self if target is self.dtype and not copy else self._call("cast", target)

    def __suanzi_operator__(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        return _Running.run(name, args, kwargs)

    def __suanzi_function__(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Compute a function of the array API; with ``device=``, move what comes of it there."""
        given = dict(kwargs)
        device = given.pop("device", None)
        if name == "array_api:asarray" and args and isinstance(args[0], list | tuple):
            made = self._stacked(args[0], **given)
        else:
            made = _Running.again(name, args, given)
            made = _Running.run(name, args, given) if made is NotImplemented else made
        return made if device is None else made.to_device(device)

    def _stacked(self, obj: Any, *, dtype: DTypeLike = None, copy: bool | None = None) -> Any:
        """Return lists of tensors and numbers as one tensor of this device."""
        if copy is False:
            raise InvalidArgument("asarray: copy is False, and a copy is needed of a list.")
        asarray = registry.FUNCTIONS["array_api:asarray"]
        parts = [x if isinstance(x, TorchTensor) else asarray(x, device=self.device) for x in obj]
        made = registry.FUNCTIONS["array_api:stack"](parts)
        return made if dtype is None else registry.FUNCTIONS["array_api:astype"](made, dtype)

    def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        made = super()._call(name, *args, **kwargs)
        made.is_array_api = self.is_array_api
        return made

    def _of_symbol(self, name: str, operands: tuple[Any, ...]) -> Any:
        """Call what a symbol means: for tensors of the array API's namespace, its function."""
        if any(getattr(x, "is_array_api", False) for x in operands) or get_promotion() is RULES:
            return registry.FUNCTIONS[SYMBOLS[name]](*operands)
        return registry.call(name, *operands)

    # ---- Python ----------------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> TorchTensor:
        made: TorchTensor = _Running.get(self, key)
        made.is_array_api = self.is_array_api
        return made

    def __setitem__(self, key: Any, value: Any) -> None:
        _Running.put(self, key, value)

    def __repr__(self) -> str:
        """Return the elements that printing shows; only they are fetched."""
        if self._plain is None:
            return "TorchTensor(destroyed)"
        deferred_errors.check(self._plain.device)
        options = in_force()
        axes = shown_of(self.shape, options)
        part = carried(self._plain)
        for axis, shown in enumerate(axes):
            if None in shown:
                taken = [i for i in shown if i is not None]
                part = part.index_select(axis, torch.tensor(taken, device=part.device))
        sample = fetched(resolved(part).contiguous().view(self._plain.dtype).reshape(part.shape))
        facts = [f"dtype={self.dtype}", f"device={str(self.device)!r}"]
        if self.size == 0:
            facts.insert(0, f"shape={self.shape}")
        return described("TorchTensor(", axes, sample, facts, options)

    def __index__(self) -> int:
        if self.dtype.kind not in ("int", "uint", "bool") or self.size != 1:
            raise TypeMismatch(
                f"an index is one integer, not a tensor of {self.dtype} with shape {self.shape}."
            )
        return int(self)

    def __neg__(self) -> Any:
        if self.is_array_api:
            return self._of_symbol("negative", (self,))
        made = _Running.again("negative", (self,), {})
        return _Running.run("negative", (self,), {}) if made is NotImplemented else made


_likenesses: dict[tuple[Any, ...], int] = {}
_numbers = count(1)
_MOST_LIKENESSES = 1 << 16


def fetched(x: torch.Tensor) -> Tensor:
    """Return a tensor of PyTorch as one of the CPU's, with memory of its own."""
    forks.check(x.device)
    order = _slow_first(tuple(x.shape), tuple(x.stride()))
    rows = x.permute(order)
    made = _core.empty(tuple(rows.shape), suanzi_dtype(x))
    if x.numel():
        try:
            here = torch.empty(x.numel(), dtype=x.dtype)  # which has a stride of 1, whatever x has
            here.copy_(resolved(rows).detach().reshape(-1))
        except RuntimeError as error:
            if not lacks_memory(error):
                raise
            raise AllocFailed(f"to_host: not enough memory: {first_line(error)}.") from None
        made.storage.memory[: x.nbytes] = here.view(torch.uint8).numpy().data
    return permuted(made, [order.index(axis) for axis in range(x.dim())])


def lacks_memory(error: Exception) -> bool:
    """Return whether an error is PyTorch's for too little memory, which on a CPU has no type."""
    words = first_line(error)
    return isinstance(error, MemoryError | torch.OutOfMemoryError) or (
        isinstance(error, RuntimeError) and "alloc" in words and "memory" in words
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an error's words, without the full stop."""
    return str(error).strip().partition("\n")[0].rstrip(".")


def _slow_first(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[int]:
    """Return the axes from the slowest to the fastest in memory; with gaps, in their order."""
    order = min2maj_of(shape, strides)
    return list(range(len(shape)) if order is None else order[::-1])


def placed(x: Tensor, place: torch.device) -> torch.Tensor:
    """Return a tensor of the CPU as one of PyTorch on a device, with memory of its own."""
    wanted = TORCH[x.dtype]
    order = _slow_first(x.shape, x.strides)
    rows = permuted(x, order)
    if x.size:
        rows = _core.row_major_copy(rows)
        first = rows.offset * x.dtype.itemsize
        memory = rows.storage.memory[first : first + x.nbytes]
        here = torch.frombuffer(memory, dtype=torch.uint8).view(wanted).reshape(rows.shape)
        made = here.clone() if place.type == "cpu" else here.to(place)
    else:
        made = torch.empty(rows.shape, dtype=wanted, device=place)
    return made.permute([order.index(axis) for axis in range(x.ndim)])


def from_torch(x: torch.Tensor) -> TorchTensor:
    """Return a tensor on the memory of a tensor of PyTorch, on its device."""
    suanzi_dtype(x)
    return TorchTensor(resolved(x.detach()), Device(f"torch:{x.device.type}", x.device.index or 0))
