"""Test a backend against the standard, from Python: ``check("numpy", ops=["add"])``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from fnmatch import fnmatchcase
from os import PathLike
from typing import Any, TypeVar

from suanzi._core import VERSION
from suanzi.base.dtypes import dtype
from suanzi.base.hints import nearest
from suanzi.base.status import InternalError, InvalidArgument
from suanzi.conformance.cases import Wanted, cases, frozen, load, load_catalogue, operators
from suanzi.conformance.evidence import evidence
from suanzi.conformance.model.case import GROUPS, Case
from suanzi.conformance.model.members import members
from suanzi.conformance.model.results import Result, Run
from suanzi.conformance.model.tallies import CASE_FILTERS, OPERATOR_FILTERS
from suanzi.conformance.reports import deviations as known
from suanzi.conformance.reports.deviations import Deviation
from suanzi.conformance.reports.readings import settle
from suanzi.conformance.reports.summary import command
from suanzi.conformance.running.backends import backend as named
from suanzi.conformance.running.crashes import blamed
from suanzi.conformance.running.process import Backend, Facts, Subject, unclaimed
from suanzi.conformance.running.recording import without_line, write_answers
from suanzi.conformance.running.run import Job, run_each
from suanzi.conformance.shards import Shard, hash_of
from suanzi.promote.library import rule_set, text_for_others
from suanzi.promote.rules import RuleSet
from suanzi.standard import category_named, interface, interfaces
from suanzi.standard.catalogues import STANDARD, key_of
from suanzi.standard.catalogues import catalogue as known_catalogue

FILTERS = (*OPERATOR_FILTERS, *CASE_FILTERS, "normative")
"""The settings that leave cases out."""
_Given = TypeVar("_Given")
Path = str | PathLike[str]


@dataclass(frozen=True)
class Progress:
    """The progress of a run."""

    done: int
    """Interfaces that are done."""
    total: int
    op: str
    """The interface that was finished last."""
    results: Sequence[Result]
    """Its results."""


def check(
    backend: str | Backend = "suanzi",
    *,
    python: str | None = None,
    device: str | None = None,
    catalogue: str | None = None,
    ops: Sequence[str] = (),
    categories: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    groups: Sequence[str] = (),
    minimal: bool = False,
    only: Sequence[str] = (),
    seed: int = 0,
    jobs: int | None = None,
    quick: bool = False,
    normative: bool = False,
    has: Sequence[str] = (),
    strict: bool = False,
    everything: bool = False,
    rules: str | RuleSet | None = None,
    timeout: float = 10.0,
    shard: str | Shard | None = None,
    cluster: str | None = None,
    folder: Path | None = None,
    deviations: Path | Sequence[Path | Deviation] = (),
    answers: Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run the cases of the standard against a backend, and return the results.

    `catalogue` names another set of operators than the standard's: ``"nn"``, the model operators.
    `only` has ids of cases, or patterns of them (``exp/special/*``). `rules` is the rule set of the
    promotion cases, or its name; by default the backend's own. `jobs` is the number of processes,
    by default one for each core. Interfaces that the backend does not claim to have are not tested,
    unless `everything` is set, or `ops` or `only` name them. `folder` has frozen cases, run instead
    of generated ones. `normative` runs only what the standard requires, by its text or by an
    interpretation of it. `shard` runs one part of several
    (``"2/5"``), which `suanzi.conformance.shards.merge` joins. `cluster` runs on Dask, at a
    scheduler (``"tcp://host:8786"``) or with processes of this machine (``"local:4"``). `device` is
    where suanzi itself computes, ``"cluster"`` for tensors of blocks. `has` are the dtypes that the
    backend has, where it does not declare them: levels are given for these. With `strict`, failures
    in quality and extensions count, too. `answers` is a folder where the answers to required cases
    are recorded, as `suanzi submit` does. A run that is interrupted returns the results so far.

    >>> run = check("suanzi", ops=["add"], dtypes=["int8"], groups=["plain"], jobs=1)
    >>> run.conforms, run.counts()["failed"]
    (True, 0)
    """
    begun = time.monotonic()
    settings = {
        **filters(
            catalogue=catalogue,
            ops=ops,
            categories=categories,
            dtypes=dtypes,
            groups=groups,
            minimal=minimal,
            only=only,
            seed=seed,
            quick=quick,
            normative=normative,
            folder=folder,
        ),
        "has": [_dtype(name) for name in has] or None,
        "strict": bool(strict),
        "timeout": _above_zero("timeout", timeout),
        "jobs": _above_zero("jobs", cores() if jobs is None else jobs),
        "started": datetime.now(timezone.utc).isoformat(timespec="seconds"),
    }
    chosen = None if rules is None else rule_set(rules)
    if chosen is not None:
        text_for_others(chosen)  # refused before anything is run
        settings["rules_file"] = chosen.file
    part = Shard.read(shard) if isinstance(shard, str) else shard
    listed = _deviations(deviations)
    subject = backend if isinstance(backend, Backend) else named(backend, python, device)
    with Subject(subject, settings["timeout"], later=True) as started:
        _prepare(settings)
        facts = started.greet()
        wanted = wanted_cases(
            settings, settings["rules"] or (chosen.name if chosen else facts.rules)
        )
        if chosen is not None and wanted.rules != chosen.name:
            raise InvalidArgument(
                f"check: the cases of {folder!r} use the rules {wanted.rules}, not {chosen.name}."
            )
        settings["unclaimed"] = {} if everything else _unclaimed(facts, settings)
        work = [job for job in work_of(settings, wanted) if job.op not in settings["unclaimed"]]
        if not work:
            raise InvalidArgument(
                f"check: {facts.name} has none of these interfaces; --all tests them anyway."
            )
        if part is not None:
            work = part.share(work)
        if answers is not None:
            work = [replace(job, record=True) for job in work]
        if cluster is not None:
            settings["cluster"] = cluster
        found, done, interrupted = _run(started, work, settings, progress, answers)
    of = sorted({op.rpartition(":")[0] or STANDARD for op in found} or {STANDARD})
    listed = [*known.packaged(facts.name, of, facts.device), *listed]
    order = dict.fromkeys([*members(settings["catalogue"] or STANDARD), *found])
    results = blamed([r for op in order for r in sorted(found.get(op, ()), key=_group)])
    results = settle(results)
    results, unused = known.apply(results, listed, facts.version)
    unfinished = [job.op for job in work if job.op not in done] if interrupted else []
    filtered = any(settings[name] for name in FILTERS)
    settings |= {
        "suanzi": VERSION,
        "rules": wanted.rules,
        "deviations": list(dict.fromkeys(d.source for d in listed if d.source)),
        "ids": hash_of(r.id for r in results),
    }
    if interrupted is not None:
        settings["interrupted"] = interrupted
    not_met = [] if filtered or unfinished else [str(d) for d in unused]
    if part is not None:
        settings["shard"] = {"number": part.number, "of": part.of, "unused": not_met}
    run = Run(
        subject=_subject(subject, facts),
        settings=settings,
        results=results,
        seconds=time.monotonic() - begun,
        unused=not_met if part is None else [],
        unfinished=unfinished,
        evidence=evidence(facts.files, subject.options.get("path"), results),
    )
    return replace(run, results=[_with_the_settings(run, r) for r in results])


def _unclaimed(facts: Facts, settings: dict[str, Any]) -> dict[str, str]:
    """Return the selected interfaces that the backend does not claim; named ones are tested."""
    if settings["ops"] or settings["cases"]:
        return {}
    asked = set(_operators(settings))
    of = settings.get("catalogue") or STANDARD
    return {op: why for op, why in unclaimed(facts, of).items() if op in asked}


def _with_the_settings(run: Run, result: Result) -> Result:
    """Return a result whose reproduction, if it is a command, keeps seed and rules."""
    if not (result.reproduction or "").startswith("suanzi check "):
        return result
    return replace(result, reproduction=command(run, result))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def filters(
    *,
    catalogue: str | None = None,
    ops: Sequence[str] = (),
    categories: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    groups: Sequence[str] = (),
    minimal: bool = False,
    only: Sequence[str] = (),
    seed: int = 0,
    quick: bool = False,
    normative: bool = False,
    folder: Path | None = None,
) -> dict[str, Any]:
    """Return which cases are selected, by their proper names; None means all.

    Cases that were left out when a folder was frozen are left out here, too.

    >>> filters(ops=["op_add"], dtypes=["f16"])["dtypes"]
    ['float16']
    """
    of = known_catalogue(catalogue or STANDARD).name
    asked: dict[str, Any] = {
        "catalogue": None if of == STANDARD else of,
        "ops": [_named_in(of, name) for name in ops] or None,
        "categories": [category_named(name, of) for name in categories] or None,
        "minimal": bool(minimal),
        "dtypes": [_dtype(name) for name in dtypes] or None,
        "groups": [_one_of("group", name, GROUPS) for name in groups] or None,
        "cases": [name.strip() for name in only] or None,
        "quick": bool(quick),
        "normative": bool(normative),
        "seed": int(seed),
        "rules": None,
        "folder": None if folder is None else os.fspath(folder),
        "frozen": None,
    }
    if folder is None:
        return asked
    manifest = frozen.manifest_of(folder)
    then = manifest.get("filters", {})
    kept = {name: asked[name] or then.get(name, asked[name]) for name in FILTERS}
    from_it = {"seed": manifest.get("seed", 0), "rules": manifest.get("rules")}
    return asked | kept | from_it | {"frozen": manifest["sha256"]}


def cases_of_each(settings: dict[str, Any], rules: str) -> Iterator[tuple[str, list[Case]]]:
    """Give the cases that `filters` select, interface by interface.

    >>> op, found = next(cases_of_each(filters(ops=["add"], dtypes=["int8"]), "cann"))
    >>> op, len(found) > 5
    ('add', True)
    """
    wanted = wanted_cases(settings, rule_set(settings["rules"] or rules).name)
    for job in work_of(settings, wanted):
        found = cases(job.op, wanted)
        yield job.op, [case for case in found if job.only is None or case.id in job.only]


def export(folder: Path, settings: dict[str, Any], rules: str) -> dict[str, Any]:
    """Write the cases that `filters` select to files, and return their manifest."""
    left_out = {name: settings[name] for name in FILTERS if settings[name]}
    facts = {"rules": rules, "seed": settings["seed"], "filters": left_out}
    text = text_for_others(rule_set(rules))
    if text is not None:
        facts["rules_text"] = text
    return frozen.export(folder, cases_of_each(settings, rules), facts)


def wanted_cases(settings: dict[str, Any], rules: str) -> Wanted:
    """Return which cases of an interface `filters` select."""
    dtypes = settings["dtypes"]
    return Wanted(
        groups=frozenset(settings["groups"] or GROUPS),
        dtypes=None if dtypes is None else frozenset(dtypes),
        rules=rules,
        rules_text=text_for_others(rule_set(rules)),
        seed=settings["seed"],
        quick=settings["quick"],
        normative=settings["normative"],
        folder=settings.get("folder"),
    )


def _operators(settings: dict[str, Any]) -> list[str]:
    """Return the selected interfaces, in the standard's order."""
    found = operators(
        settings["ops"] or (),
        settings["categories"] or (),
        minimal=settings["minimal"],
        of=settings.get("catalogue") or STANDARD,
    )
    heads = (pattern.partition("/")[0] for pattern in settings["cases"] or ())
    for of in {head.rpartition(":")[0] for head in heads} - {""}:
        found += [op for op in operators(of=of) if op not in found]
    if not found:
        raise InvalidArgument("check: no interface is left; the filters contradict each other.")
    return found


_MARKS = frozenset("*?[")


def _operators_of(pattern: str, ops: Sequence[str]) -> list[str]:
    """Return the interfaces whose ids a pattern can match."""
    head = pattern.partition("/")[0]
    if not _MARKS.intersection(head):
        head = interface(head).key
    return [op for op in ops if fnmatchcase(op, head)]


def _prepare(settings: dict[str, Any]) -> None:
    """Import the modules of the cases while the process of the backend starts."""
    ops = _operators(settings)
    if settings["cases"] is not None:
        ops = [op for pattern in settings["cases"] for op in _operators_of(pattern, ops)]
    if len(ops) == 1 or settings["jobs"] == 1 or settings["cases"] is not None:
        for of, category in dict.fromkeys(map(_home, ops)):
            if of == STANDARD:
                load(category)
            else:
                load_catalogue(of)


def _home(op: str) -> tuple[str, str]:
    facts = interface(op)
    return facts.catalogue, facts.category


def _named_in(of: str, name: str) -> str:
    """Return the key of an operator by a name: of a catalogue first, then of the others."""
    if of != STANDARD and ":" not in name and name in interfaces(of):
        return key_of(of, name)
    return interface(name).key


def _narrowed(patterns: Sequence[str], wanted: Wanted) -> Wanted:
    """Return the smallest selection that has every case the patterns can match.

    >>> sorted(_narrowed(["exp/special/float16/*", "exp/plain/int8-int16/two"], Wanted()).dtypes)
    ['float16', 'int16', 'int8']
    """
    parts = [[*pattern.split("/", 3), "*", "*", "*"] for pattern in patterns]
    groups, dtypes = {p[1] for p in parts}, {p[2] for p in parts}
    if not any(_MARKS.intersection(name) for name in groups):
        wanted = replace(wanted, groups=wanted.groups & groups)
    if wanted.dtypes is None and not any(_MARKS.intersection(name) for name in dtypes):
        some = frozenset(part for name in dtypes for part in name.split("-"))
        wanted = replace(wanted, dtypes=some)
    return wanted


def _only(patterns: Sequence[str], ops: Sequence[str], wanted: Wanted) -> list[Job]:
    """Return the jobs that patterns of ids select."""
    of: dict[str, list[str]] = {}
    for pattern in patterns:
        for op in _operators_of(pattern, ops):
            of.setdefault(op, []).append(pattern)
    found: dict[str, Job] = {}
    met: set[str] = set()
    for op, some in of.items():
        fewer = _narrowed(some, wanted)
        ids = [case.id for case in cases(op, fewer)]
        right = {p: {i for i in ids if i == p or fnmatchcase(i, p)} for p in some}
        met.update(p for p, those in right.items() if those)
        if all_of := frozenset().union(*right.values()):
            found[op] = Job(op, fewer, all_of)
    for pattern in patterns:
        if pattern not in met:
            said = "matches no case" if _MARKS.intersection(pattern) else "is not a case"
            there = (case.id for op in _operators_of(pattern, ops) for case in cases(op, wanted))
            raise InvalidArgument(
                f"check: {pattern!r} {said} of this run.{nearest(pattern, there)}"
            )
    return [found[op] for op in ops if op in found]


def work_of(settings: dict[str, Any], wanted: Wanted) -> list[Job]:
    """Return a job for each selected interface, in the standard's order."""
    ops = _operators(settings)
    if settings["cases"] is None:
        return [Job(op, wanted) for op in ops]
    return _only(settings["cases"], ops, wanted)


def _run(
    started: Subject,
    work: Sequence[Job],
    settings: dict[str, Any],
    progress: Callable[[Progress], None] | None,
    answers: Path | None,
) -> tuple[dict[str, list[Result]], list[str], str | None]:
    """Return the results by interface, the interfaces done, and what interrupted the run."""
    found: dict[str, list[Result]] = {}
    done: list[str] = []
    if "cluster" in settings:
        # Imported here: most machines have no Dask.
        from suanzi.conformance.running.cluster import run_on_cluster

        doing = run_on_cluster(
            started.backend, work, settings["cluster"], settings["timeout"], found
        )
    else:
        processes = min(settings["jobs"], len(work))
        doing = run_each(
            started.backend, work, processes=processes, timeout=settings["timeout"], so_far=found,
            started=started,
        )  # fmt: skip
    try:
        for job, results in doing:
            done.append(job.op)
            if answers is not None:
                write_answers(answers, job.op, results)
                found[job.op] = [without_line(r) for r in results]
            if progress is not None:
                progress(Progress(len(done), len(work), job.op, results))
    except KeyboardInterrupt:
        return found, done, "by hand"
    except (InternalError, OSError, MemoryError) as error:
        if not any(found.values()):
            raise
        return found, done, str(error) or type(error).__name__
    finally:
        doing.close()
    return found, done, None


def _group(result: Result) -> int:
    """Return the position of a result in a report, whenever it was run."""
    return list(GROUPS).index(result.group) if result.group in GROUPS else len(GROUPS)


def _subject(backend: Backend, facts: Facts) -> dict[str, Any]:
    said = {
        name: value for name, value in asdict(facts).items() if name not in ("literals", "files")
    }
    if backend.python != sys.executable:
        said["interpreter"] = backend.python
    return {"title": backend.title, "adapter": backend.adapter, **said}


def _deviations(given: Path | Sequence[Path | Deviation]) -> list[Deviation]:
    some = [given] if isinstance(given, str | PathLike) else given
    return [d for one in some for d in ([one] if isinstance(one, Deviation) else known.read(one))]


def _dtype(name: str) -> str:
    return name if name == "any" else str(dtype(name))


def _one_of(what: str, name: str, there: Iterable[str]) -> str:
    names = list(there)
    if name not in names:
        raise InvalidArgument(
            f"check: {name!r} is not a {what}; choose {', '.join(names)}.{nearest(name, names)}"
        )
    return name


def _above_zero(name: str, number: _Given) -> _Given:
    if not isinstance(number, int | float) or isinstance(number, bool) or not number > 0:
        raise InvalidArgument(f"check: {name} is {number!r}; it must be a number above zero.")
    return number
