"""Devices: where a tensor's memory is, and who computes with it.

The CPU is the core itself. Other devices are those of a provider, which is registered, or announced
by an installed package and imported when its name is first used. ``cuda``, ``xpu``, ``mps`` and
``torch:NAME`` are PyTorch's devices, provided by :mod:`suanzi.torch`.

>>> sz.zeros((2,), device="npu:1")
Traceback (most recent call last):
    ...
suanzi.status.InvalidArgument: zeros (7.2.1.3): no provider for npu is installed; sz.devices() \
lists the devices. Install a package that provides one, or register yours with \
sz.register_device('npu', provider).
"""

from __future__ import annotations

from builtins import type as builtin_type
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from suanzi.base.hints import nearest
from suanzi.base.status import (
    AllocFailed,
    InternalError,
    InvalidArgument,
    StatusError,
    TypeMismatch,
)

if TYPE_CHECKING:
    from suanzi._core import DType
    from suanzi.tensors.tensor import Tensor


class DeviceType(IntEnum):
    """The device types of clause 6.5; A.1 numbers the first two.

    CLUSTER is not the standard's: many machines, whose tensors are cut into blocks.
    """

    CPU = 0
    GPU = 1
    NPU = 2
    FPGA = 3
    ASIC = 4
    CLUSTER = 5


TORCH = "torch"
"""What stands before the name that PyTorch has for a device: ``torch:cpu``."""
TORCH_DEVICES = {
    "cpu": DeviceType.CPU, "cuda": DeviceType.GPU, "xpu": DeviceType.GPU, "mps": DeviceType.GPU,
    "npu": DeviceType.NPU,
}  # fmt: skip
"""The types of PyTorch's devices, by PyTorch's names."""
TORCH_ALONE = ("cuda", "xpu", "mps")
"""The names of PyTorch's devices that mean nothing else: ``torch:`` can be left out."""


@dataclass(frozen=True)
class Device:
    """A device: its type, its number among those of its provider, and the provider's name.

    The name is that of the type, or one of PyTorch's devices.

    >>> Device("cpu")
    Device('cpu')
    >>> Device("npu", 1), Device("npu:1") == Device("npu", 1)
    (Device('npu:1'), True)
    >>> Device("cuda:1").type, Device("torch:cuda:1"), Device("torch:cpu").type
    (<DeviceType.GPU: 1>, Device('cuda:1'), <DeviceType.CPU: 0>)
    """

    type: DeviceType
    id: int = 0
    name: str = ""

    def __init__(self, type: str | DeviceType | Device = "cpu", id: int | None = None) -> None:
        number, called = id, ""
        if isinstance(type, Device):
            number = type.id if id is None else id
            type, called = type.type, type.name
        elif isinstance(type, str):
            type, called, suffix = _read(type)
            if suffix:
                number = int(suffix) if suffix.isdecimal() else -1
        try:
            number = 0 if number is None else -1 if isinstance(number, bool) else index(number)
        except TypeError:
            number = -1
        if not isinstance(type, DeviceType) or number < 0:
            raise InvalidArgument(
                "Device: write a type and a number, such as Device('npu', 1) or Device('npu:1')."
            )
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "id", number)
        object.__setattr__(self, "name", called or type.name.lower())

    def __str__(self) -> str:
        return f"{self.name}:{self.id}" if self.id else self.name

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"


def _read(text: str) -> tuple[DeviceType, str, str]:
    """Return the type, the name of the provider and the number that a text has."""
    name, _, suffix = text.partition(":")
    name = name.lower()
    if name == TORCH:
        name, _, suffix = suffix.partition(":")
        name = name.lower()
        if name not in TORCH_DEVICES:
            names = [f"{TORCH}:{known}" for known in TORCH_DEVICES]
            raise InvalidArgument(
                f"Device: {text!r} is not a device of PyTorch; use one of {', '.join(names)}."
            )
        return TORCH_DEVICES[name], name if name in TORCH_ALONE else f"{TORCH}:{name}", suffix
    if name in TORCH_ALONE:
        return TORCH_DEVICES[name], name, suffix
    if name.upper() not in DeviceType.__members__:
        names = [
            *(member.lower() for member in DeviceType.__members__),
            *TORCH_ALONE,
            f"{TORCH}:cpu",
        ]
        raise InvalidArgument(
            f"Device: {name!r} is not a device type; use one of {', '.join(names)}."
            + nearest(name, names)
        )
    return DeviceType[name.upper()], name, suffix


def is_name(text: str) -> bool:
    """Tell whether a text begins with the name of a device."""
    first = text.partition(":")[0].lower()
    return first.upper() in DeviceType.__members__ or first in (*TORCH_ALONE, TORCH)


DeviceLike: TypeAlias = "Device | DeviceType | str"
"""What :class:`Device` takes for a device: one, a type, or a name such as ``"npu:1"``."""

CPU = Device("cpu")
"""The device every tensor of this package's own core is on."""

ENTRY_POINTS = "suanzi.devices"
"""The group of entry points in which packages announce providers, by name; ``-`` is ``:`` there."""


class DeviceTensor(Protocol):
    """A tensor on a device, of a class that its provider brings."""

    @property
    def dtype(self) -> DType:
        """The type of the elements."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The size along each axis."""

    @property
    def device(self) -> Device:
        """The device the elements are on."""

    def to_host(self) -> Tensor:
        """Return a copy on the CPU."""

    def __suanzi_operator__(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Compute an operator on the device; NotImplemented if it cannot."""


class DeviceProvider(Protocol):
    """Who knows the devices of a type.

    It may also have a method ``create(name, device, arguments)`` that makes a tensor on a device
    itself, for the creation interface of that name with arguments that were checked, and returns
    NotImplemented for those it leaves: they are computed on the host, and uploaded. And a method
    ``take(data, dtype, device)`` that makes a tensor of what :func:`suanzi.tensor` is given, where
    it need not pass through the host, and returns NotImplemented otherwise. And a method
    ``synchronize()`` that waits for what its devices compute, and raises the first error of it.
    """

    def count(self) -> int:
        """Return how many devices of the type there are now."""

    def upload(self, tensor: Tensor, device: Device) -> DeviceTensor:
        """Return a copy of a tensor of the host on a device."""


_PROVIDERS: dict[str, Any] = {}


def register_device(type: DeviceType | str, provider: DeviceProvider | None) -> None:
    """Say who provides the devices of a type; None takes the provider away.

    A package announces its own by an entry point of the group ``suanzi.devices`` with the name of
    the type, which names the provider or a function that makes it. It is imported when the type is
    first used.

    >>> class Nobody:
    ...     def count(self): return 0
    ...     def upload(self, tensor, device): raise NotImplementedError
    >>> sz.register_device("fpga", Nobody())
    >>> sz.zeros((2,), device="fpga")
    Traceback (most recent call last):
        ...
    suanzi.status.InvalidArgument: zeros (7.2.1.3): there is no device fpga; its provider has none.
    >>> sz.register_device("fpga", None)
    """
    chosen = Device(type)
    if chosen.id or chosen == CPU:
        raise InvalidArgument(
            f"register_device: {type!r} has no provider; it is for gpu, npu, fpga, asic or "
            "cluster, without a number. suanzi itself provides the cpu."
        )
    if provider is None:
        _PROVIDERS.pop(chosen.name, None)
        return
    _PROVIDERS[chosen.name] = _checked_provider(provider)


def devices() -> tuple[Device, ...]:
    """Return every device that can be used now, the CPU first.

    >>> sz.devices()[0]
    Device('cpu')
    """
    found = [CPU]
    others = [type.name.lower() for type in DeviceType if type is not DeviceType.CPU]
    for name in [*others, *TORCH_ALONE, *(f"{TORCH}:{other}" for other in ("npu", "cpu"))]:
        try:
            found += [Device(name, id) for id in range(_count(name))]
        except StatusError:  # no provider, or one that does not work: none of its can be used
            continue
    return tuple(found)


def synchronize() -> None:
    """Wait for everything that devices compute, and raise the first error that was found there.

    A device reports what depends on the elements, such as an integer division by zero, here, in
    the standard's form, and where elements are fetched.

    >>> sz.synchronize()
    """
    for provider in list(_PROVIDERS.values()):
        if hasattr(provider, "synchronize"):
            provider.synchronize()


def settle(made: Any) -> None:
    """Wait for outputs on devices, and raise the error that was found in computing them."""
    for x in made if isinstance(made, list | tuple) else (made,):
        if hasattr(type(x), "__suanzi_operator__") and hasattr(x, "device"):
            wait = getattr(_PROVIDERS.get(x.device.name), "synchronize", None)
            if wait is not None:
                wait()
                return


def provider_of(device: Device) -> DeviceProvider | None:
    """Return who provides a device, None if it is the core itself; InvalidArgument: nobody does."""
    if device == CPU:
        return None
    if device.name == CPU.name:
        raise InvalidArgument(f"there is no device {device}; the only CPU device is cpu.")
    count = _count(device.name)
    if device.id >= count:
        there = ", ".join(str(Device(device.name, id)) for id in range(min(count, 8)))
        more = ", ..." if count > 8 else ""
        said = f"there are {there}{more}" if count else "its provider has none"
        raise InvalidArgument(f"there is no device {device}; {said}.")
    provider: DeviceProvider = _provider(device.name)
    return provider


def upload(tensor: Tensor, device: Device, provider: DeviceProvider) -> Any:
    """Return a copy of a tensor on a device of a provider, which is held to its word."""
    asked = {"dtype": tensor.dtype, "shape": tensor.shape}
    return _asked(device, asked, lambda: provider.upload(tensor, device))


def create(
    name: str, device: Device, provider: DeviceProvider, arguments: Mapping[str, Any]
) -> Any:
    """Return a tensor that a provider makes itself, or NotImplemented if it makes none."""
    own = getattr(provider, "create", None)
    if own is None:
        return NotImplemented
    return _asked(device, arguments, lambda: own(name, device, dict(arguments)))


def take(data: Any, dtype: DType | None, device: Device, provider: DeviceProvider) -> Any:
    """Return a tensor that a provider makes of data without the host, or NotImplemented."""
    own = getattr(provider, "take", None)
    made = NotImplemented if own is None else own(data, dtype, device)
    if made is NotImplemented:
        return made
    asked = {"dtype": made.dtype if dtype is None else dtype, "shape": made.shape}
    return _asked(device, asked, lambda: made)


def _asked(device: Device, asked: Mapping[str, Any], call: Callable[[], Any]) -> Any:
    try:
        made = call()
        if made is NotImplemented:
            return made
        came = made.device, made.dtype, tuple(made.shape)
        right = callable(made.to_host) and callable(made.__suanzi_operator__)
    except StatusError:
        raise
    except MemoryError as error:
        raise AllocFailed(f"not enough memory on {device}: {error}".rstrip(". :") + ".") from error
    except Exception as error:
        raise _failed(device.name, error) from error
    if not right or came != (device, asked["dtype"], tuple(asked["shape"])):
        raise InternalError(
            f"the provider of {device.name} made a tensor of {came[1]} with shape {came[2]} "
            f"on {came[0]}; requested were {asked['dtype']}, {asked['shape']} and {device}."
        )
    return made


def _failed(name: str, error: Exception) -> StatusError:
    words = f"{error.__class__.__name__}: {error}".rstrip(".")
    if type(error) is ImportError:  # raised on purpose: what the device needs is not installed
        return InvalidArgument(f"no device {name}: {str(error).rstrip('.')}.")
    return InternalError(f"the provider of {name} failed: {words}.")


def _checked_provider(provider: Any) -> Any:
    if not callable(getattr(provider, "count", None)) or not callable(
        getattr(provider, "upload", None)
    ):
        raise TypeMismatch(
            f"register_device: a {provider.__class__.__name__} is not a provider; it needs the "
            "methods count() and upload(tensor, device)."
        )
    return provider


@cache
def _announced() -> dict[str, Any]:
    """Return the entry points by the name of the provider; nothing is imported yet."""
    from importlib.metadata import entry_points

    return {one.name.lower().replace("-", ":"): one for one in entry_points(group=ENTRY_POINTS)}


def _provider(name: str) -> Any:
    """Return the provider of a name, importing the package that announced it if need be."""
    if name in _PROVIDERS:
        return _PROVIDERS[name]
    entry = _announced().get(name)
    if entry is None:
        raise InvalidArgument(
            f"no provider for {name} is installed; sz.devices() lists the devices. "
            "Install a package that provides one, or register yours with "
            f"sz.register_device({name!r}, provider)."
        )
    try:
        found = entry.load()
        if isinstance(found, builtin_type) or not hasattr(found, "upload"):
            found = found()
        _PROVIDERS[name] = _checked_provider(found)
    except Exception as error:
        raise _failed(name, error) from error
    return _PROVIDERS[name]


def _count(name: str) -> int:
    provider = _provider(name)
    try:
        return max(0, index(provider.count()))
    except Exception as error:
        raise _failed(name, error) from error
