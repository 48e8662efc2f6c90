"""Cases written to files, with their expected results and hashes, and read back.

A vendor keeps the files and runs the same cases next year, whatever version of this program. One
file for each interface, one line for each case; ``manifest.json`` has the hash of each file and of
all.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from functools import cache
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any

from suanzi._core import VERSION
from suanzi.base.status import InvalidArgument, Status
from suanzi.base.text import printable
from suanzi.conformance.judging.checks import find
from suanzi.conformance.model.basis import BASES
from suanzi.conformance.model.case import GROUPS, Case, Check, Either, Expected, Output, Refused
from suanzi.conformance.model.expected import Cycle, Picked
from suanzi.conformance.model.numbers import Real
from suanzi.conformance.subjects import wire
from suanzi.conformance.subjects.wire import Bytes, Data, Ref, Shaped, check_tensors
from suanzi.promote.library import DEFAULT, learn_rules, rule_set
from suanzi.standard import interfaces

FORMAT = "suanzi-cases/2"
"""What the files are; another number means that older readers cannot read them."""
READABLE = ("suanzi-cases/1", FORMAT)
"""The first had no bases and no readings."""
MANIFEST = "manifest.json"
_LARGEST_EXPONENT = 1 << 20
"""No truth is so large or so small; one that claims to be would fill the memory."""


def to_data(x: Any) -> Any:
    """Return a part of a case as JSON; nothing is rounded."""
    return _writer(x.__class__)(x)


@cache
def _writer(kind: type) -> Callable[[Any], Any]:
    """Return how values of a type are written."""
    return next(write for known, write in _WRITERS if issubclass(kind, known))


def _write_either(x: Either) -> Any:
    readings = {name: to_data(one) for name, one in x.readings.items()}
    return {"either": {**_facts(replace(x, readings={})), "readings": readings}}


def _refuse(x: Any) -> Any:
    raise TypeError(f"{x!r} cannot be written to a file of cases.")


_WRITERS: list[tuple[Any, Callable[[Any], Any]]] = [
    (Real, lambda x: {"real": _written(x)}),
    (Fraction, lambda x: {"fraction": _number(x)}),
    (Status, lambda x: {"status": x.name}),
    (Output, lambda x: {"output": _facts(x)}),
    (Refused, lambda x: {"refused": _facts(x)}),
    (Picked, lambda x: {"picked": {"base": to_data(x.base), "index": _index(x.which)}}),
    (Check, lambda x: {"check": {"name": x.name, "facts": to_data(dict(x.facts))}}),
    (Either, _write_either),
    (tuple, lambda x: {"tuple": [_writer(v.__class__)(v) for v in x]}),
    (list, lambda x: [to_data(v) for v in x]),
    (Mapping, lambda x: {"dict": [[to_data(k), to_data(v)] for k, v in x.items()]}),
    (int | str | NoneType, lambda x: x),
    (float | complex | Data | Ref | Bytes | Shaped, wire.to_json),
    (object, _refuse),
]


def _facts(x: Any) -> dict[str, Any]:
    """Return the fields that do not have their defaults."""
    return {
        name: to_data(value)
        for name, default in _defaults(x.__class__)
        if (value := getattr(x, name)) is not default and value != default
    }


@cache
def _defaults(kind: type) -> list[tuple[str, Any]]:
    return [(f.name, f.default) for f in fields(kind)]


def from_data(x: Any) -> Any:
    """Return what `to_data` was given."""
    if isinstance(x, list):
        return [from_data(v) for v in x]
    if not isinstance(x, dict):
        return x
    ((kind, value),) = x.items()
    read = _READERS.get(kind)
    return wire.from_json(x) if read is None else read(value)


def _read_either(value: dict[str, Any]) -> Either:
    readings = {name: from_data(one) for name, one in value["readings"].items()}
    return Either(value["erratum"], readings, value.get("throughout", False))


def _read_check(value: dict[str, Any]) -> Check:
    return Check(value["name"], from_data(value["facts"]))


_READERS: dict[str, Callable[[Any], Any]] = {
    "real": lambda v: _read(v),
    "fraction": lambda v: _read_number(v),
    "status": lambda v: Status[v],
    "output": lambda v: Output(**{k: from_data(x) for k, x in v.items()}),
    "refused": lambda v: Refused(**{k: from_data(x) for k, x in v.items()}),
    "check": _read_check,
    "either": _read_either,
    "picked": lambda v: _read_picked(v),
    "tuple": lambda v: tuple(from_data(x) for x in v),
    "dict": lambda v: {from_data(k): from_data(x) for k, x in v},
}


def _index(index: Sequence[int]) -> dict[str, Any]:
    """Return indices in few characters: they repeat, or are thousands of small numbers."""
    if isinstance(index, Cycle):
        return {"period": index.period, "count": index.size}
    packed = zlib.compress(struct.pack(f"<{len(index)}H", *index), 9)
    return {"packed": base64.b64encode(packed).decode()}


def _read_picked(value: dict[str, Any]) -> Picked[Any]:
    base, index = from_data(value["base"]), value["index"]
    if "period" in index:
        period, count = int(index["period"]), int(index["count"])
        if not 0 < period <= len(base) or not 0 <= count <= wire.LARGEST:
            raise ValueError(f"{count} elements of {len(base)}, {period} at a time")
        return Picked(base, Cycle(period, count))
    opened = zlib.decompressobj().decompress(base64.b64decode(index["packed"]), wire.LARGEST)
    found = struct.unpack(f"<{len(opened) // 2}H", opened)
    if any(k >= len(base) for k in found):
        raise ValueError(f"an element that is none of {len(base)}")
    return Picked(base, found)


def _written(x: Real) -> str:
    sign = "-" if x.negative else ""
    if x.is_nan:
        return sign + "nan"
    return sign + ("inf" if x.size is None else _number(x.size))


def _number(x: Fraction) -> str:
    """Return a number exactly: an integer, hexadecimal times a power of two, or a fraction."""
    above, below = x.as_integer_ratio()
    if below & (below - 1):
        return f"{above}/{below}"
    if below > 1:
        return f"{above:#x}p{1 - below.bit_length()}"
    zeros = (above & -above).bit_length() - 1 if above else 0
    return str(above) if zeros < 64 else f"{above >> zeros:#x}p{zeros}"


def _read(text: str) -> Real:
    negative, size = text.startswith("-"), text.removeprefix("-")
    if size in ("nan", "inf"):
        return Real(negative, None, is_nan=size == "nan")
    return Real(negative, _read_number(size))


def _read_number(text: str) -> Fraction:
    if "p" in text:
        digits, _, exponent = text.partition("p")
        if abs(int(exponent)) > _LARGEST_EXPONENT:
            raise ValueError(f"2 to the power of {exponent} is too large for a case")
        return Fraction(int(digits, 16)) * Fraction(2) ** int(exponent)
    above, _, below = text.partition("/")  # Fraction would read 1e999999999, too
    return Fraction(int(above), int(below or 1))


def line_of(case: Case) -> str:
    """Return a case as a line of a file."""
    facts = {
        "id": case.id, "op": case.op, "group": case.group, "dtype": case.dtype,
        "title": case.title, "rules": case.rules, "skip": case.skip,
        "basis": case.basis, "because": case.because,
        "arguments": to_data(dict(case.arguments)),
        "expected": None if case.skip else to_data(case.expect()),
        **({"steps": to_data(case.steps)} if case.steps else {}),
    }  # fmt: skip
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=True)


def case_of(line: str, op: str | None = None) -> Case:
    """Return the case of a line, of this interface if one is named; its truth is read when needed.

    A malformed line raises InvalidArgument: a hash shows that nobody changed it, not who wrote it.
    """
    try:
        facts = json.loads(line)
        for name in ("op", "group", "dtype", "title"):
            if not isinstance(facts[name], str):
                raise TypeError(f"{name} is {facts[name]!r}")
        for name in ("rules", "skip"):
            if not isinstance(facts[name], str | None):
                raise TypeError(f"{name} is {facts[name]!r}")
        basis, because = facts.get("basis"), facts.get("because", "")
        if basis not in (None, *BASES) or not isinstance(because, str):
            raise ValueError(f"the basis is {basis!r:.60}, because {because!r:.60}")
        if facts["group"] not in GROUPS or op not in (None, facts["op"]):
            raise ValueError(f"{facts['op']!r} has no group {facts['group']!r} here")
        arguments = from_data(facts["arguments"])
        if not isinstance(arguments, dict) or not all(isinstance(k, str) for k in arguments):
            raise TypeError("the arguments have no names")
        check_tensors(list(arguments.values()))
        steps = from_data(facts.get("steps", []))
        if not isinstance(steps, list) or not all(isinstance(s, list) and s for s in steps):
            raise TypeError(f"the steps are {steps!r:.60}")
        expected = facts["expected"]
    except Exception as error:
        raise _no_case(line, error) from None

    def expect() -> Expected:
        try:
            found: Expected = _checked(from_data(expected))
            return found
        except Exception as error:
            raise _no_case(line, error) from None

    return Case(
        facts["op"], facts["group"], facts["dtype"], facts["title"], arguments, expect,
        rules=facts["rules"], skip=facts["skip"], basis=facts.get("basis"),
        because=facts.get("because", ""), steps=steps,
        disputed=isinstance(expected, dict) and "either" in expected,
    )  # fmt: skip


def _no_case(line: str, error: Exception) -> InvalidArgument:
    said = printable(f"{type(error).__name__}: {error}"[:200])
    start = printable(line[:60])
    return InvalidArgument(f"check: the line {start}... is not a case ({said}).")


def _checked(expected: Any) -> Any:
    """Return the expected result of a call, or raise an error if it is malformed."""
    if isinstance(expected, Refused):
        if not isinstance(expected.status, Status):
            raise TypeError(f"the status {expected.status!r}")
        if not all(isinstance(one, Status) for one in expected.others):
            raise TypeError(f"the statuses {expected.others!r}")
        if expected.instead is not None:
            _checked(expected.instead)
    elif isinstance(expected, Either):
        if not isinstance(expected.erratum, str) or type(expected.throughout) is not bool:
            raise TypeError(f"the erratum {expected.erratum!r}")
        if len(expected.readings) < 2:
            raise ValueError(f"{expected.erratum} has fewer than two interpretations")
        for one in expected.readings.values():
            _checked(one)
    elif isinstance(expected, Check):
        find(expected.name)
        if not isinstance(expected.facts, dict):
            raise TypeError(f"the facts of {expected.name} are {expected.facts!r}")
    elif isinstance(expected, tuple):
        for one in expected:
            _check_output(one)
    else:
        raise TypeError(f"{expected!r} is not an outcome of a call")
    return expected


def _check_output(x: Any) -> None:
    if isinstance(x, list | tuple):
        for one in x:
            _check_output(one)
    elif isinstance(x, Check):
        _checked(x)
    elif isinstance(x, Output):
        if x.dtype not in wire.ITEMSIZE or not all(type(n) is int and n >= 0 for n in x.shape):
            raise ValueError(f"{x.dtype!r} of shape {x.shape!r} is not a tensor")
        if len(x.truth) != math.prod(x.shape):
            raise ValueError(f"{len(x.truth)} elements do not fill the shape {x.shape}")


def export(
    folder: str | PathLike[str],
    each: Iterable[tuple[str, list[Case]]],
    facts: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write the cases of interfaces, given one after the other, and return the manifest."""
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InvalidArgument(f"check: {os.fspath(folder)!r} exists and is not an empty folder.")
    try:
        place.mkdir(parents=True, exist_ok=True)
        return _write(place, each, facts or {})
    except OSError as error:
        raise InvalidArgument(
            f"check: cannot write the cases to {os.fspath(folder)!r}: {error.strerror}."
        ) from None


def _write(
    place: Path, each: Iterable[tuple[str, list[Case]]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    files: dict[str, dict[str, Any]] = {}
    for op, found in each:
        if not found:
            continue
        text = "".join(line_of(case) + "\n" for case in found).encode()
        (place / f"{op}.jsonl").write_bytes(text)
        files[f"{op}.jsonl"] = {"cases": len(found), "sha256": hashlib.sha256(text).hexdigest()}
    manifest = {
        "format": FORMAT,
        "suanzi": VERSION,
        **facts,
        "cases": sum(one["cases"] for one in files.values()),
        "sha256": digest(files),
        "files": files,
    }
    (place / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    return manifest


def digest(files: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the hash of all files, from theirs."""
    lines = "".join(f"{name} {files[name]['sha256']}\n" for name in sorted(files))
    return hashlib.sha256(lines.encode()).hexdigest()


def manifest_of(folder: str | PathLike[str]) -> dict[str, Any]:
    """Return the manifest of a folder, after checking the hash of each file."""
    place = Path(folder)
    try:
        manifest: dict[str, Any] = json.loads((place / MANIFEST).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidArgument(
            f"check: {os.fspath(folder)!r} has no readable {MANIFEST} ({error}); write one "
            "with suanzi check --export."
        ) from None
    form = manifest.get("format") if isinstance(manifest, dict) else None
    if form not in READABLE:
        raise InvalidArgument(
            f"check: {os.fspath(folder)!r} has the format {form!r}; this version reads {FORMAT!r}."
        )
    try:
        _check_manifest(manifest)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidArgument(
            f"check: {place / MANIFEST} was not written by --export: {error}."
        ) from None
    for name, facts in manifest["files"].items():
        try:
            found = hashlib.sha256((place / name).read_bytes()).hexdigest()
        except OSError as error:
            raise InvalidArgument(f"check: cannot read {place / name}: {error}.") from None
        if found != facts["sha256"]:
            raise InvalidArgument(
                f"check: {place / name} was changed after the export: its hash is {found[:12]}..., "
                f"the manifest has {facts['sha256'][:12]}.... Export the cases again."
            )
    if digest(manifest["files"]) != manifest["sha256"]:
        raise InvalidArgument(f"check: the hash in {place / MANIFEST} does not match its files.")
    return manifest


def _check_manifest(manifest: dict[str, Any]) -> None:
    """Raise an error if a field of a manifest is missing or malformed."""
    kinds = {"files": dict, "sha256": str, "seed": int, "rules": str, "filters": dict}
    given: dict[str, Any] = {"seed": 0, "rules": DEFAULT, "filters": {}} | manifest
    for name, kind in kinds.items():
        if type(given[name]) is not kind:
            raise TypeError(f"{name} is {given[name]!r:.60}, not a {kind.__name__}")
    if "rules_text" in manifest:
        learn_rules(manifest["rules_text"])
    rule_set(given["rules"])
    for name, facts in manifest["files"].items():
        if not name.endswith(".jsonl") or name.removesuffix(".jsonl") not in interfaces():
            raise ValueError(f"{name!r:.60} is not a file of an interface")
        if not isinstance(facts, dict) or not isinstance(facts.get("sha256"), str):
            raise TypeError(f"{name} has no hash")
    for name, left in given["filters"].items():
        words = isinstance(left, list) and all(isinstance(one, str) for one in left)
        if not (words or isinstance(left, bool)):
            raise TypeError(f"the filter {name} is {left!r:.60}")


def read(folder: str | PathLike[str], op: str) -> list[Case]:
    """Return the cases of an interface from a folder; none if it has no file of them."""
    try:
        text = (Path(folder) / f"{op}.jsonl").read_text("utf-8", "backslashreplace")
    except FileNotFoundError:
        return []
    found = [case_of(line, op) for line in text.splitlines()]
    if len({case.id for case in found}) != len(found):
        raise InvalidArgument(f"check: {op}.jsonl of {os.fspath(folder)!r} has a case twice.")
    return found
