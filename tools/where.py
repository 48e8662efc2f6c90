"""Show where a clause is: record, code, driver, kernel, truth, cases, tests, guide, and its users.

python tools/where.py 7.2.13.2    or a name, cumsum or op_cumsum, or a category, 7.2.13 or reduction
python tools/where.py nn:softmax  or softmax, nn:2.1, a category: softmaxes or nn:2

Nothing is listed by hand. The first line of a file names the clauses it is about, as "7.2.13.2" or
"nn 8.2"; a file in a folder `nn` may have the name of its category instead. A file that names none,
because many share it, is found through the cases that import it. Those of tensors, the array API,
other runtimes, truth, validation and port are found by the operators they name.
"""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import suanzi.nn  # noqa: F401  (declares the operators)
from suanzi.base.status import InvalidArgument
from suanzi.promote.registry import REGISTRY
from suanzi.standard import Interface, categories, interface, interfaces
from suanzi.standard.catalogues import STANDARD, catalogues, key_of

ROOT = Path(__file__).resolve().parent.parent
SRC = "src/suanzi"
KIT = f"{SRC}/conformance"
FOLDERS = {
    "standard": (f"{SRC}/standard/*.toml", f"{SRC}/ops/nn/*.toml"),
    "code": (f"{SRC}/ops/*.py", f"{SRC}/ops/nn/*.py", f"{SRC}/ops/libraries/*.py",
             f"{SRC}/ops/sparse/*.py"),
    "C form": (f"{SRC}/faces/interface/__init__.pyi",),
    "tensors": (f"{SRC}/tensors/*.py",),
    "array API": (f"{SRC}/faces/array_api/*.py",),
    "cluster": (f"{SRC}/runtimes/cluster/*.py",),
    "devices": (f"{SRC}/runtimes/torch/**/*.py", f"{KIT}/subjects/frameworks/nn_torch.py"),
    "driver": ("native/ops/**/*.*", "native/loops/*"),
    "kernel": ("native/kernels/**/*.*",),
    "truth": (f"{KIT}/truth/*.py", f"{KIT}/judging/checks/*.py", f"{KIT}/model/numbers.py",
              f"{SRC}/truth/**/*.py"),
    "cases": (f"{KIT}/cases/*.py", f"{KIT}/nn/*.py"),
    "judge": (f"{SRC}/validate/judge/standard_calls.py",),
    "blame": (f"{SRC}/validate/blame/*.py",),
    "accuracy": (f"{SRC}/validate/accuracy/*.py",),
    "port": (f"{SRC}/port/**/*.py", f"{SRC}/port/differences.txt"),
    "tests": ("tests/**/test_*.py",),
    "guide": ("docs/en/guides/operators/*.md", "docs/en/guides/nn/*.md"),
    "benchmark": ("benchmarks/*.py", "benchmarks/nn/*.py"),
}  # fmt: skip
"""What exists of a clause, and where it can be."""
TABLES_OF_MODELS = (f"{SRC}/runtimes/torch/models.py", f"{KIT}/subjects/frameworks/nn_torch.py")
"""What computes every model operator on devices that has no function of its own there."""
BY_OPERATOR = ("tensors", "array API", "cluster", "devices", "judge", "blame",
               "accuracy", "port")  # fmt: skip
"""Kinds of files that name operators instead of clauses."""

Number = tuple[int, ...]
Span = tuple[Number, Number]
"""The first and the last of some clauses."""


class Asked(NamedTuple):
    """The clause that a key stands for, and its interface; a category has none."""

    catalogue: str
    clause: Number
    facts: Interface | None


CLAUSE = r"7\.2\.\d+(?:\.\d+)*"
CLAUSES = rf"{CLAUSE}(?:(?:,| and| to) (?:{CLAUSE}|(?:\.\d+)+))*"
"""How heads name clauses: ``7.2.17.3 to .6 and .10``; a dot stands for the category before it."""
OTHERS = r"\d+(?:\.\d+)*(?:(?:,| and| to) (?:\d+(?:\.\d+)*|(?:\.\d+)+))*"
"""The same of another catalogue, whose name comes before: ``nn 11.2, .3 and 12``."""


def number(clause: str) -> Number:
    """Return a clause as its numbers."""
    return tuple(int(n) for n in clause.split(".") if n)


@cache
def clauses_in(text: str, of: str = STANDARD) -> tuple[Span, ...]:
    """Return the clauses of a catalogue that a text names, one alone as a span of one."""
    found: list[Span] = []
    for listed in re.findall(CLAUSES if of == STANDARD else rf"\b{of} ({OTHERS})", text):
        category: Number = ()
        to = False
        for word in re.findall(r"\d+(?:\.\d+)*|(?:\.\d+)+|to", listed):
            if word == "to":
                to = True
                continue
            last = category + number(word) if word.startswith(".") else number(word)
            category = last[: 3 if of == STANDARD else 1]
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
    return tuple(path for glob in FOLDERS[kind] for path in sorted(ROOT.glob(glob))
                 if path.is_file())  # fmt: skip


@cache
def is_of(path: Path, of: str) -> bool:
    """Tell whether a file is about the operators of a catalogue, by its folder or name."""
    others = [name for name in catalogues() if name != STANDARD]
    if of == STANDARD:
        return not any(is_of(path, other) for other in others)
    return of in path.relative_to(ROOT).parts or path.name.startswith(f"{of}_")


@cache
def spans_of(path: Path, of: str = STANDARD) -> tuple[Span, ...]:
    """Return the clauses that a file is about, by its head; also by its name in a folder `nn`."""
    named = clauses_in(head(path), of)
    if of == STANDARD or not is_of(path, of):
        return named
    stem = path.stem.removeprefix("test_")
    own = [number(n) for n, title in categories(of).items()
           if f"{stem}_".startswith(f"{title.replace(' ', '_')}_")]  # fmt: skip
    return (*named, *((n, n) for n in own if not any(meets(span, n) for span in named)))


def find(key: str) -> dict[str, list[str]]:
    """Return what exists of a clause, a name or a category: paths, with lines of an interface."""
    of, clause, facts = meant(key)
    found = {kind: [] if kind in BY_OPERATOR else _named(kind, of, clause) for kind in FOLDERS}
    found["standard"] = [p for p in files("standard") if _record(p, of, clause)]
    shared = _imported(found["cases"])
    for kind in ("truth", "cases"):
        found[kind] += [p for p in files(kind)
                        if p in shared and KIT in p.as_posix() and not spans_of(p, of)]  # fmt: skip
    asked = [i for i in interfaces(of).values() if number(i.clause)[: len(clause)] == clause]
    for kind in BY_OPERATOR:
        found[kind] = [p for p in files(kind) if any(_uses(p, one) for one in asked)]
    more = [p for p in files("truth") if KIT not in p.as_posix() and p not in found["truth"]]
    found["truth"] += [p for p in more if any(_uses(p, one) for one in asked)]
    if not found["guide"]:
        found["guide"] = [p for p in files("guide") if p.name == "index.md" and is_of(p, of)]
    if of == STANDARD:
        _add_shared(found, asked)
    else:
        names = {one.name for one in asked}
        own = [p for p in files("code") if is_of(p, of)]
        found["code"] = [p for p in own if not names.isdisjoint(_defined(p))]
        tables = (ROOT / name for name in TABLES_OF_MODELS)
        found["devices"] += [p for p in tables if p not in found["devices"]]
    return {kind: [_shown(p, facts) for p in paths] for kind, paths in found.items()}


def _add_shared(found: dict[str, list[Path]], asked: list[Interface]) -> None:
    """Add what the standard's interfaces share, and no file's head says."""
    found["C form"] = list(files("C form"))
    if any(one.form == "elementwise" for one in asked):
        found["cluster"] = [ROOT / SRC / "runtimes/cluster/elementwise.py", *found["cluster"]]
    if any(REGISTRY[one.name].kernel for one in asked):
        found["driver"].append(ROOT / "native/loops/elementwise.cpp")
        found["kernel"].insert(0, ROOT / "native/kernels/ops.def")


def meant(key: str) -> Asked:
    """Return the clause that was asked for."""
    key = re.sub(r"^(\w+) (?=\d)", r"\1:", key.strip())  # nn 8.2, as heads write it
    try:
        facts = interface(key)
    except InvalidArgument:
        of, _, name = key.rpartition(":")
        for one in (of,) if of in catalogues() else catalogues():
            titles = {title: clause for clause, title in categories(one).items()}
            clause = titles.get(name.lower().replace("_", " "), name)
            if clause in titles.values():
                return Asked(one, number(clause), None)
        if not re.fullmatch(r"[\d.]+", name):
            raise
        raise InvalidArgument(
            f"{key} is not a clause of an interface. "
            f"Did you mean {_nearest(number(name), of or STANDARD)}?"
        ) from None
    return Asked(facts.catalogue, number(facts.clause), facts)


def _nearest(wanted: Number, of: str) -> str:
    """Return the clause with the most numbers in common, and the next one near."""

    def far(one: Interface) -> tuple[int, int]:
        own = number(one.clause)
        pairs = list(zip(own, wanted, strict=False))
        alike = next((i for i, (a, b) in enumerate(pairs) if a != b), len(pairs))
        apart = [abs(a - b) for a, b in pairs[alike:]] or [abs(len(own) - len(wanted))]
        return -alike, apart[0]

    one = min(interfaces(of).values(), key=far)
    return f"{one.clause}, {one.key}"


def _named(kind: str, of: str, clause: Number) -> list[Path]:
    return [p for p in files(kind) if any(meets(span, clause) for span in spans_of(p, of))]


def _uses(path: Path, facts: Interface) -> bool:
    """Tell whether a file defines a function of an operator's name, or declares one by it."""
    if facts.catalogue == STANDARD and not is_of(path, STANDARD):
        return False
    names = {name for name in (facts.name, facts.backward_of) if name}
    keys = {key_of(facts.catalogue, name) for name in names}
    by_name = facts.catalogue == STANDARD or _is_of_others(path)
    return not (keys | names if by_name else keys).isdisjoint(_declared(path))


def _is_of_others(path: Path) -> bool:
    """Tell whether a file is about what other libraries call operators."""
    return not {"validate", "port", "frameworks"}.isdisjoint(path.parts)


@cache
def _declared(path: Path) -> frozenset[str]:
    """Return the names that a file defines, or declares something by, and some more."""
    text = text_of(path)
    parts = [
        *re.findall(r"^@\w+\([^)]*", text, re.M),
        *re.findall(r"^_?[A-Z_]+ = .*", text, re.M),
        *re.findall(r'^ +"[\w:]+": ', text, re.M),
    ]
    if _is_of_others(path):
        parts += re.findall(r'"[\w:]+": |\w[(\[]"[\w:]+"', text)
        parts += [f'"{word}"' for line in re.findall(r"^operators .*", text, re.M)
                  for word in line.split()]  # fmt: skip
    names = {name for part in parts for name in re.findall(r'"([\w:]+)"', part)}
    return _defined(path).union(names, re.findall(r"\bdef (\w+)\(", text))


@cache
def _defined(path: Path) -> frozenset[str]:
    """Return the functions and the values at the top of a module."""
    return frozenset(re.findall(r"^(?:def )?(\w+)(?= = |\()", text_of(path), re.M))


def _record(path: Path, of: str, clause: Number) -> bool:
    written = ".".join(map(str, clause))
    found = re.search(rf'(?m)^clause = "{re.escape(written)}["\.]', text_of(path))
    return bool(found) and is_of(path, of)


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
        rf'"{facts.key}"',
        rf"\bdef ({facts.c_name})\(" if path.suffix == ".pyi" else rf"\bdef {name}\(",
        rf"ARY\({REGISTRY[facts.key].kernel},",
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
