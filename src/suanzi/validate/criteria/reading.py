"""Criteria by name: each a TOML file in ``standards/``, or a file of yours."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from os import listdir, path
from typing import Any, Literal

from suanzi.base.decode import Malformed, decode
from suanzi.base.hints import nearest
from suanzi.base.status import InvalidArgument
from suanzi.base.toml import tomllib
from suanzi.validate.criteria.checks import CHECKS, Amount, Check, Inapplicable, number

_ALSO = {
    "scaled_dot_product_attention": "attention", "mm": "matmul", "bmm": "matmul", "gemm": "matmul",
    "conv1d": "conv", "conv2d": "conv", "conv3d": "conv", "reduce_sum": "sum",
    "reduce_mean": "mean",
}  # fmt: skip
"""Other names of operators, and those in the files."""
FOLDER = path.join(path.dirname(__file__), "standards")


@dataclass(frozen=True)
class Source:
    """Where a criterion is written, and when it was read there."""

    repository: str
    file: str
    commit: str
    read: str
    """The day."""
    checked: bool = True
    """Whether it was compared with the file itself, not only with what others say of it."""


@dataclass(frozen=True)
class Requirement:
    """A check of a criterion, and which operators and levels it is for."""

    check: Check
    ops: tuple[str, ...] = ()
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Criterion:
    """A rule by which somebody accepts or refuses the output of a kernel."""

    name: str
    title: str
    version: str
    source: Source
    summary: str
    """One sentence: who uses it, and what it requires."""
    reference: Literal["exact", "rounded"]
    """Whether the expected output is rounded to the dtype of the output before it is compared."""
    require: tuple[Requirement, ...] = field(default=(), metadata={"private": True})
    notes: tuple[str, ...] = ()
    """What the rule depends on, and what is known of its use."""
    levels: tuple[str, ...] = ()
    """Variants, the default first; ``NAME+LEVEL`` chooses one."""
    level: str = field(default="", metadata={"private": True})

    def checks(self, op: str | None) -> tuple[Check, ...]:
        """Return the checks for an operator: those that name it, else those that name none."""
        op = None if op is None else known_as(op)
        here = [r for r in self.require if not r.levels or self.level in r.levels]
        found = [r for r in here if op in r.ops] or [r for r in here if not r.ops]
        if not found:
            named = ", ".join(dict.fromkeys(name for r in here for name in r.ops))
            missing = "needs the operator (op=)" if op is None else f"has no rule for {op}"
            raise Inapplicable(f"{missing}; it has rules for {named}")
        return tuple(r.check for r in found)

    def needs(self, op: str | None) -> tuple[str, ...]:
        """Return the optional inputs that it needs for an operator."""
        try:
            return tuple(dict.fromkeys(name for check in self.checks(op) for name in check.needs))
        except Inapplicable:
            return ()

    def rules(self, dtype: str, op: str | None = None) -> list[str]:
        """Return what it requires of a dtype, in lines; why not, if it cannot be applied."""
        try:
            return [check.rule(dtype, self.level) for check in self.checks(op)]
        except Inapplicable as why:
            return [f"cannot be applied: {why}"]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as data."""
        data = asdict(self)
        data["require"] = [
            {"check": r.check.title, "ops": list(r.ops), "levels": list(r.levels)} | asdict(r.check)
            for r in self.require
        ]
        return data


def known_as(op: str) -> str:
    """Return the name by which criteria know an operator, whatever its catalogue calls it.

    >>> known_as("nn:scaled_dot_product_attention"), known_as("nn:softmax")
    ('attention', 'softmax')
    """
    plain = op.rpartition(":")[2]
    return _ALSO.get(plain, plain)


def read(text: str, where: str) -> Criterion:
    """Read a criterion from the text of its file; errors name the file and the key."""
    try:
        data = tomllib.loads(text)
        entries = data.pop("require", [])
        if not isinstance(entries, list) or not entries:
            raise Malformed("it has no [[require]]: a criterion needs at least one check")
        found = decode(Criterion, data, closed=True)
        require = tuple(map(_requirement, entries))
    except (tomllib.TOMLDecodeError, Malformed, ValueError) as error:
        raise InvalidArgument(f"criteria: {where}: {error}") from None
    level = found.levels[0] if found.levels else ""
    return replace(found, require=require, level=level)


def _requirement(entry: dict[str, Any]) -> Requirement:
    rest = dict(entry)
    name = rest.pop("check", None)
    if name not in CHECKS:
        hint = nearest(str(name), CHECKS)
        raise Malformed(f"{name!r} is not a check; use {', '.join(CHECKS)}.{hint}")
    ops = decode(tuple[str, ...], rest.pop("ops", []), "ops")
    levels = decode(tuple[str, ...], rest.pop("levels", []), "levels")
    check = decode(CHECKS[name], rest, closed=True)
    for one in fields(check):
        if one.type == "Amount":
            _numbers(one.name, getattr(check, one.name))
    return Requirement(check, ops, levels)


def _numbers(name: str, given: Amount) -> None:
    """Refuse what is not a number."""
    for text in given.values() if isinstance(given, dict) else (given,):
        try:
            number(text)
        except (ValueError, ArithmeticError):
            raise Malformed(f"{name} is {text!r}; write 1e-3, '2^-10' or '1/1024'") from None


@cache
def names() -> tuple[str, ...]:
    """Return the names of the built-in criteria.

    >>> "kernelbench" in names()
    True
    """
    return tuple(sorted(path.splitext(f)[0] for f in listdir(FOLDER) if f.endswith(".toml")))


def criterion(name: str) -> Criterion:
    """Return a criterion by name, with ``+LEVEL`` where it has levels, or from a file of yours.

    >>> criterion("ttk").title
    "CANN's operator test kit (TTK), its default"
    >>> criterion("cann-commercial+L2").level
    'L2'
    """
    base, plus, level = name.strip().partition("+")
    found = _built_in(base) if base in names() else _from_file(base)
    if not plus:
        return found
    if level not in found.levels:
        allowed = ", ".join(found.levels) or "none"
        raise InvalidArgument(
            f"standards: {base} has no level {level!r}; its levels: {allowed}."
            + nearest(level, found.levels)
        )
    return replace(found, name=name.strip(), level=level)


@cache
def _built_in(name: str) -> Criterion:
    with open(path.join(FOLDER, f"{name}.toml"), encoding="utf-8") as file:
        return read(file.read(), name)


def _from_file(name: str) -> Criterion:
    if not (name.endswith(".toml") and path.isfile(name)):
        raise InvalidArgument(
            f"standards: {name!r} is not an accuracy standard; available: {', '.join(names())}, "
            f"or the path of a TOML file.{nearest(name, names())}"
        )
    with open(name, "rb") as file:
        text = file.read()
    try:
        return read(text.decode("utf-8"), name)
    except UnicodeDecodeError:
        raise InvalidArgument(f"criteria: {name} is not UTF-8 text.") from None


def every() -> tuple[Criterion, ...]:
    """Return all criteria, each level on its own."""
    found = []
    for name in names():
        one = criterion(name)
        found += [criterion(f"{name}+{level}") for level in one.levels] or [one]
    return tuple(found)
