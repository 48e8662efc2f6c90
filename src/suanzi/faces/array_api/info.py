"""What the namespace can do: ``__array_namespace_info__()``."""

from __future__ import annotations

from typing import Any

from suanzi.base.device import Device, DeviceLike, devices
from suanzi.base.dtypes import DType, complex64, float32, int64, isdtype, widened
from suanzi.base.shapes import MAX_NDIM
from suanzi.faces.array_api.arguments import HERE, device_of
from suanzi.faces.array_api.declare import EVERY

__all__ = ["__array_namespace_info__"]


class Info:
    """Devices, dtypes and capabilities of the namespace.

    >>> info = sz.array_api.__array_namespace_info__()
    >>> info.default_dtypes()["real floating"], list(info.dtypes(kind="real floating"))
    (suanzi.float32, ['float32', 'float64'])
    >>> list(info.more_dtypes(kind="real floating"))
    ['float8_e4m3fn', 'float8_e5m2', 'float16', 'bfloat16']
    """

    def capabilities(self) -> dict[str, Any]:
        """Return what may be done: index by masks, have shapes that depend on data."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": MAX_NDIM}

    def default_device(self) -> Device:
        """Return the device of what is made without one."""
        return HERE

    def devices(self) -> tuple[Device, ...]:
        """Return the devices that tensors can be on, as :func:`suanzi.devices`."""
        return devices()

    def default_dtypes(self, *, device: DeviceLike | None = None) -> dict[str, DType]:
        """Return the dtypes of what is made without one."""
        device_of("__array_namespace_info__", device)
        return {
            "real floating": float32,
            "complex floating": complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(
        self, *, device: DeviceLike | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the dtypes of the standard by name: all, or those of a kind (``"integral"``)."""
        device_of("__array_namespace_info__", device)
        return _of_kind([d for d in EVERY if d not in _MORE], kind)

    def more_dtypes(self, *, kind: str | tuple[str, ...] | None = None) -> dict[str, DType]:
        """Return the dtypes that the standard does not have; every function takes them."""
        return _of_kind([d for d in EVERY if d in _MORE], kind)


_MORE = tuple(dt for dt in EVERY if widened(dt) is not dt)


def _of_kind(dtypes: list[DType], kind: str | tuple[str, ...] | None) -> dict[str, DType]:
    found = sorted(dtypes, key=lambda d: d.index)
    return {d.name: d for d in found if kind is None or isdtype(d, kind)}


def __array_namespace_info__() -> Info:
    """Return what the namespace can do."""
    return Info()
