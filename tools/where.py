"""Show where a clause of the standard is: record, code, driver, kernel, truth, cases, tests, guide.

python tools/where.py 7.2.13.2    or a name, cumsum or op_cumsum, or a category, 7.2.13 or reduction

Nothing is listed by hand: the first line of a file names the clauses it is about. A file that names
none, because many share it, is found through the cases that import it. Those of tensors, the array
API and the cluster are found by the operators they name.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import suanzi  # noqa: F401  (declares the operators)
from suanzi.base.status import InvalidArgument
from suanzi.promote.registry import REGISTRY
from suanzi.standard import Interface, interface, interfaces

ROOT = Path(__file__).resolve().parent.parent
KIT = "src/suanzi/conformance"
FOLDERS = {
    "standard": ("src/suanzi/standard/*.toml",),
    "code": ("src/suanzi/ops/*.py", "src/suanzi/ops/libraries/*.py", "src/suanzi/ops/sparse/*.py"),
    "C form": ("src/suanzi/faces/interface/__init__.pyi",),
    "tensors": ("src/suanzi/tensors/*.py",),
    "array API": ("src/suanzi/faces/array_api/*.py",),
    "cluster": ("src/suanzi/runtimes/cluster/*.py",),
    "driver": ("native/ops/*", "native/loops/*"),
    "kernel": ("native/kernels/*",),
    "truth": (f"{KIT}/truth/*.py", f"{KIT}/judging/checks/*.py", f"{KIT}/model/numbers.py"),
    "cases": (f"{KIT}/cases/*.py",),
    "tests": ("tests/**/test_*.py",),
    "guide": ("docs/en/guides/operators/*.md",),
    "benchmark": ("benchmarks/*.py",),
}
"""What exists of a clause, and where it can be."""
BY_OPERATOR = ("tensors", "array API", "cluster")
"""Kinds of files that name operators instead of clauses."""

Number = tuple[int, ...]
Span = tuple[Number, Number]
"""The first and the last of some clauses."""

CLAUSE = r"7\.2\.\d+(?:\.\d+)*"
CLAUSES = rf"{CLAUSE}(?:(?:,| and| to) (?:{CLAUSE}|(?:\.\d+)+))*"
"""How heads name clauses: ``7.2.17.3 to .6 and .10``; a dot stands for the category before it."""


def number(clause: str) -> Number:
    """Return a clause as its numbers."""
    return tuple(int(n) for n in clause.split(".") if n)


@cache
def clauses_in(text: str) -> tuple[Span, ...]:
    """Return the clauses that a text names, one alone as the span from itself to itself."""
    found: list[Span] = []
    for listed in re.findall(CLAUSES, text):
        category: Number = ()
        to = False
        for word in re.findall(rf"{CLAUSE}|(?:\.\d+)+|to", listed):
            if word == "to":
                to = True
                continue
            last = category + number(word) if word.startswith(".") else number(word)
            category = last[:3]
            first = found.pop()[0] if to else last
            found.append((first, last))
            to = False
    return tuple(found)


def meets(span: Span, clause: Number) -> bool:
    """Tell whether clauses include one, or are parts of it."""
    first, last = span
    inside = first <= clause and clause[: len(last)] <= last
    return inside or first[: len(clause)] == clause


@cache
def text_of(path: Path) -> str:
    """Return a file's text, read once."""
    return path.read_text(encoding="utf-8")


@cache
def head(path: Path) -> str:
    """Return what a file says of itself: its first line, or the first paragraph of a page."""
    text = text_of(path)
    if path.suffix == ".md":
        return " ".join(text.split("\n\n")[:2])
    first = text.partition("\n")[0]
    return first.removeprefix('"""').removeprefix(f"// {path.relative_to(ROOT).as_posix()}: ")


@cache
def files(kind: str) -> tuple[Path, ...]:
    """Return the files that something of a clause can be in."""
    return tuple(path for glob in FOLDERS[kind] for path in sorted(ROOT.glob(glob)))


def find(key: str) -> dict[str, list[str]]:
    """Return what exists of a clause, a name or a category: paths, with lines of an interface."""
    clause, facts = _asked(key)
    found = {kind: _named(kind, clause) for kind in FOLDERS}
    found["standard"] = [p for p in files("standard") if _record(p, clause)]
    shared = _imported(found["cases"])
    for kind in ("truth", "cases"):
        found[kind] += [p for p in files(kind) if p in shared and not clauses_in(head(p))]
    asked = [i for i in interfaces().values() if number(i.clause)[: len(clause)] == clause]
    found["C form"] = list(files("C form"))
    for kind in BY_OPERATOR:
        found[kind] = [p for p in files(kind) if any(_uses(p, one) for one in asked)]
    if any(one.form == "elementwise" for one in asked):
        found["cluster"] = [ROOT / "src/suanzi/runtimes/cluster/elementwise.py", *found["cluster"]]
    if any(REGISTRY[one.name].kernel for one in asked):
        found["driver"].append(ROOT / "native/loops/elementwise.cpp")
        found["kernel"].insert(0, ROOT / "native/kernels/ops.def")
    found["guide"] = found["guide"] or [p for p in files("guide") if p.name == "index.md"]
    return {kind: [_shown(p, facts) for p in paths] for kind, paths in found.items()}


def _asked(key: str) -> tuple[Number, Interface | None]:
    """Return the clause that was asked for, and its interface; a category has none."""
    categories = {i.category: i.category_clause for i in interfaces().values()}
    try:
        facts = interface(key)
    except InvalidArgument:
        clause = categories.get(key.lower().replace("_", " "), key)
        if clause in categories.values():
            return number(clause), None
        if not re.fullmatch(r"[\d.]+", key):
            raise
        raise InvalidArgument(
            f"{key} is not a clause of an interface. Did you mean {_nearest(number(key))}?"
        ) from None
    return number(facts.clause), facts


def _nearest(wanted: Number) -> str:
    """Return the clause with the most numbers in common, and the next one near."""

    def far(one: Interface) -> tuple[int, int]:
        own = number(one.clause)
        pairs = list(zip(own, wanted, strict=False))
        alike = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
        apart = [abs(a - b) for a, b in pairs[alike:]] or [abs(len(own) - len(wanted))]
        return -alike, apart[0]

    one = min(interfaces().values(), key=far)
    return f"{one.clause}, {one.name}"


def _named(kind: str, clause: Number) -> list[Path]:
    return [p for p in files(kind) if any(meets(span, clause) for span in clauses_in(head(p)))]


def _uses(path: Path, facts: Interface) -> bool:
    """Tell whether a file defines a function of an operator's name, or declares one by it."""
    named = "|".join(filter(None, (facts.name, facts.backward_of)))
    places = (rf"\bdef ({named})\(", rf'^@\w+\([^)]*"({named})"', rf'^ +"({named})": ',
              rf'^_?[A-Z]+ = .*"({named})"', rf"^({named}) = ")  # fmt: skip
    return bool(re.search("|".join(places), text_of(path), re.M))


def _record(path: Path, clause: Number) -> bool:
    written = ".".join(map(str, clause))
    return bool(re.search(rf'(?m)^clause = "{re.escape(written)}["\.]', text_of(path)))


def _imported(cases: list[Path]) -> set[Path]:
    """Return the files of the kit that cases import, themselves or through what they share."""
    found: set[Path] = set()
    todo = list(cases)
    while todo:
        new = _imports(todo.pop()) - found
        found |= new
        todo += [p for p in new if p.name.startswith("_") and p.parent.name == "cases"]
    return {p for p in found if p.name != "__init__.py"}


@cache
def _imports(path: Path) -> frozenset[Path]:
    names = set()
    for node in ast.walk(ast.parse(text_of(path))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{a.name}" for a in node.names)}
    files = {ROOT / "src" / (name.replace(".", "/") + ".py") for name in names}
    return frozenset(file for file in files if file.exists())


def _shown(path: Path, facts: Interface | None) -> str:
    shown = path.relative_to(ROOT).as_posix()
    line = _line(path, facts) if facts else None
    return f"{shown}:{line}" if line else shown


def _line(path: Path, facts: Interface) -> int | None:
    """Return the line that says most of an interface: its declaration, if the file has it."""
    name = facts.name
    text = text_of(path)
    for pattern in (
        rf'"{re.escape(facts.clause)}"',
        rf"\bdef ({facts.c_name})\(" if path.suffix == ".pyi" else rf"\bdef {name}\(",
        rf"ARY\({REGISTRY[name].kernel},",
        rf"\bdef test_{name}\b",
        rf"""["'`](sz\.)?{name}["'`(]""",
        rf"\b{name}\(",
    ):
        match = re.search(pattern, text)
        if match:
            return text.count("\n", 0, match.start()) + 1
    return None


def main(keys: list[str]) -> int:
    """Print what is found of each key."""
    if not keys or keys[0].startswith("-"):
        print(__doc__)
        return 0 if keys else 2
    for key in keys:
        try:
            found = find(key)
        except InvalidArgument as error:
            print(error, file=sys.stderr)
            return 2
        for kind, places in found.items():
            for i, place in enumerate(places):
                print(f"{kind if i == 0 else '':<10} {place}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
