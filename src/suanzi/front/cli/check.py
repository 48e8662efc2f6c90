"""The conformance kit on the command line: ``suanzi check``, ``compare`` and ``header``.

The commands import what they need when they are called, so that the others start fast.
"""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from suanzi.base.hints import nearest
from suanzi.base.lang import say
from suanzi.base.status import InvalidArgument
from suanzi.base.text import printable
from suanzi.front.cli import typed
from suanzi.front.cli.outputs import check_paths, one_json
from suanzi.front.cli.render import for_a_person
from suanzi.front.cli.streams import ended_as_by_hand
from suanzi.front.cli.typed import CaseRules, Flag, Jobs, Json, Minimal, Python, Verbose, Words
from suanzi.front.cli.typed import rules as read_rules

if TYPE_CHECKING:
    from suanzi.conformance.model.results import Run
    from suanzi.conformance.reports.summary import Part
    from suanzi.promote.rules import RuleSet

_BACKEND, _CASES, _RUN, _ANSWER = (
    Parameter(group=Group(title, sort_key=i))
    for i, title in enumerate(
        ("What is tested", "Which cases", "How they run", "What counts, and where it is written")
    )
)
_LEVELS = ("minimal", "forward", "all", "promotion")


def check(
    *,
    backend: Annotated[str, _BACKEND] = "suanzi",
    python: Annotated[Python, _BACKEND] = None,
    device: Annotated[str | None, _BACKEND] = None,
    catalogue: Annotated[str | None, _BACKEND] = None,
    op: Annotated[Words, _CASES] = None,
    category: Annotated[Words, _CASES] = None,
    dtype: Annotated[Words, _CASES] = None,
    group: Annotated[Words, _CASES] = None,
    minimal: Annotated[Minimal, _CASES] = False,
    case: Annotated[Words, _CASES] = None,
    quick: Annotated[Flag, _CASES] = False,
    normative: Annotated[Flag, _CASES] = False,
    has: Annotated[Words, _BACKEND] = None,
    strict: Annotated[Flag, _ANSWER] = False,
    all_: Annotated[bool, _BACKEND, Parameter(name="--all", negative="")] = False,
    rules: Annotated[CaseRules, _CASES] = None,
    seed: Annotated[int, _CASES] = 0,
    jobs: Annotated[Jobs, _RUN] = None,
    timeout: Annotated[float, _RUN] = 10.0,
    shard: Annotated[str | None, _RUN] = None,
    cluster: Annotated[str | None, _RUN] = None,
    cases: Annotated[str | None, _CASES] = None,
    export: Annotated[str | None, _CASES] = None,
    deviations: Annotated[Words, _ANSWER] = None,
    require: Annotated[str | None, _ANSWER] = None,
    report: Annotated[typed.Html, _ANSWER] = None,
    json: Annotated[typed.JsonFile, _ANSWER] = None,
    junit: Annotated[typed.Junit, _ANSWER] = None,
    verbose: Annotated[Verbose, _ANSWER] = False,
    watch: Annotated[Flag, _RUN] = False,
    list_: Annotated[bool, _CASES, Parameter(name="--list", negative="")] = False,
) -> int:
    """Test a backend against the standard and report every violation.

    The exit status is 0 if every required case was answered and passed, or is a known deviation;
    1 if not, if a call crashed or hung, or if a level that --require names is not reached; 2 for
    bad usage; 3 if the run was interrupted.

    ```
    suanzi check --quick
    suanzi check --backend numpy --report numpy.html --json numpy.json
    suanzi check --backend ./libvendor.so --minimal --deviations known.toml --junit out.xml
    suanzi check --backend torch --python ~/envs/torch/bin/python --op add --dtype f16
    suanzi check --case exp/special/float16/*
    suanzi check --catalogue nn --backend torch
    suanzi check --backend ./libvendor.so --op add --watch
    suanzi check --backend torch --shard 2/5 --json torch-2.json
    suanzi check --cluster tcp://scheduler:8786
    ```

    Parameters
    ----------
    backend
        What is tested: suanzi, numpy, torch, jax, paddle, mindspore, openvino, a
        C library (`./libvendor.so`), or a Python class (`package.module:Adapter`).
    device
        Where tensors are: `cuda`, `cuda:1`, `npu`, `xpu`, `mps` for torch, `cuda` for jax; for
        suanzi `cpu`, `cuda` and others of PyTorch, or `cluster` for tensors of blocks on Dask.
    catalogue
        The operators of another catalogue than the standard: `nn`, those that models need.
    op
        Only these interfaces, by any of their names, or their clauses; with commas, or repeated.
    category
        Only these categories (`arithmetic`, `7.2.4`).
    dtype
        Only cases with these dtypes.
    group
        Only cases of these groups (`plain`, `special`, `status`, ...).
    case
        Only these cases, by their ids or patterns of them.
    quick
        Fewer dtypes and values.
    normative
        Only what the standard requires, by its text or by an interpretation of it,
        and nothing tentative.
    has
        The dtypes that the backend has (`float32,int32`), for which levels are given; by default
        those of which it answers any call.
    strict
        Also exit with 1 for failures in quality and extensions.
    all_
        Also test the interfaces that the backend does not have: those that a C library does not
        export, or an adapter does not declare.
    seed
        Of the random cases.
    timeout
        Seconds after which a call counts as hung; also for the start, if it is more than 120.
    shard
        Run one part of several: `2/5` is the second of five. `suanzi merge` joins their reports.
    cluster
        Run on Dask: the address of a scheduler (`tcp://host:8786`), or `local:4` for four processes
        of this machine. Needs `suanzi[cluster]`.
    cases
        Run the frozen cases of this folder instead of generating them.
    export
        Write the cases, their expected results and hashes to this folder; run nothing.
    deviations
        A file of known deviations, in addition to those that come with suanzi.
    require
        Exit with 1 unless this level is reached: `minimal`, `forward`, `all` or `promotion`.
    watch
        Watch the library or adapter and rerun failed cases when it changes; then rerun everything.
        Ctrl-C ends it.
    list_
        List the cases; run nothing.
    """
    from suanzi.conformance.check import check as run_check
    from suanzi.conformance.model.tallies import decision_of
    from suanzi.front.cli.terminal import progress_bar

    filters: dict[str, Any] = {
        "catalogue": catalogue, "ops": _named("op", op), "categories": _named("category", category),
        "dtypes": _named("dtype", dtype), "groups": _named("group", group),
        "minimal": minimal, "only": case or (), "quick": quick, "normative": normative,
        "seed": seed, "folder": cases,
    }  # fmt: skip
    chosen = None if rules is None else read_rules(rules)
    if list_ or export is not None:
        if shard is not None or cluster is not None:
            option = "--shard" if shard is not None else "--cluster"
            raise InvalidArgument(f"check: {option} splits a run; --list and --export run nothing.")
        return _without_a_run(filters, backend, python, chosen, export)
    if require is not None and require not in _LEVELS:
        raise InvalidArgument(
            f"check: {require!r} is not a level; choose {', '.join(_LEVELS)}."
            + nearest(require, _LEVELS)
        )
    outputs = _outputs("check", report, one_json("check", json), junit)

    def once(only: Sequence[str]) -> Run:
        with ended_as_by_hand(), progress_bar() as progress:
            return run_check(
                backend, python=python, device=device, rules=chosen, jobs=jobs, timeout=timeout,
                deviations=deviations or (), progress=progress, has=_split(has), strict=strict,
                everything=all_, shard=shard, cluster=cluster, **{**filters, "only": only},
            )  # fmt: skip

    def report_on(run: Run) -> int:
        printed = json == []
        _tell(run, outputs, lambda: _print_report(run) if printed else _show(run, verbose))
        decision = decision_of(run, require)
        if require is not None and require not in decision.reached:
            level = next(one for one in decision.levels if one.name == require)
            print(f"suanzi: {say(level.title)}: {say(str(level))}", file=sys.stderr)
        return decision.status

    if not watch:
        return report_on(once(filters["only"]))
    from suanzi.conformance.running.backends import backend as named
    from suanzi.front.cli.watch import watch as rerun_failed
    from suanzi.front.cli.watch import watched_file

    return rerun_failed(watched_file(named(backend, python)), once, report_on, filters["only"])


def compare(
    before: str,
    after: str,
    *,
    verbose: Flag = False,
    json: Json = False,
) -> int:
    """Show what changed between two reports of `suanzi check --json` or `suanzi accuracy --json`.

    The exit status is 1 if a case that passed fails now, and is not a known deviation; of accuracy,
    if a function became less accurate.

    ```
    suanzi compare before.json after.json
    ```

    Parameters
    ----------
    before
        The earlier report.
    after
        The later report.
    verbose
        List every change.
    """
    found = _compared(before, after)
    if json:
        print(json_module.dumps(found.to_dict(), indent=2, ensure_ascii=True))
    else:
        _show_parts(found.parts(verbose=verbose))
    return int(found.broke)


def _compared(before: str, after: str) -> Any:
    """Compare two reports, of conformance or of accuracy."""
    kinds = [_is_accuracy(file) for file in (before, after)]
    if any(kinds):
        from suanzi.validate.accuracy.compare import compare as compare_accuracy
        from suanzi.validate.accuracy.report import read as read_accuracy

        return compare_accuracy(read_accuracy(before), read_accuracy(after))
    from suanzi.conformance.reports.compare import compare as run_compare
    from suanzi.conformance.reports.json import read

    return run_compare(read(before), read(after))


def _is_accuracy(file: str) -> bool:
    """Tell whether a file is of `suanzi accuracy --json`, by its beginning."""
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:
            return '"suanzi-accuracy/' in stream.read(200)
    except OSError:
        return False


def merge(
    *reports: str,
    deviations: Words = None,
    report: typed.Html = None,
    json: typed.JsonFile = None,
    junit: typed.Junit = None,
    verbose: Verbose = False,
) -> int:
    """Merge the reports of all shards of a run of `suanzi check` or `suanzi accuracy` into one.

    The exit status is that of `suanzi check`; of accuracy, 0.

    ```
    suanzi check --shard 1/2 --json 1.json
    suanzi check --shard 2/2 --json 2.json
    suanzi merge 1.json 2.json --report all.html --json all.json
    ```

    Parameters
    ----------
    reports
        The files that `--shard k/n --json FILE` wrote, one for each shard.
    deviations
        The files of known deviations that the shards were run with.
    """
    from suanzi.conformance.reports.deviations import read as read_deviations
    from suanzi.conformance.reports.json import read
    from suanzi.conformance.shards import merge as run_merge

    file = one_json("merge", json)
    if any(map(_is_accuracy, reports)):
        return _merge_accuracy(reports, report, file, junit, json == [])
    outputs = _outputs("merge", report, file, junit)
    listed = [one for name in deviations or () for one in read_deviations(name)]
    run = run_merge([read(name) for name in reports], listed)
    _tell(run, outputs, lambda: _print_report(run) if json == [] else _show(run, verbose))
    return run.decision.status


def _merge_accuracy(
    reports: Sequence[str], html: str | None, file: str | None, junit: str | None, printed: bool
) -> int:
    from suanzi.base.files import write_file
    from suanzi.validate.accuracy.merging import merge as merge_accuracy
    from suanzi.validate.accuracy.report import read as read_accuracy

    if junit is not None:
        raise InvalidArgument("merge: --junit is for reports of `suanzi check`, not of accuracy.")
    check_paths("merge", [("--report", html), ("--json", file)])
    found = merge_accuracy([read_accuracy(name) for name in reports])
    if html is not None:
        write_file(html, found.to_html())
    if file is not None:
        write_file(file, found.to_json())
    sys.stdout.write(found.to_json() if printed else f"{found}\n")
    return 0


def header(
    *, output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None, prefix: str = ""
) -> int:
    """Write the C header of the standard, for C libraries that implement it.

    ```
    suanzi header -o t_ai_131_1.h
    ```

    Parameters
    ----------
    output
        The file; by default the header is printed.
    prefix
        A prefix of the enumerators of modes, which are otherwise bare names: SUM, MAX, none.
    """
    from suanzi.conformance.header import write

    write(output, prefix)
    return 0


def _split(words: Sequence[str] | None) -> list[str]:
    """Return the values of an option that may be repeated or separated by commas."""
    return [part.strip() for word in words or () for part in word.split(",") if part.strip()]


def _named(option: str, words: Sequence[str] | None) -> list[str]:
    """Return the values of an option that narrows a run; an empty one would run everything."""
    found = _split(words)
    if words and not found:
        raise InvalidArgument(f"check: --{option} is empty; leave it out to run everything.")
    return found


def _without_a_run(
    asked: dict[str, Any],
    backend: str,
    python: str | None,
    chosen: RuleSet | None,
    folder: str | None,
) -> int:
    """List the cases, or write them to a folder."""
    from suanzi.conformance.check import cases_of_each, export, filters
    from suanzi.conformance.running.backends import backend as named
    from suanzi.conformance.running.run import facts_of
    from suanzi.promote.library import text_for_others

    settings = filters(**asked)
    if chosen is not None:
        text_for_others(chosen)
    own = None if chosen is None else chosen.name
    rules = own or settings["rules"] or facts_of(named(backend, python)).rules
    if folder is None:
        for _, found in cases_of_each(settings, rules):
            print("\n".join(printable(case.id) for case in found))
        return 0
    manifest = export(folder, settings, rules)
    print(say(f"{manifest['cases']} cases in {folder}, SHA-256 {manifest['sha256']}"))
    return 0


def _outputs(
    command: str, report: str | None, json: str | None, junit: str | None
) -> list[tuple[Path, Callable[[Run, Path], None]]]:
    """Return the files to write and how; one that cannot be written is refused before the run."""
    kinds = {"--report": "html", "--json": "json", "--junit": "junit"}
    paths = check_paths(command, list(zip(kinds, (report, json, junit), strict=True)))
    return [
        (path, import_module(f"suanzi.conformance.reports.{kinds[option]}").write)
        for option, path in paths.items()
    ]


def _tell(
    run: Run, outputs: Sequence[tuple[Path, Callable[[Run, Path], None]]], show: Callable[[], None]
) -> None:
    """Show the report and write its files; if one fails, the others are written all the same."""
    errors: list[Exception] = []
    steps = [show, sys.stdout.flush, *(partial(_write, run, path, w) for path, w in outputs)]
    for step in steps:
        try:
            step()
        except (OSError, InvalidArgument) as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _write(run: Run, path: Path, write: Callable[[Run, Path], None]) -> None:
    try:
        write(run, path)
    except OSError as error:
        raise InvalidArgument(
            f"check: {str(path)!r} cannot be written: {error.strerror}."
        ) from None


def _print_report(run: Run) -> None:
    from suanzi.conformance.reports.json import to_json

    sys.stdout.write(to_json(run).encode("utf-8", "backslashreplace").decode())


def _show(run: Run, verbose: bool) -> None:
    from suanzi.conformance.reports.summary import parts

    _show_parts(parts(run, verbose=verbose))


def _show_parts(said: list[Part]) -> None:
    from suanzi.front.cli.terminal import plain_parts, show_parts

    if for_a_person():
        show_parts(said)
    else:
        print(plain_parts(said))
