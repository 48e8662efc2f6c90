"""Plans of several kernels: what they are started with, in which order, on which memory.

A step names its tensors by their places: the operands, then the output, then the memory that the
kernels share. So a plan serves all calls with tensors of the same dtypes, shapes and strides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from suanzi.runtimes.torch.fast import Plan
from suanzi.runtimes.torch.triton.driver import At, Handle, empty, has_several, program, stream
from suanzi.runtimes.torch.triton.launching import Plain, is_compiled, launch, pointer, prepare


@dataclass(frozen=True)
class Step:
    """A kernel, its programs, its arguments, first the places of tensors, and its constants."""

    kernel: Any
    programs: int
    args: Sequence[Any]
    constants: Mapping[str, Any]
    warps: int = 4
    stages: int = 3


@dataclass(frozen=True)
class Memory:
    """A tensor to be made."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    strides: tuple[int, ...] = ()

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """The strides; by default in row-major order."""
        return self.strides or _row_major(self.shape)


def _row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    found: list[int] = []
    step = 1
    for n in reversed(shape):
        found.append(step)
        step *= max(n, 1)
    return tuple(reversed(found))


def made_of(steps: Steps) -> torch.Tensor:
    """Return the result of steps, once."""
    return steps.run(steps.operands)


class Steps(Plan):
    """Kernels that are started one after the other."""

    def __init__(
        self, operands: list[torch.Tensor], out: Memory, steps: list[Step],
        between: Sequence[Memory] = (),
    ) -> None:  # fmt: skip
        self.operands = operands
        self._out, self._steps, self._between = out, steps, tuple(between)
        self._place = operands[0].device
        self._index = self._place.index or 0
        self._is_started = is_compiled(steps[0].kernel) and not has_several()
        self._makings = [(one.shape, one.steps, one.dtype) for one in (out, *self._between)]
        self._ready: dict[int, list[tuple[Handle, int, list[int], list[Any]]]] = {}

    def run(self, plains: list[torch.Tensor]) -> torch.Tensor:
        """Return the result for tensors of the same dtypes, shapes and strides."""
        made = [empty(*one, self._place) for one in self._makings]
        tensors = [*plains, *made]
        if not self._is_started:
            for step in self._steps:
                args = [tensors[x] if isinstance(x, At) else x for x in step.args]
                launch(step.kernel, (step.programs,), args, step.constants,
                       warps=step.warps, stages=step.stages)  # fmt: skip
            return made[0]
        addresses = [x.data_ptr() for x in tensors]
        low = 0
        for address in addresses[: len(plains)]:
            low |= address
        ready = self._ready.get(low & 15) or self._prepared(tensors, low & 15)
        current = stream(self._index)
        for handle, programs, places, values in ready:
            given = [addresses[i] for i in places]
            if handle.launcher(programs, 1, 1, current, *given, *values, 0, 0):
                handle.start((programs, 1, 1), (*given, *values))
        return made[0]

    def _prepared(
        self, tensors: list[torch.Tensor], low: int
    ) -> list[tuple[Handle, int, list[int], list[Any]]]:
        made = []
        for step in self._steps:
            seen: list[tuple[str, Any]] = []
            places: list[int] = []
            values: list[Any] = []
            for x in step.args:
                if isinstance(x, At):
                    is_given = x < len(tensors) - 1 - len(self._between)
                    seen.append((pointer(tensors[x].dtype), not low or not is_given))
                    assert not values, "tensors come first"
                    places.append(x)
                    continue
                elif isinstance(x, float):
                    seen.append(("fp32", False))
                elif type(x) is Plain:
                    seen.append(("i32", False))
                elif x == 1:
                    seen.append(("constexpr", 1))
                    continue
                else:
                    seen.append(("i32" if -(2**31) <= x < 2**31 else "i64", x % 16 == 0))
                values.append(x)
            handle = prepare(
                step.kernel, seen, step.constants, self._index, step.warps, step.stages
            )
            made.append((handle, step.programs, places, values))
        self._ready[low] = made
        if not low:
            self.program = program(self._place, self._makings, [
                (handle, programs, [*map(At, places), *values])
                for handle, programs, places, values in made
            ])  # fmt: skip
        return made
