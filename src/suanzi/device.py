"""Devices: where a tensor's memory is, and who computes with it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from suanzi._hints import nearest
from suanzi.status import InvalidArgument


class DeviceType(IntEnum):
    """The device types of clause 6.5; A.1 numbers the first two."""

    CPU = 0
    GPU = 1
    NPU = 2
    FPGA = 3
    ASIC = 4


@dataclass(frozen=True)
class Device:
    """A device: its type, and its number among those of the type.

    >>> Device("cpu")
    Device('cpu')
    >>> Device("npu", 1), Device("npu:1") == Device("npu", 1)
    (Device('npu:1'), True)
    """

    type: DeviceType
    id: int = 0

    def __init__(self, type: str | DeviceType | Device = "cpu", id: int | None = None) -> None:
        number = id
        if isinstance(type, Device):
            number = type.id if id is None else id
            type = type.type
        elif isinstance(type, str):
            name, _, suffix = type.partition(":")
            if name.upper() not in DeviceType.__members__:
                names = [member.lower() for member in DeviceType.__members__]
                raise InvalidArgument(
                    f"Device: {name!r} is not a device type; there are {', '.join(names)}."
                    + nearest(name, names)
                )
            type = DeviceType[name.upper()]
            if suffix:
                number = int(suffix) if suffix.isdecimal() else -1
        number = 0 if number is None else number
        if not isinstance(type, DeviceType) or not isinstance(number, int) or number < 0:
            raise InvalidArgument(
                "Device: write a type and a number, such as Device('npu', 1) or Device('npu:1')."
            )
        object.__setattr__(self, "type", type)
        object.__setattr__(self, "id", number)

    def __str__(self) -> str:
        name = self.type.name.lower()
        return f"{name}:{self.id}" if self.id else name

    def __repr__(self) -> str:
        return f"Device({str(self)!r})"


CPU = Device("cpu")
"""The device every tensor of this package's own core is on."""
