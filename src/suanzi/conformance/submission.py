"""A submission: a report with everything that somebody else needs to check it.

`submit` runs the required cases and writes a folder; `verify` checks one, without the backend. The
folder has the report, the answers of the backend, the list of required cases, a statement of who
submits what, the known deviations and waivers that were used, and ``manifest.json`` with the
SHA-256 of each file, which may be signed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from suanzi.base.decode import Malformed, decode
from suanzi.base.files import only_files, write_file
from suanzi.base.status import InvalidArgument
from suanzi.base.toml import tomllib
from suanzi.conformance import evidence, mustpass, second_judge
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.check import Progress, check, cores
from suanzi.conformance.model.results import NOT_TRIED, Result, Run
from suanzi.conformance.model.tallies import CASE_FILTERS
from suanzi.conformance.reports import deviations as known
from suanzi.conformance.reports import html
from suanzi.conformance.reports import json as report_json
from suanzi.conformance.reports.readings import settle
from suanzi.conformance.running.process import Backend, Facts
from suanzi.conformance.running.recording import Recorded, content_of, read_answers
from suanzi.conformance.running.run import given_up, run_case
from suanzi.promote.library import rule_sets

FORMAT = "suanzi-submission/1"
MANIFEST, SIGNATURE = "manifest.json", "manifest.json.minisig"
_STATEMENT = """\
# Who submits what. Fill in every line; `suanzi verify` says what is missing.
vendor = ""
product = ""
version = ""
device = ""     # the chip and its driver, or "CPU"
contact = ""
date = ""
"""
_ASKED = ("vendor", "product", "version", "device", "contact", "date")


@dataclass(frozen=True)
class Waiver:
    """A failure that the authority of the tests lets pass, by its number."""

    id: str
    case: str
    """A pattern of ids of cases."""
    reason: str
    until: str = ""
    """The last list of required cases for which it holds; empty for all."""


def read_waivers(path: str | PathLike[str]) -> list[Waiver]:
    """Return the waivers of a TOML file."""
    try:
        data = tomllib.loads(Path(path).read_text("utf-8"))
        return decode(list[Waiver], data.get("waiver", []), "waiver")
    except OSError as error:
        raise InvalidArgument(f"{os.fspath(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, Malformed) as error:
        raise InvalidArgument(f"{os.fspath(path)!r} is not a file of waivers: {error}.") from None


def submit(
    folder: str | PathLike[str],
    backend: str | Backend = "suanzi",
    *,
    statement: str | PathLike[str] | None = None,
    deviations: Sequence[str | PathLike[str]] = (),
    waivers: str | PathLike[str] | None = None,
    sign: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    log: Callable[[Run], str] = lambda run: run.decision.headline,
    **options: Any,
) -> Run:
    """Run the required cases against a backend, and write a submission.

    `options` are those of `check`. `sign` is the file of a secret key of minisign, `log` gives the
    text of the log.
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidArgument(f"submit: {os.fspath(folder)!r} exists and is not an empty folder.")
    copies = {"statement.toml": statement, "waivers.toml": waivers}
    copies |= {f"deviations-{i}.toml": path for i, path in enumerate(deviations, 1)}
    for path in copies.values():
        if path is not None and not Path(path).is_file():
            raise InvalidArgument(f"submit: {os.fspath(path)!r} is not a file.")
    if waivers is not None:
        read_waivers(waivers)
    if sign is not None and shutil.which("minisign") is None:
        raise InvalidArgument("submit: --sign needs the program minisign.")
    (place / "answers").mkdir(parents=True)
    run = check(
        backend, normative=True, answers=place / "answers", deviations=list(deviations),
        progress=progress, **options,
    )  # fmt: skip
    report_json.write(run, place / "report.json")
    html.write(run, place / "report.html")
    write_file(place / "log.txt", log(run) + "\n")
    write_file(place / "mustpass.json", (mustpass.FOLDER / f"{mustpass.EDITION}.json").read_text())
    shutil.copyfile(second_judge.__file__, place / "second_judge.py")
    write_file(place / "statement.toml", _STATEMENT)
    for name, path in copies.items():
        if path is not None:
            shutil.copyfile(path, place / name)
    write_manifest(place, run.evidence)
    if sign is not None:
        _minisign("-S", "-s", sign, "-m", str(place / MANIFEST))
    return run


def write_manifest(place: Path, about: Mapping[str, Any]) -> None:
    """Write the hashes of all files of a submission."""
    parts = {name: about[name] for name in ("kit", "backend", "host", "mustpass") if name in about}
    data = {"format": FORMAT, **parts, "files": _hashes(place)}
    write_file(place / MANIFEST, json.dumps(data, indent=1) + "\n")


def _hashes(place: Path) -> dict[str, str]:
    files = sorted(p for p in place.rglob("*") if p.is_file() and not p.is_symlink())
    names = {p.relative_to(place).as_posix(): p for p in files}
    return {n: evidence.sha256(p) for n, p in names.items() if n not in (MANIFEST, SIGNATURE)}


def _minisign(*arguments: str) -> str:
    """Run minisign; return its words, or raise an error with them."""
    try:
        done = subprocess.run(["minisign", *arguments], capture_output=True, text=True, check=False)
    except OSError:
        raise InvalidArgument("signatures need the program minisign; install it.") from None
    said = (done.stdout + done.stderr).strip()
    if done.returncode:
        raise InvalidArgument(f"minisign: {said}")
    return said


@dataclass(frozen=True)
class Finding:
    """One thing that was verified."""

    what: str
    ok: bool | None
    """None if there was nothing to verify."""
    words: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Verified:
    """What `verify` found."""

    findings: Sequence[Finding]
    headline: str = ""
    """What the report shows, decided again."""

    @property
    def genuine(self) -> bool:
        """Whether nothing contradicts the report."""
        return all(one.ok is not False for one in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        each = [one.to_dict() for one in self.findings]
        return {"genuine": self.genuine, "headline": self.headline, "findings": each}


def verify(
    folder: str | PathLike[str],
    *,
    library: str | PathLike[str] | None = None,
    public_key: str | None = None,
    waivers: str | PathLike[str] | None = None,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verified:
    """Check a submission: its files, its list of cases, and every answer, judged again.

    `library` is the library that it is about, `public_key` the key of minisign that must have
    signed it, `waivers` those that the authority of the tests has granted. `progress` is called
    for each file of answers that was judged, by this kit and by the second judge.
    """
    place = Path(folder)
    each = partial(_each, jobs=cores() if jobs is None else jobs, told=_Told(progress))
    granted = [] if waivers is None else read_waivers(waivers)
    try:
        only_files(place)
        manifest = json.loads((place / MANIFEST).read_text("utf-8"))
        files, about = dict(manifest["files"]), manifest
        if manifest["format"] != FORMAT:
            raise ValueError(f"the format is {manifest['format']!r:.40}")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        name = os.fspath(folder)
        raise InvalidArgument(f"verify: {name!r} is not a submission: {error}.") from None
    findings = [_files(place, files), _signature(place, public_key)]
    if library is not None:
        findings.append(_library(library, about.get("backend", {})))
    try:
        run = report_json.read(place / "report.json")
        findings += [_consistent(place, run, about), _statement(place)]
        again = _again(place, run, each)
        findings += [*_same_results(place, run, again), _same_list(run, again)]
        findings += [_promotion(run, again), _second(place, run, each)]
        findings.append(_waived(run, granted))
    except InvalidArgument as error:
        return Verified([*findings, Finding("the contents can be read", False, str(error))])
    return Verified(findings, run.decision.headline)


def _files(place: Path, files: Mapping[str, str]) -> Finding:
    there = _hashes(place)
    wrong = [f"{n} was changed" for n in files if n in there and there[n] != files[n]]
    wrong += [f"{n} is missing" for n in files if n not in there]
    wrong += [f"{n} is not in the manifest" for n in there if n not in files]
    return Finding("files", not wrong, "; ".join(wrong[:5]) or f"{len(files)} with their hashes")


def _signature(place: Path, key: str | None) -> Finding:
    signed = (place / SIGNATURE).is_file()
    if key is None:
        words = "signed; give --public-key to check it" if signed else "not signed"
        return Finding("signature", None, words)
    if not signed:
        return Finding("signature", False, "not signed")
    try:
        _minisign("-V", "-P" if not Path(key).is_file() else "-p", key, "-m", str(place / MANIFEST))
    except InvalidArgument as error:
        return Finding("signature", False, str(error))
    return Finding("signature", True, f"by {key}")


def _library(path: str | PathLike[str], said: Mapping[str, str]) -> Finding:
    try:
        found = evidence.sha256(path)
    except OSError as error:
        raise InvalidArgument(f"verify: {os.fspath(path)!r}: {error.strerror}.") from None
    same = found in said.values()
    return Finding("library", same, f"SHA-256 {found}" + ("" if same else ", not the one tested"))


def _consistent(place: Path, run: Run, manifest: Mapping[str, Any]) -> Finding:
    """Compare what a report says of itself with what follows from its results."""
    written = json.loads((place / "report.json").read_text("utf-8"))
    parts = ("decision", "conforms", "counts", "bases", "levels", "interfaces", "readings")
    derived = report_json.as_read(report_json.to_data(run), parts)
    wrong = [name for name in parts if written.get(name) != derived.get(name)]
    about = ("kit", "backend", "host", "mustpass")
    wrong += [name for name in about if manifest.get(name) != run.evidence.get(name)]
    return Finding("report", not wrong, f"does not follow from its results: {', '.join(wrong)}"
                   if wrong else run.decision.headline)  # fmt: skip


def _statement(place: Path) -> Finding:
    try:
        said = tomllib.loads((place / "statement.toml").read_text("utf-8"))
    except (OSError, ValueError) as error:
        return Finding("statement", False, str(error))
    empty = [name for name in _ASKED if not str(said.get(name, "")).strip()]
    if empty:
        return Finding("statement", None, f"not filled in: {', '.join(empty)}")
    return Finding("statement", True, f"{said['vendor']}, {said['product']} {said['version']}")


def _judged(path: Path, facts: Facts, backend: Backend) -> list[tuple[str, Result]]:
    return [(one.content, _judge(one)) for one in read_answers(path, facts, backend)]


def _judge(one: Recorded) -> Result:
    """Judge a recorded answer as `check` does; what was not tried then has no answer now."""
    words = str(one.said.get("words", ""))
    return given_up(one.case, words) if words.startswith(NOT_TRIED) else run_case(one, one.case)


def _again(place: Path, run: Run, each: Each) -> list[tuple[str, Result]]:
    """Judge every recorded answer again, with the hash of its case."""
    subject = run.subject
    try:
        facts = decode(Facts, {"mapping": {}, "missing": {}, "notes": [], "python": "", **subject})
    except Malformed as error:
        raise InvalidArgument(f"report.json: the backend's description: {error}.") from None
    backend = Backend(str(subject.get("title", "")), str(subject.get("adapter", "")))
    work = partial(_judged, facts=facts, backend=backend)
    return [one for some in each(work, place) for one in some]


class _Told:
    """Counts the files of answers that were judged, by one judge and then by the other."""

    def __init__(self, progress: Callable[[Progress], None] | None) -> None:
        self.progress, self.done = progress, 0

    def __call__(self, many: int, path: Path, found: Any) -> None:
        """Say that one of so many files was judged."""
        self.done += 1
        if self.progress is not None:
            results = [one for _, one in found] if isinstance(found, list) else []
            self.progress(Progress(self.done, 2 * many, path.name.partition(".")[0], results))


Each: TypeAlias = Callable[[Callable[[Path], Any], Path], list[Any]]
"""Gives what is found in each file of answers."""


def _each(work: Callable[[Path], Any], place: Path, jobs: int, told: _Told) -> list[Any]:
    """Return what is found in each file of answers, by several processes."""
    paths, found = second_judge.files(place), []
    with ExitStack() as stack:
        results: Iterator[Any] = map(work, paths)
        if jobs > 1 and len(paths) > 1:
            pool = stack.enter_context(ProcessPoolExecutor(min(jobs, len(paths))))
            results = pool.map(work, paths)
        for path, one in zip(paths, results, strict=True):
            found.append(one)
            told(len(paths), path, one)
    return found


def _same_results(place: Path, run: Run, again: Sequence[tuple[str, Result]]) -> Iterator[Finding]:
    """Compare the report with what its recorded answers show."""
    listed = list(
        known.packaged(str(run.subject.get("name", "")), device=str(run.subject.get("device", "")))
    )
    for path in sorted(place.glob("deviations-*.toml")):
        listed += known.read(path)
    results = settle([one for _, one in again])
    results, _ = known.apply(results, listed, str(run.subject.get("version", "")))
    said = {r.id: r for r in run.results if r.required}
    found = {r.id: r for r in results}
    missing = [i for i, r in said.items() if i not in found and r.outcome == "passed"]
    missing += [i for i in found if i not in said]
    yield Finding(
        "answers", not missing,
        f"{len(missing)} cases are not both reported and recorded: {', '.join(missing[:3])}"
        if missing else f"{len(found)} recorded",
    )  # fmt: skip
    wrong = [i for i, r in found.items() if i in said and not _agree(said[i], r)]
    words = "; ".join(
        f"{i} is {said[i].outcome} in the report, and {found[i].outcome}: {found[i].problem}"[:300]
        for i in wrong[:3]
    )
    yield Finding(
        "judged again", not wrong,
        f"{len(wrong)} answers are not what the report says: {words}"
        if wrong else f"all {len(found)} as reported",
    )  # fmt: skip


def _agree(said: Result, found: Result) -> bool:
    """Tell whether a report says of a case what its answer shows; a crash may be found later."""
    if said.outcome in ("crashed", "hung"):
        return True
    same = ("outcome", "basis", "broken", "reading", "known")
    return all(getattr(said, name) == getattr(found, name) for name in same)


def _same_list(run: Run, again: Sequence[tuple[str, Result]]) -> Finding:
    """Compare the cases that were recorded with the frozen list that came with this kit."""
    name = f"list {mustpass.EDITION}"
    if left_out := [one for one in CASE_FILTERS if run.settings.get(one)]:
        return Finding(name, None, f"not compared: cases were left out by {', '.join(left_out)}")
    lines: dict[str, list[str]] = {}
    for content, r in again:
        if r.group != "promotion" and r.required:
            lines.setdefault(r.op, []).append(f"{content}  {r.id}\n")
    contents = {op: {"cases": len(x), "sha256": evidence.digest(x)} for op, x in lines.items()}
    listed = mustpass.read()["interfaces"]
    other = [op for op in mustpass.different(contents) if op in contents]
    missing = [op for op in listed if op not in contents]
    if other:
        return Finding(name, False, f"other cases than in the list: {', '.join(other[:8])}")
    if missing:
        return Finding(name, None, f"{len(missing)} of {len(listed)} interfaces were not tested")
    return Finding(name, True, f"all {mustpass.read()['cases']} cases")


def _promotion(run: Run, again: Sequence[tuple[str, Result]]) -> Finding:
    """Compare the recorded cases of promotion with those that the rule set gives."""
    rules = str(run.settings.get("rules") or "")
    found: dict[str, dict[str, str]] = {}
    for content, r in again:
        if r.group == "promotion":
            found.setdefault(r.op, {})[r.id] = content
    if not found:
        return Finding("promotion", None, "no cases")
    if rules not in rule_sets():
        return Finding("promotion", None, f"the rule set {rules} is not built in: not compared")
    wanted = Wanted(groups=frozenset({"promotion"}), rules=rules)
    other = []
    for op, some in found.items():
        right = {case.id: case for case in cases(op, wanted)}
        for name, content in some.items():
            case = right.get(name)
            if case is None or content_of(case, case.expect()) != content:
                other.append(name)
    if other:
        return Finding("promotion", False, f"not cases of the rules {rules}: {other[0]}")
    return Finding("promotion", True, f"{sum(map(len, found.values()))} cases of the rules {rules}")


def _second(place: Path, run: Run, each: Each) -> Finding:
    """Ask the second judge, which shares no code with this kit."""
    work = partial(second_judge.judged, statuses=bool(run.subject.get("statuses")))
    try:
        found = {i: how for some in each(work, place) for i, how in some.items()}
    except Exception as error:
        return Finding("second judge", False, f"{type(error).__name__}: {error}"[:300])
    passed = {r.id for r in run.results if r.outcome == "passed"}
    lies = [i for i, how in found.items() if how == second_judge.WRONG and i in passed]
    if lies:
        return Finding("second judge", False, f"{len(lies)} passed, but wrong: {lies[0]}")
    right = sum(how == second_judge.RIGHT for how in found.values())
    unknown = sum(how == second_judge.UNKNOWN for how in found.values())
    return Finding("second judge", True, f"{right} right, {unknown} not judged (properties)")


def _waived(run: Run, waivers: Sequence[Waiver]) -> Finding:
    """Say which failures of requirements the waivers cover."""
    failing = [r for r in run.results if r.required and (r.breaks or r.unanswered)]
    covered: dict[str, str] = {}
    for r in failing:
        for one in waivers:
            ended = one.until and one.until < mustpass.EDITION
            if not ended and fnmatchcase(r.id, one.case):
                covered.setdefault(r.id, one.id)
    left = len(failing) - len(covered)
    if not failing:
        return Finding("requirements", True, "all are met")
    used = ", ".join(sorted(set(covered.values())))
    broken = sum(r.breaks for r in failing)
    words = f"{broken} fail, {len(failing) - broken} have no answer; {left} of these are not waived"
    words = words if left else "met with waivers"
    return Finding("requirements", None, f"{words}{f' ({used})' if used else ''}")
