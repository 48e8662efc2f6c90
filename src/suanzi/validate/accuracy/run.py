"""Runs a measurement: here or on a cluster, whole or a shard, from the start or continued."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

from suanzi import _core
from suanzi.base.dtypes import dtype as dtype_of
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.conformance.check import cores
from suanzi.conformance.running.backends import backend as named
from suanzi.conformance.running.process import Backend
from suanzi.conformance.shards import Shard
from suanzi.ops.calling.rounding import ROUNDINGS
from suanzi.validate.accuracy.engine import Measured, Task, measure, measured, rows_of, tasks
from suanzi.validate.accuracy.errors import Tally
from suanzi.validate.accuracy.functions import FUNCTIONS
from suanzi.validate.accuracy.inputs import WIDTHS
from suanzi.validate.accuracy.report import Accuracy
from suanzi.validate.accuracy.samples import SAMPLED
from suanzi.validate.accuracy.state import State
from suanzi.validate.accuracy.sweeper import Sweeper

DTYPES = ("float16", "bfloat16", "float32")
"""Measured by default."""


def accuracy(
    backend: str | Backend = "suanzi",
    *,
    functions: Iterable[str] = (),
    dtypes: Iterable[str] = (),
    exhaustive: bool = False,
    python: str | None = None,
    device: str | None = None,
    level: str | None = None,
    rounding: str | None = None,
    jobs: int | None = None,
    seed: int = 0,
    timeout: float = 120.0,
    resume: str | None = None,
    shard: str | Shard | None = None,
    cluster: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Accuracy:
    """Measure how accurate the functions of a backend are.

    Every argument of dtypes of 16 bits and fewer is tried; of float32 every one with `exhaustive`,
    else all exponents and the neighbours of hard points and of the worst that was found; of float64
    likewise. Functions of two numbers, reductions, softmax and norms are measured by samples.
    `level` is an instruction set of suanzi's own: baseline, avx2, avx512, neon; `rounding` is how
    suanzi rounds float32, ``correct`` or ``default``. `resume` is a file of what was measured so
    far; `shard` is a part of the tasks, ``2/5``; `cluster` is a Dask scheduler.

    >>> found = accuracy(functions=["square"], dtypes=["float8_e5m2"], jobs=1)
    >>> found.rows[0].tally.worst, found.rows[0].tally.wrong
    (0.5, 0)
    """
    begun = time.monotonic()
    chosen = list(dict.fromkeys(map(function, functions))) or [
        *FUNCTIONS.values(), *SAMPLED.values()
    ]  # fmt: skip
    kinds = list(dict.fromkeys(_dtype(name) for name in dtypes)) or list(DTYPES)
    jobs = cores() if jobs is None else jobs
    for name, number in (("jobs", jobs), ("timeout", timeout)):
        if not number > 0:
            raise InvalidArgument(
                f"accuracy: {name} is {number!r}; it must be a number above zero."
            )
    part = Shard.read(shard, "accuracy") if isinstance(shard, str) else shard
    subject = (
        backend
        if isinstance(backend, Backend)
        else _subject(backend, python, device, {"level": level, "rounding": rounding})
    )
    work = list(tasks(chosen, kinds, exhaustive))
    if part is not None:
        work = part.share(work, "accuracy", "task")
    settings: dict[str, Any] = {"seed": seed, "exhaustive": exhaustive}
    with Sweeper(subject, timeout) as first:
        about = _about(subject, first.facts)
        with closing(State(resume, {"subject": about, "seed": seed})) as state:
            left = [task for task in work if task.key not in state.done]
            doing = _doing(subject, first, left, jobs, seed, cluster)
            missing = _follow(doing, state, len(work), progress)
    rows = rows_of(work, lambda task: state.done.get(task.key) or missing[task.key])
    if part is not None:
        settings["shard"] = {"number": part.number, "of": part.of}
    return Accuracy(about, tuple(rows), time.monotonic() - begun, settings)


def _doing(
    subject: Backend, first: Sweeper, left: Sequence[Task], jobs: int, seed: int, where: str | None
) -> Generator[tuple[Task, Tally | str], None, None]:
    timeout = first.timeout
    if where is None:
        started = [first]
        return measure(
            lambda: started.pop() if started else Sweeper(subject, timeout), left, jobs, seed
        )
    from suanzi.conformance.running.cluster import on_cluster

    call = partial(_on_worker, subject=subject, seed=seed, timeout=timeout)
    return on_cluster(where, left, call, lambda task: task.key, "accuracy")


def _on_worker(task: Task, subject: Backend, seed: int, timeout: float) -> Tally | str:
    """Measure on a worker of a cluster, whose subjects are kept for the next tasks."""
    from suanzi.conformance.running.cluster import kept

    with kept(repr((subject, timeout, "accuracy")), lambda: Sweeper(subject, timeout)) as sweeper:
        return measured(sweeper, task, seed)


def _follow(
    doing: Generator[tuple[Task, Tally | str], None, None],
    state: State,
    whole: int,
    progress: Callable[[int, int, str], None] | None,
) -> dict[str, str]:
    """Take in what is done, and return what was not measured, and why."""
    missing: dict[str, str] = {}
    with closing(doing):
        for task, found in doing:
            if isinstance(found, str):
                missing[task.key] = found
            else:
                state.add(task.key, found)
            if progress is not None:
                progress(len(state.done) + len(missing), whole, f"{task.name} {task.dtype}")
    return missing


def _about(subject: Backend, facts: Mapping[str, Any]) -> dict[str, str]:
    about = {name: str(facts.get(name, "")) for name in ("name", "version", "device")}
    notes = " ".join(note for note in facts.get("notes", ()) if note.startswith("On "))
    chosen = {n: str(v) for n, v in subject.options.items() if n in ("level", "rounding")}
    return about | {"title": subject.title, "on": notes} | chosen


def function(name: str) -> Measured:
    """Return a function by its name.

    >>> function("nn:erf").name, function("op_exp").name, function("sum").key
    ('erf', 'exp', 'reduce')
    """
    word = name.strip().lower()
    bare = word.removeprefix("op_")
    found: Measured | None = FUNCTIONS.get(bare) or SAMPLED.get(bare)
    if found is None:
        found = next((f for f in FUNCTIONS.values() if f.key == word), None)
    if found is None:
        known = (*FUNCTIONS, *SAMPLED)
        raise InvalidArgument(
            f"accuracy: {name!r} is not measured; functions: {', '.join(known)}."
            + nearest(name, known)
        )
    return found


def _subject(
    title: str, python: str | None, device: str | None, own: Mapping[str, str | None]
) -> Backend:
    subject = named(title, python, device, "accuracy")
    options = {name: value for name, value in own.items() if value is not None}
    if options.get("rounding") is not None and options["rounding"] not in ROUNDINGS:
        raise InvalidArgument(
            f"accuracy: rounding is {options['rounding']!r}; it is one of {', '.join(ROUNDINGS)}."
            + nearest(str(options["rounding"]), ROUNDINGS)
        )
    level, levels = options.get("level"), _core.levels()
    if subject.title == "suanzi" and level is not None and level not in levels:
        raise InvalidArgument(
            f"accuracy: this machine has no level {level!r}; levels: {', '.join(levels)}."
            + nearest(level, levels)
        )
    if subject.title == "suanzi":
        return Backend("suanzi", "plain_adapter:Adapter", subject.python, options)
    for name in options:
        raise InvalidArgument(f"accuracy: --{name} is for suanzi, not for {title}.")
    if not subject.adapter.startswith("frameworks.") and subject.title.startswith("suanzi"):
        raise InvalidArgument(f"accuracy: {subject.title} is not measured; use suanzi.")
    return subject


def _dtype(name: str) -> str:
    found = dtype_of(name).name
    if found not in WIDTHS:
        raise InvalidArgument(
            f"accuracy: functions of {found} are not measured; dtypes: {', '.join(WIDTHS)}."
        )
    return found
