"""What `sz.blame` is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike, fspath
from typing import Any

from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument
from suanzi.validate.blame.runs import MOST_SAMPLES, SAMPLES, SIZE

FRAMEWORKS = ("torch", "jax", "paddle", "mindspore")


@dataclass(frozen=True)
class Options:
    """Which calls are judged, and what that may cost."""

    ops: frozenset[str] | None = None
    share: float = 1.0
    every: int = 1
    overhead: float | None = 10.0
    unusual: bool = False
    memory: int = 1 << 30
    twice: bool = False
    seed: int = 0
    save: str | None = None
    """The path of reproducers, with ``{}`` for their number."""
    saved: int = 8
    """How many are written at most."""
    record: str | None = None
    """The path of a file for the run, to be compared with."""
    against: str | None = None
    """The path of a run that this one is compared with."""
    samples: int = SAMPLES
    """How many elements of each result are recorded."""
    record_size: int = SIZE
    """The largest size of a file, in bytes."""
    framework: str = "torch"
    progress: Callable[[Any, Any], None] | None = None


def options(
    ops: Iterable[str] | str | None = None,
    share: float = 1.0,
    every: int = 1,
    overhead: float | str | None = 10.0,
    unusual: bool = False,
    memory: int = 1 << 30,
    twice: bool = False,
    seed: int = 0,
    save: str | None = None,
    record: str | None = None,
    against: str | None = None,
    samples: int = SAMPLES,
    record_size: int = SIZE,
    framework: str = "torch",
) -> Options:
    """Return options that are checked."""
    if not isinstance(share, int | float) or not 0 < share <= 1:
        raise InvalidArgument(f"blame: share is {shown(share)}; it must be above 0 and at most 1.")
    if not isinstance(every, int) or every < 1:
        raise InvalidArgument(f"blame: every is {shown(every)}; it must be a number from 1 on.")
    if not isinstance(memory, int) or memory < 0:
        raise InvalidArgument(f"blame: memory is {shown(memory)}; it must be a number from 0 on.")
    if not isinstance(samples, int) or not 0 <= samples <= MOST_SAMPLES:
        raise InvalidArgument(
            f"blame: samples is {shown(samples)}; it must be a number from 0 to {MOST_SAMPLES}."
        )
    if not isinstance(record_size, int) or record_size < 1:
        raise InvalidArgument(
            f"blame: record_size is {shown(record_size)}; it must be a number of bytes from 1 on."
        )
    if framework not in FRAMEWORKS:
        raise InvalidArgument(
            f"blame: framework is {shown(framework)}; it is one of {', '.join(FRAMEWORKS)}."
        )
    of_torch = {"every": every > 1, "unusual": unusual, "twice": twice, "save": save,
                "record": record, "against": against}  # fmt: skip
    for name, asked in of_torch.items():
        if asked and framework != "torch":
            raise InvalidArgument(f"blame: {name} is for programs of PyTorch, not of {framework}.")
    return Options(
        _operators(ops, framework), share, every, times(overhead), unusual, memory, twice, seed,
        None if save is None else _numbered(str(_path("save", save))),
        record=_path("record", record), against=_path("against", against),
        samples=samples, record_size=record_size, framework=framework,
    )  # fmt: skip


def _path(name: str, path: Any) -> str | None:
    if path is not None and not isinstance(path, str | PathLike):
        raise InvalidArgument(f"blame: {name} is {shown(path)}; it must be the path of a file.")
    return None if path is None else fspath(path)


def times(overhead: float | str | None) -> float | None:
    """Return how many times as long a program may take; None if as long as it needs.

    >>> times("2x"), times(10), times("none")
    (2.0, 10.0, None)
    """
    if overhead is None or overhead == "none":
        return None
    try:
        found = float(str(overhead).removesuffix("x"))
    except ValueError:
        found = 0.0
    if not found > 1:
        raise InvalidArgument(
            f"blame: overhead is {shown(overhead)}; it must be above 1, as 2x or 10x, or none."
        )
    return found


def _operators(ops: Iterable[str] | str | None, framework: str) -> frozenset[str] | None:
    from suanzi.validate.blame.rules import RULES

    if ops is None:
        return None
    given = ops.split(",") if isinstance(ops, str) else ops
    if not isinstance(given, list | tuple | set | frozenset) or not all(
        isinstance(one, str) for one in given
    ):
        raise InvalidArgument(f"blame: ops is {shown(ops)}; it must be names of operators.")
    names = [one.strip().removeprefix("aten.").removeprefix("aten::") for one in given]
    names = [one for one in names if one]
    for name in names:
        if framework == "torch" and name not in RULES:
            raise InvalidArgument(
                f"blame: {name!r} is no operator of PyTorch that can be judged."
                f"{nearest(name, RULES)}"
            )
    return frozenset(names) or None


def _numbered(path: str) -> str:
    """Return a path with a place for a number: ``bad-call.safetensors`` is ``bad-call{}...``."""
    safe = path.replace("{", "{{").replace("}", "}}")
    stem, dot, end = safe.rpartition(".")
    if not dot or "/" in end:
        return f"{safe}-{{}}.safetensors"
    return f"{stem}-{{}}.{end}"
