"""Changes a Python file in one place at a time and runs tests: what no test sees is printed.

    python tools/mutate.py src/suanzi/standard/errata.py -- tests/standard/test_errata.py

The tree is copied, and the copy is changed. Words after -- go to pytest. tools/mutate_native.py
does the same to the core.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

HOME = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Mutant:
    """Another text for a part of a file."""

    start: int
    end: int
    text: str

    def of(self, source: str) -> str:
        """Return the file with the change."""
        return source[: self.start] + self.text + source[self.end :]

    def shown(self, source: str) -> str:
        """Return the line, and what becomes of it."""
        line = source.count("\n", 0, self.start) + 1
        start = source.rfind("\n", 0, self.start) + 1
        end = source.find("\n", self.end)
        before = source[start : end if end >= 0 else len(source)].strip()
        after = (source[start : self.start] + self.text + source[self.end : end]).strip()
        return f"{line}: {before}\n      -> {after}"


# ---- Python --------------------------------------------------------------------------------------

_SWAPS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
    ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+",
    ast.BitOr: "&", ast.BitAnd: "|", ast.Pow: "*", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip


def of_python(source: str) -> Iterator[Mutant]:
    """Give the changes of a Python file: operators, constants, statements, conditions.

    >>> source = "def f(x):\\n    return x < 1\\n"
    >>> [mutant.of(source).split("return ")[-1].strip() for mutant in of_python(source)]
    ['None', 'x <= 1', 'x < 2', 'x < 0']
    """
    lines = [0]
    for line in source.splitlines(keepends=True):
        lines.append(lines[-1] + len(line.encode()))
    raw = source.encode()

    def at(line: int, column: int) -> int:
        return len(raw[: lines[line - 1] + column].decode())

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

    def between(left: ast.expr, right: ast.expr, text: str) -> Mutant:
        a, b = span(left)[1], span(right)[0]
        found = re.search(r"[^\s()]+( not| in)?", source[a:b])
        assert found is not None
        return Mutant(a + found.start(), a + found.end(), text)

    tree = ast.parse(source)
    skipped = {id(x) for node in ast.walk(tree) for x in _never_changed(node)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.Compare):
            left = node.left
            for op, right in zip(node.ops, node.comparators, strict=True):
                yield between(left, right, _SWAPS[type(op)])
                left = right
        elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
            if not _is_union(node):
                yield between(node.left, node.right, _SWAPS[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            other = "or" if isinstance(node.op, ast.And) else "and"
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield between(left, right, other)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start, _ = span(node)
            yield Mutant(start, span(node.operand)[0], "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield Mutant(*span(node), repr(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield Mutant(*span(node), repr(node.value + 1))
            yield Mutant(*span(node), repr(node.value - 1))
        elif isinstance(node, ast.Return) and node.value is not None:
            if ast.unparse(node.value) != "None":
                yield Mutant(*span(node.value), "None")
        elif isinstance(node, ast.If | ast.IfExp):
            start, end = span(node.test)
            yield Mutant(start, end, f"not ({source[start:end]})")
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Raise) or (
            isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
        ):
            yield Mutant(*span(node), "pass")


def _never_changed(node: ast.AST) -> list[ast.AST]:
    """Return what says nothing of how a program runs: annotations."""
    found: list[ast.AST] = []
    for name in ("annotation", "returns"):
        part = getattr(node, name, None)
        if isinstance(part, ast.AST):
            found += ast.walk(part)
    return found


def _is_union(node: ast.BinOp) -> bool:
    """Tell whether it is a union of types, outside of an annotation."""
    return isinstance(node.op, ast.BitOr) and all(
        isinstance(x, ast.Name | ast.BinOp | ast.Subscript) for x in (node.left, node.right)
    )


# ---- the run -------------------------------------------------------------------------------------


class Copy:
    """A copy of the tree, in which files are changed."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "tree"
        ignored = shutil.ignore_patterns(".git", "build", "dist", "__pycache__", ".venv", "site")
        shutil.copytree(HOME, self.home, ignore=ignored, symlinks=True)

    def passes(self, tests: list[str], seconds: float) -> bool:
        """Run tests; what takes too long has failed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        where = {**os.environ, "PYTHONPATH": str(self.home / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(
                [*command, *tests], cwd=self.home, env=where, capture_output=True, timeout=seconds,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0


def main(words: list[str] | None = None) -> int:
    """Change the file, place by place, and print what survives; 1 if anything does."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("tests", nargs="+", help="words for pytest")
    parser.add_argument("--most", type=int, default=10**6, help="so many changes, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--lines", default="", help="only these, as 10-50")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    args = parser.parse_args(words)
    path = args.file.resolve().relative_to(HOME)
    source = (HOME / path).read_text()
    mutants = list(dict.fromkeys(of_python(source)))
    if args.lines:
        low, high = (int(n) for n in args.lines.split("-"))
        mutants = [m for m in mutants if low <= source.count("\n", 0, m.start) + 1 <= high]
    drawn = Random(args.seed).sample(mutants, min(args.most, len(mutants)))
    began = time.monotonic()
    survivors = invalid = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        start = time.monotonic()
        if not copy.passes(args.tests, 3600):
            sys.exit("the tests fail as it is")
        limit = 20 + 5 * (time.monotonic() - start)
        for mutant in sorted(drawn, key=lambda m: m.start):
            if time.monotonic() - began > args.seconds:
                break
            (copy.home / path).write_text(mutant.of(source))
            if not _parses(mutant.of(source)):
                invalid += 1
                continue
            tried += 1
            if copy.passes(args.tests, limit):
                survivors += 1
                print(f"{path}:{mutant.shown(source)}", flush=True)
    print(
        f"{tried} changes tried, {survivors} survive, {invalid} do not compile; of {len(mutants)}"
    )
    return int(survivors > 0)


def _parses(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
