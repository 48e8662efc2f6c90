"""Hold a subject against the standard, from Python: ``check("numpy", ops=["add"])``."""

from __future__ import annotations

import hashlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any, TypeVar

from suanzi._hints import nearest
from suanzi.conformance import deviations as known
from suanzi.conformance.cases import Wanted, cases, operators
from suanzi.conformance.deviations import Deviation
from suanzi.conformance.model import GROUPS
from suanzi.conformance.process import Backend, Facts
from suanzi.conformance.results import Result, Run
from suanzi.conformance.running import Job, facts_of, run_each
from suanzi.dtypes import dtype
from suanzi.promote.library import rule_set
from suanzi.standard import interface, interfaces
from suanzi.status import InvalidArgument

_Given = TypeVar("_Given")
Path = str | PathLike[str]

_LIBRARY = re.compile(r"\.(so|dylib|dll)(\.[0-9.]+)?$")
"""How the name of a shared library ends."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    done: int
    """The interfaces that are done."""
    total: int
    op: str
    """The interface that was done last."""
    results: Sequence[Result]
    """Its results."""


def check(
    backend: str | Backend = "suanzi",
    *,
    python: str | None = None,
    ops: Sequence[str] = (),
    categories: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    groups: Sequence[str] = (),
    minimal: bool = False,
    only: Sequence[str] = (),
    seed: int = 0,
    jobs: int | None = None,
    quick: bool = False,
    rules: str | None = None,
    timeout: float = 10.0,
    deviations: Path | Sequence[Path | Deviation] = (),
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run the cases of the standard against a subject, and return what became of them.

    `only` has ids of cases, or patterns of them (``exp/special/*``). `rules` is the rule set of the
    promotion cases, the subject's own by default. `jobs` is the number of processes, as many as
    there are cores by default. A run that is interrupted returns what it has.

    >>> run = check("suanzi", ops=["add"], dtypes=["int8"], groups=["plain"], jobs=1)
    >>> run.conforms, run.counts()["failed"]
    (True, 0)
    """
    begun = time.monotonic()
    settings: dict[str, Any] = {
        "ops": [interface(name).name for name in ops] or None,
        "categories": [category(name) for name in categories] or None,
        "minimal": bool(minimal),
        "dtypes": [_dtype(name) for name in dtypes] or None,
        "groups": [_one_of("group", name, GROUPS) for name in groups] or None,
        "cases": [name.strip() for name in only] or None,
        "quick": bool(quick),
        "seed": int(seed),
        "timeout": _above_zero("timeout", timeout),
        "jobs": _above_zero("jobs", cores() if jobs is None else jobs),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    if rules is not None:
        rules = rule_set(rules).name
    listed = _deviations(deviations)
    subject = backend if isinstance(backend, Backend) else backend_of(backend, python)
    facts = facts_of(subject)
    wanted = wanted_cases(settings, rules or facts.rules)
    work = _work(settings, wanted)
    found, interrupted = _run(subject, work, settings, progress)
    listed = [*known.packaged(facts.name), *listed]
    results = [r for op in interfaces() for r in found.get(op, ())]
    results, unused = known.apply(results, listed, facts.version)
    unfinished = [job.op for job in work if job.op not in found] if interrupted else []
    filtered = any(
        settings[name]
        for name in ("ops", "categories", "minimal", "dtypes", "groups", "cases", "quick")
    )
    settings |= {
        "rules": wanted.rules,
        "deviations": list(dict.fromkeys(d.source for d in listed if d.source)),
        "ids": hash_of(r.id for r in results),
    }
    return Run(
        subject=_subject(subject, facts),
        settings=settings,
        results=results,
        seconds=time.monotonic() - begun,
        unused=[] if filtered or unfinished else [str(d) for d in unused],
        unfinished=unfinished,
    )


def backend_of(title: str, python: str | None = None) -> Backend:
    """Return the subject that a title names."""
    interpreter = python or sys.executable
    if title == "suanzi":
        return Backend("suanzi", "suanzi_adapter:Adapter", interpreter)
    if _LIBRARY.search(title):
        adapter = "suanzi.conformance.subjects.c_adapter:Adapter"
        return Backend(title, adapter, interpreter, {"path": os.path.abspath(title)})
    if ":" not in title:
        raise InvalidArgument(
            f"check: {title!r} is no subject; it takes suanzi, package.module:Adapter or the path "
            "of a C library."
        )
    return Backend(title, title, interpreter)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def category(name: str) -> str:
    """Return a category by its name or its clause.

    >>> category("7.2.4"), category("linear_algebra")
    ('arithmetic', 'linear algebra')
    """
    by_clause = {".".join(one.clause.split(".")[:3]): one.category for one in interfaces().values()}
    key = by_clause.get(name.strip(), name.strip().lower().replace("_", " "))
    return _one_of("category", key, dict.fromkeys(by_clause.values()))


def wanted_cases(settings: dict[str, Any], rules: str) -> Wanted:
    """Return which cases the settings ask for."""
    dtypes = settings["dtypes"]
    return Wanted(
        groups=frozenset(settings["groups"] or GROUPS),
        dtypes=None if dtypes is None else frozenset(dtypes),
        rules=rules,
        seed=settings["seed"],
        quick=settings["quick"],
    )


def chosen_operators(settings: dict[str, Any]) -> list[str]:
    """Return the interfaces that the settings ask for, in the standard's order."""
    found = operators(
        settings["ops"] or (), settings["categories"] or (), minimal=settings["minimal"]
    )
    if not found:
        raise InvalidArgument("check: no interface is left; the filters contradict each other.")
    return found


def only_these(patterns: Sequence[str], ops: Sequence[str], wanted: Wanted) -> dict[str, set[str]]:
    """Return the ids that patterns stand for, by interface."""
    found: dict[str, set[str]] = {}
    for pattern in patterns:
        head = pattern.partition("/")[0]
        exact = not any(mark in pattern for mark in "*?[")
        if not any(mark in head for mark in "*?["):
            head = interface(head).name
        places = [op for op in ops if fnmatchcase(op, head)]
        ids = {op: [case.id for case in cases(op, wanted)] for op in places}
        met = {
            op: {one for one in some if one == pattern or fnmatchcase(one, pattern)}
            for op, some in ids.items()
        }
        if not any(met.values()):
            said = "is no case" if exact else "meets no case"
            hint = nearest(pattern, (one for some in ids.values() for one in some))
            raise InvalidArgument(f"check: {pattern!r} {said} of this run.{hint}")
        for op, some in met.items():
            found.setdefault(op, set()).update(some)
    return {op: some for op, some in found.items() if some}


def hash_of(ids: Iterable[str]) -> str:
    """Return a hash of the ids of cases, whatever their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()


def _work(settings: dict[str, Any], wanted: Wanted) -> list[Job]:
    ops = chosen_operators(settings)
    if settings["cases"] is None:
        return [Job(op, wanted) for op in ops]
    only = only_these(settings["cases"], ops, wanted)
    return [Job(op, wanted, frozenset(only[op])) for op in ops if op in only]


def _run(
    subject: Backend,
    work: Sequence[Job],
    settings: dict[str, Any],
    progress: Callable[[Progress], None] | None,
) -> tuple[dict[str, list[Result]], bool]:
    """Return the results by interface, and whether it was interrupted."""
    found: dict[str, list[Result]] = {}
    processes = min(settings["jobs"], len(work))
    doing = run_each(subject, work, processes=processes, timeout=settings["timeout"])
    try:
        for job, results in doing:
            found[job.op] = results
            if progress is not None:
                progress(Progress(len(found), len(work), job.op, results))
    except KeyboardInterrupt:
        return found, True
    finally:
        doing.close()
    return found, False


def _subject(backend: Backend, facts: Facts) -> dict[str, Any]:
    return {"title": backend.title, "adapter": backend.adapter, **asdict(facts)}


def _deviations(given: Path | Sequence[Path | Deviation]) -> list[Deviation]:
    some = [given] if isinstance(given, str | PathLike) else given
    return [d for one in some for d in ([one] if isinstance(one, Deviation) else known.read(one))]


def _dtype(name: str) -> str:
    return name if name == "any" else str(dtype(name))


def _one_of(what: str, name: str, there: Iterable[str]) -> str:
    names = list(there)
    if name not in names:
        raise InvalidArgument(
            f"check: {name!r} is no {what}; there are {', '.join(names)}.{nearest(name, names)}"
        )
    return name


def _above_zero(name: str, number: _Given) -> _Given:
    if not isinstance(number, int | float) or isinstance(number, bool) or not number > 0:
        raise InvalidArgument(f"check: {name} is {number!r}; it takes a number above zero.")
    return number
