"""Subjects that break one clause each, and are suanzi in all else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import suanzi as sz
from suanzi.conformance.subjects.suanzi_adapter import Adapter


class WrapsByCopying(Adapter):
    """7.2.1.2: wrap_tensor takes the values into memory of its own."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call("create_tensor" if op == "wrap_tensor" else op, arguments)


class CreatesBySharing(Adapter):
    """7.2.1.1: create_tensor lies on the memory of the values."""

    def call(self, op: str, arguments: dict[str, Any]) -> tuple[Any, ...]:
        return super().call("wrap_tensor" if op == "create_tensor" else op, arguments)


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
