"""Files of runs: what every call and every layer of a program gave, to compare another run with.

A file is JSON lines, compressed by gzip: a head, calls and layers in their order, an end. Of each
tensor it has a hash of all bits, its size and some elements, so that a file stays small; the schema
of a line is ``suanzi skill --schema blame-run``.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, cast

import numpy as np

from suanzi.base.status import InvalidArgument
from suanzi.recording.recorders.appending import Appended
from suanzi.validate.blame.judging import Judged
from suanzi.validate.blame.locations import Place
from suanzi.validate.blame.sampling import name_of

FORMAT = "suanzi-blame-run/1"
SAMPLES, SIZE = 16, 256 << 20
MOST_SAMPLES = 1 << 20
_UNPACKED, _RATIO = 1 << 24, 100
"""Bytes of a file when it is unpacked, and of a line: so many, or so many times its own."""
_TENSORS = 16
"""How many tensors of a list are recorded."""
_CHUNK = 1 << 22
_WEIGHT = 0x9E3779B97F4A7C15 - (1 << 64)
"""An odd number: elements at other positions count otherwise in a hash."""


@dataclass
class Run:
    """What was recorded of a program."""

    head: dict[str, Any] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    layers: list[dict[str, Any]] = field(default_factory=list)
    dropped: int = 0
    """Calls that the file had no room for."""

    @property
    def name(self) -> str:
        """The framework and the devices."""
        devices = sorted({d for call in self.calls for d in call["devices"]})
        return ", ".join([self.head.get("framework", "?"), *devices])


class Recorder:
    """Describes the calls of a run; writes them to a file, keeps them, or both."""

    def __init__(
        self, torch: Any, head: dict[str, Any], path: str | None, samples: int, size: int,
        keep: bool,
    ) -> None:  # fmt: skip
        self.torch, self.samples, self.size = torch, samples, size
        self.run = Run(head)
        self.keep, self.path, self.file, self.written = keep, path, None, 0
        self.open: dict[int, dict[str, Any]] = {}
        if path is not None:
            try:
                self.path = os.path.abspath(path)
                self.raw = Appended(f"{self.path}.part")
            except OSError as error:
                raise InvalidArgument(
                    f"blame: {path!r} cannot be written: {error.strerror}."
                ) from None
            self.file = gzip.GzipFile(
                fileobj=cast(Any, self.raw), mode="wb", compresslevel=1, mtime=0
            )
            self._write({"format": FORMAT, "samples": samples, **head})

    def begin(
        self, number: int, operator: str, is_random: bool, place: Place, backward: bool, step: int,
        inputs: Iterator[Any],
    ) -> None:  # fmt: skip
        """Describe a call before it is made."""
        some = [x for x, _ in zip(inputs, range(_TENSORS), strict=False)]
        self.open[number] = {
            "call": number, "op": operator, "random": is_random, "layer": place.layer,
            "file": place.file, "line": place.line, "function": place.function,
            "backward": backward, "step": step, "inputs": [self.tensor(x, 4) for x in some],
            "devices": sorted({x.device.type for x in some}),
        }  # fmt: skip

    def end(self, number: int, outputs: Iterator[Any], judged: Judged | None) -> None:
        """Describe what a call gave, and what the truth says of it."""
        record = self.open.pop(number, None)
        if record is None:
            return
        some = [x for x, _ in zip(outputs, range(_TENSORS), strict=False)]
        record["outputs"] = [self.tensor(x) for x in some]
        record["devices"] = sorted({*record["devices"], *(x.device.type for x in some)})
        record["judged"] = None
        if judged is not None:
            beyond = judged.share > 1 and judged.wrong > 0
            kind = "inaccurate" if judged.is_small else "wrong"
            record["judged"] = {
                "share": judged.share if math.isfinite(judged.share) else None,
                "kind": kind if beyond else "right", "words": judged.words,
            }  # fmt: skip
        self._add(record, self.run.calls)

    def layer(self, name: str, step: int, outputs: Iterator[Any]) -> None:
        """Describe what a layer returned."""
        some = [self.tensor(x) for x, _ in zip(outputs, range(4), strict=False)]
        if some:
            self._add({"module": name, "step": step, "outputs": some}, self.run.layers)

    def _add(self, record: dict[str, Any], to: list[dict[str, Any]]) -> None:
        if self.keep:
            to.append(record)
        if self.file is not None:
            if self.written >= self.size:
                self.run.dropped += 1
            else:
                self._write(record)

    def _write(self, record: dict[str, Any]) -> None:
        assert self.file is not None
        line = json.dumps(record, separators=(",", ":"), allow_nan=False).encode() + b"\n"
        self.written += len(line)
        self.file.write(line)

    def close(self, raised: str | None) -> None:
        """Complete the file."""
        if self.file is None or self.path is None:
            return
        self._write({"end": True, "raised": raised, "dropped": self.run.dropped})
        self.file.close()
        self.raw.close()
        os.replace(f"{self.path}.part", self.path)
        self.file = None

    # ---- tensors -------------------------------------------------------------------------------

    def tensor(self, x: Any, fewer: int = 1) -> dict[str, Any]:
        """Return what is recorded of a tensor."""
        torch = self.torch
        found: dict[str, Any] = {"dtype": name_of(x.dtype), "shape": [int(n) for n in x.shape]}
        plain = x.layout == torch.strided and not (x.is_nested or x.is_quantized or x.is_complex())
        if not plain or x.device.type == "meta" or not x.numel():
            return found
        x = x.detach()
        flat = x.contiguous().view(-1)
        found["hash"] = f"{self._hash(flat):016x}"
        wide = flat.to(torch.float64) if flat.numel() <= _CHUNK else flat[:_CHUNK].double()
        finite = torch.isfinite(wide)
        safe = torch.where(finite, wide, 0.0)
        rms, most, odd = torch.stack(
            [safe.square().mean().sqrt(), safe.abs().max(), (~finite).sum().double()]
        ).tolist()
        found |= {"rms": rms, "max": most, "odd": int(odd)}
        count = self.samples // fewer
        if count:
            at = np.unique(np.linspace(0, flat.numel() - 1, count).astype(np.int64))
            some = flat[torch.as_tensor(at).to(flat.device)].double().tolist()
            found["values"] = [v if math.isfinite(v) else str(v) for v in some]
        return found

    def _hash(self, flat: Any) -> int:
        """Return a number of all bits: the same for the same elements in the same order."""
        torch = self.torch
        if flat.dtype == torch.bool:
            bits = flat.to(torch.uint8)
        else:
            size = flat.element_size()
            bits = flat.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size])
        total = 0
        for start in range(0, bits.numel(), _CHUNK):
            some = bits[start : start + _CHUNK].to(torch.int64)
            weights = torch.arange(start, start + some.numel(), device=some.device)
            weights = (weights * 2 + 1) * _WEIGHT
            mixed = (some + 1) * weights
            total += int((mixed ^ (mixed >> 29)).sum())
        return total % (1 << 64)


_NUMBER: Any = (int, float)
_KINDS: dict[str, dict[str, Any]] = {
    "format": {"samples": int, "framework": str},
    "op": {"call": int, "op": str, "random": bool, "layer": str, "file": str, "line": int,
           "function": str, "backward": bool, "step": int, "inputs": list, "outputs": list,
           "devices": list, "judged": (dict, type(None))},
    "module": {"module": str, "step": int, "outputs": list},
    "end": {"dropped": int},
}  # fmt: skip
"""The lines of a file by a key of each, with the types of what they have."""


def _is_right(record: Any) -> bool:
    """Tell whether a line of a file has all that is read of it."""
    if not isinstance(record, dict):
        return False
    types = next((t for key, t in _KINDS.items() if key in record), None)
    if types is None or not all(isinstance(record.get(k), t) for k, t in types.items()):
        return False
    judged = record.get("judged")
    if judged is not None and not (
        judged.get("kind") in ("right", "inaccurate", "wrong")
        and isinstance(judged.get("share"), (*_NUMBER, type(None)))
    ):
        return False
    tensors = [*record.get("inputs", ()), *record.get("outputs", ())]
    return (
        0 <= record.get("samples", 0) <= MOST_SAMPLES
        and all(isinstance(one, str) for one in record.get("devices", ()))
        and all(map(_is_tensor, tensors))
    )


def _is_tensor(x: Any) -> bool:
    """Tell whether this is what is recorded of a tensor."""
    return (
        isinstance(x, dict)
        and isinstance(x.get("dtype"), str)
        and isinstance(x.get("shape"), list)
        and isinstance(x.get("hash", ""), str)
        and all(isinstance(x.get(k, 0), _NUMBER) for k in ("rms", "max", "odd"))
        and isinstance(x.get("values", []), list)
        and all(isinstance(v, _NUMBER) or v in ("nan", "inf", "-inf") for v in x.get("values", ()))
    )


def _records(path: str | PathLike[str]) -> Iterator[Any]:
    """Give the lines of a file, of which no more is unpacked than a recorder packs."""
    left = max(_UNPACKED, _RATIO * os.path.getsize(path))
    with gzip.open(path, "rb") as file:
        while line := file.readline(min(left, _UNPACKED)):
            left -= len(line)
            if left <= 0 or len(line) == _UNPACKED:
                raise InvalidArgument(
                    f"blame: {str(path)!r} is far larger unpacked than a run that `suanzi blame "
                    "--record` writes. Record the run again."
                )
            yield json.loads(line.decode("utf-8"))


def read_run(path: str | PathLike[str]) -> Run:
    """Return a run that `suanzi blame --record` wrote."""
    try:
        records = list(_records(path))
    except (EOFError, zlib.error):
        raise InvalidArgument(
            f"blame: {str(path)!r} is not complete: it was cut off. Record the run again."
        ) from None
    except OSError as error:
        why = error.strerror or "it was not written by `suanzi blame --record`"
        raise InvalidArgument(f"blame: {str(path)!r} cannot be read: {why}.") from None
    except InvalidArgument:
        raise
    except (ValueError, RecursionError):
        records = []
    if not records or not isinstance(records[0], dict) or records[0].get("format") != FORMAT:
        raise InvalidArgument(
            f"blame: {str(path)!r} has no run of the format {FORMAT!r}, "
            "as `suanzi blame --record` writes it."
        )
    bad = next((i for i, one in enumerate(records) if not _is_right(one)), None)
    if bad is not None:
        raise InvalidArgument(
            f"blame: {str(path)!r} is damaged: its line {bad + 1} is not as `suanzi skill "
            "--schema blame-run` has it. Record the run again."
        )
    head, *rest = records
    run = Run(head)
    for record in rest:
        if "op" in record:
            run.calls.append(record)
        elif "module" in record:
            run.layers.append(record)
        else:
            run.dropped = int(record.get("dropped", 0))
    return run
