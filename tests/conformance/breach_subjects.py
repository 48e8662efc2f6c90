"""Subjects that break one clause each, and are suanzi in all else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import suanzi as sz
from suanzi.conformance.subjects.suanzi_adapter import Adapter
from suanzi.conformance.subjects.wire import Data, Unsupported
from suanzi.faces import interface


class WrapsByCopying(Adapter):
    """7.2.1.2: wrap_tensor takes the values into memory of its own."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call("create_tensor" if op == "wrap_tensor" else op, arguments)


class CreatesBySharing(Adapter):
    """7.2.1.1: create_tensor lies on the memory of the values."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        if op == "create_tensor":
            op, arguments = "wrap_tensor", {k: v for k, v in arguments.items() if k != "n_bytes"}
        return super().call(op, arguments)


class DuplicatesBySharing(Adapter):
    """7.2.1.16: duplicate returns its input."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return ("SUCCESS", arguments["input"]) if op == "duplicate" else super().call(op, arguments)


class AlwaysCopies(Adapter):
    """7.2.1.6: contiguous copies what is contiguous already."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call("duplicate" if op == "contiguous" else op, arguments)


class IgnoresSeeds(Adapter):
    """7.2.1.7 and .8: numbers do not follow from the seed."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call(op, {k: v for k, v in arguments.items() if k != "seed"})


class HasOneSeed(Adapter):
    """7.2.1.7 and .8: a seed of 0 is a seed like others."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        if arguments.get("seed") == 0:
            arguments = {**arguments, "seed": 12345}
        return super().call(op, arguments)


class KeepsOtherOrders(Adapter):
    """7.2.3.2: what is reshaped lies in the order of its columns."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        status, *outputs = super().call(op, arguments)
        if op == "reshape" and status == "SUCCESS":
            outputs = [self.create(replace(self.read(outputs[0]), layout="columns"))]
        return status, *outputs


class ChangesInputs(Adapter):
    """Chapter 7: a call writes to what it was given."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        found = super().call(op, arguments)
        if op == "add" and arguments["x"].size:
            self.write(
                arguments["x"], self.read(sz.zeros(arguments["x"].shape, arguments["x"].dtype))
            )
        return found


class ReadsAllBytes(Adapter):
    """7.2.1.1 and .15: n_bytes is not looked at."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call(op, {k: v for k, v in arguments.items() if k != "n_bytes"})


class LeavesTheRest(Adapter):
    """7.2.1.1 and .15: what the bytes do not cover is whatever was there."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        given = arguments.get("values")
        if isinstance(given, bytes):
            rest = b"\x55" * 1000
            arguments = {**arguments, "values": given[: arguments["n_bytes"]] + rest}
            arguments["n_bytes"] += len(rest)
        return super().call(op, arguments)


class RefusesTooMuch(Adapter):
    """7.2.1.1 and .15: more bytes than the tensor has room for are refused."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        if isinstance(arguments.get("values"), bytes) and arguments["n_bytes"] > 4 * 8 * 6:
            return ("INVALID_ARGUMENT", "too many bytes")
        return super().call(op, arguments)


class IgnoresOrders(Adapter):
    """6.4: a new tensor is row-major, whatever order its shape has."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        shape = arguments.get("shape")
        if isinstance(shape, interface.Shape):
            arguments = {**arguments, "shape": shape.dims}
        return super().call(op, arguments)


class ReadsInOrder(Adapter):
    """6.4: a new tensor lies in the order of its shape, and yet its values are read row-major."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        shape = arguments.get("shape")
        if op != "create_tensor" or not isinstance(shape, interface.Shape):
            return super().call(op, arguments)
        status, *outputs = super().call(op, {**arguments, "shape": shape.dims})
        if status == "SUCCESS":
            outputs = [sz.create_tensor(shape.dims, outputs[0], outputs[0].dtype,
                                        layout=shape.layout)]  # fmt: skip
        return status, *outputs


class ForgetsZeros(Adapter):
    """5.6: an interface takes sparse tensors, and counts only what they store."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        x = arguments.get("input")
        if op == "reduce" and arguments.get("mode") == "MEAN" and isinstance(x, sz.SparseTensor):
            status, sums = super().call(op, {**arguments, "mode": "SUM"})
            stored = super().call(op, {"input": x != 0, "mode": "SUM", "axis": arguments["axis"]})
            return status, sums / sz.cast(stored[1], sums.dtype)
        return super().call(op, arguments)


class HasNoSparse(Adapter):
    """No breach: there are no sparse tensors."""

    def create(self, data: Data) -> Any:
        if data.sparse is not None:
            raise Unsupported("no sparse tensors")
        return super().create(data)


class Speechless(Adapter):
    """No breach: an adapter without words for bytes, and for the order of axes."""

    memory = shape = None  # type: ignore[assignment]
