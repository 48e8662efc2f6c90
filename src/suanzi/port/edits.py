"""Where a finding stands in the source of a program, and the edits that are its fix."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suanzi.base.dtypes import DType
from suanzi.port.findings import Finding, is_source
from suanzi.port.layout import is_library
from suanzi.port.operators import known, place_of_name
from suanzi.promote.operands import Role
from suanzi.recording.calls import Call, Calls, Taken


class Left(Exception):
    """Why a fix is not written; the words go behind its line."""


@dataclass(frozen=True)
class Edit:
    """Text that is put into a file, at an offset in bytes."""

    at: int
    text: str


@dataclass(frozen=True)
class Change:
    """Edits of one file that are one fix."""

    file: str
    """As it was recorded."""
    line: int
    edits: tuple[Edit, ...]
    shown: str
    """The operand or the expression as it is then."""

    @property
    def span(self) -> tuple[int, int]:
        """From where to where the file changes."""
        at = [one.at for one in self.edits]
        return min(at), max(at)


@dataclass(frozen=True)
class _Site:
    """An expression of the program that calls an operator, and its operands."""

    file: str
    line: int
    content: bytes
    tree: ast.Module
    node: ast.expr | ast.AugAssign
    operands: tuple[ast.expr, ...]
    """Those that promote, in order."""
    taken: tuple[Taken, ...]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position, whose column counts bytes."""
        lines = self.content.splitlines(keepends=True)
        return sum(map(len, lines[: line - 1])) + column

    def start(self, node: ast.expr) -> int:
        """Return where an expression begins."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Return where it ends."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr) -> str:
        """Return an expression as it is written."""
        return self.content[self.start(node) : self.end(node)].decode()

    def called(self, node: ast.expr, method: str) -> tuple[Edit, ...]:
        """Return the edits that call a method of an expression."""
        atoms = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
        if isinstance(node, atoms):
            return (Edit(self.end(node), f".{method}"),)
        closing = self.closing(node)
        if closing is not None:
            return (Edit(closing, f".{method}"),)
        return Edit(self.start(node), "("), Edit(self.end(node), f").{method}")

    def closing(self, node: ast.expr) -> int | None:
        """Return where the parentheses end that an expression stands in; None without any."""
        before = self.content[: self.start(node)].rstrip(b" ")
        after = self.content[self.end(node) :]
        spaces = len(after) - len(after.lstrip(b" "))
        # Those of a call come after a name, or something that is closed.
        outside = before[:-1].rstrip(b" ")[-1:].decode("latin-1")
        is_call = outside.isalnum() or outside in ("_", ")", "]", '"', "'") or outside > "\x7f"
        if is_call or not before.endswith(b"(") or not after.lstrip(b" ").startswith(b")"):
            return None
        return self.end(node) + spaces + 1

    def shown(self, node: ast.expr, method: str) -> str:
        """Return an expression with a method called."""
        text = " ".join(self.text(node).split())
        atoms = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)
        return f"{text}.{method}" if isinstance(node, atoms) else f"({text}).{method}"


def _site(finding: Finding, calls: Calls | None) -> _Site:
    """Return the expression of a finding; raise where it is not known."""
    call, where = finding.call, finding.call.where
    if where is None or not where.line or calls is None:
        raise Left("its line is not known")
    if is_library(where.file):
        raise Left("it is a line of a library")
    if call.backward:
        raise Left("it is in backward, which the program does not write")
    if not where.file.endswith(".py") or not is_source(where.file):
        raise Left(f"{where.file} is no file of Python")
    content = Path(where.file).read_bytes()
    try:
        tree = ast.parse(content)
        content.decode("utf-8")
    except (SyntaxError, ValueError):
        raise Left(f"{where.file} cannot be parsed") from None
    node = _node(tree, call)
    operands, taken = _operands(node, call, calls.framework)
    return _Site(where.file, where.line, content, tree, node, operands, taken)


def _node(tree: ast.Module, call: Call) -> ast.expr | ast.AugAssign:
    """Return the expression that calls, by its position; Python before 3.11 does not know it."""
    assert call.where is not None
    if call.span is None:
        raise Left("its position in the line is not known before Python 3.11")
    kinds = (ast.BinOp, ast.Call, ast.Compare, ast.AugAssign)
    for node in ast.walk(tree):
        if isinstance(node, kinds) and call.span == (
            node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        ):  # fmt: skip
            return node
    raise Left("the expression that calls it is not known")


_REVERSED = frozenset(
    "radd rsub rmul rdiv rtruediv rfloordiv rmod rpow rmatmul rand ror rxor rlshift rrshift".split()
)


def _operands(
    node: ast.expr | ast.AugAssign, call: Call, framework: str
) -> tuple[tuple[ast.expr, ...], tuple[Taken, ...]]:
    """Return the operands of a call as expressions, in the order of those that promote."""
    promotion = known(framework).promotes.get(call.operator)
    places = promotion.places if promotion is not None else (0,)
    taken: list[Taken] = []
    found: list[ast.expr] = []
    if not places:
        listed, nodes = call.arguments[0], node.args[0] if isinstance(node, ast.Call) else None
        is_written = isinstance(nodes, ast.List | ast.Tuple) and isinstance(listed, tuple)
        if not is_written or len(nodes.elts) != len(listed):  # type: ignore[union-attr,arg-type]
            raise Left("its tensors are not written in the line")
        return tuple(nodes.elts), listed  # type: ignore[union-attr,return-value]
    named = {place_of_name(word): word for word, _ in call.named}
    for place in places:
        x = call.arguments[place] if place < len(call.arguments) else None
        if x is None and place in named:
            x = dict(call.named)[named[place]]
        if not isinstance(x, Taken):
            continue
        taken.append(x)
        found.append(_at(node, place, named.get(place), call))
    return tuple(found), tuple(taken)


def _at(node: ast.expr | ast.AugAssign, place: int, word: str | None, call: Call) -> ast.expr:
    """Return the expression of an argument."""
    if isinstance(node, ast.BinOp):
        left, right = node.left, node.right
        swapped = call.operator in _REVERSED
        return (right, left)[place] if swapped else (left, right)[place]
    if isinstance(node, ast.AugAssign):
        return (node.target, node.value)[place]
    if isinstance(node, ast.Compare):
        if len(node.ops) != 1:
            raise Left("it is one of several comparisons in a row")
        return (node.left, node.comparators[0])[place]
    assert isinstance(node, ast.Call)
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    if name.rstrip("_") != call.operator:
        raise Left(f"it is called inside of {name or 'a function'}")
    if any(isinstance(x, ast.Starred) for x in node.args):
        raise Left("its arguments are not written in the line")
    if word is not None:
        return next(x.value for x in node.keywords if x.arg == word)
    is_method = len(call.arguments) == len(node.args) + 1
    if is_method and place == 0 and isinstance(node.func, ast.Attribute):
        return node.func.value
    at = place - is_method
    if not 0 <= at < len(node.args):
        raise Left("its arguments are not written in the line")
    return node.args[at]


def cast(finding: Finding, calls: Calls | None) -> Change:
    """Return the fix of a finding as a change: an operand cast where it stands."""
    fix = finding.verdict.fix
    if fix is None or not fix.code:
        raise Left("there is no fix that is a cast" if fix is None else f"its fix is: {fix.text}")
    site = _site(finding, calls)
    if fix.code.startswith("dtype="):
        return _with_dtype(site, fix.code)
    if finding.verdict.target is None:
        if not fix.text.startswith("cast the ") or " first" not in fix.text:
            raise Left(f"its fix is: {fix.text}")
        method = fix.code.partition(".")[2]
        return _change(site, site.called(site.operands[0], method), site.operands[0], method)
    wanted = None if finding.verdict.source is None else finding.verdict.source.dtype
    if not fix.operands or wanted is None or "as a tensor" in fix.text:
        raise Left(f"its fix is: {fix.text}")
    edits: list[Edit] = []
    for i in fix.operands:
        if i >= len(site.operands):
            raise Left("its operands are not written in the line")
        node = site.operands[i]
        if isinstance(site.node, ast.AugAssign) and node is site.node.target:
            raise Left("it would cast what is written to")
        others = [j for j in range(len(site.operands)) if j not in fix.operands]
        method = f"to({_dtype_of(site, others, wanted)})"
        edits += site.called(node, method)
    return _change(site, tuple(edits), site.operands[fix.operands[0]], method)


def cast_back(finding: Finding, calls: Calls | None) -> Change:
    """Return the other fix: the narrower operand widened, and the result cast back."""
    fix, source, target = finding.verdict.fix, finding.verdict.source, finding.verdict.target
    if fix is None or source is None or target is None or finding.code != "SZ005":
        raise Left("no other fix keeps the results")
    site, narrow = _site(finding, calls), source.output
    low = [i for i, x in enumerate(site.taken) if x.operand.dtype is narrow]
    high = [i for i in range(len(site.taken)) if i not in low]
    wide = site.taken[high[0]].operand.dtype if high else None
    if len(low) != 1 or len(high) != 1 or wide is None or narrow is None:
        raise Left("no other fix keeps the results")
    if not isinstance(site.node, ast.BinOp) or wide.kind != narrow.kind:
        raise Left("no other fix keeps the results")
    widened = f"to({_dtype_of(site, high, wide)})"
    back = f"to({_dtype_of(site, low, narrow)})"
    first, last = site.start(site.node), site.end(site.node)
    inner = site.called(site.operands[low[0]], widened)
    edits = (Edit(first, "("), *inner, Edit(last, f").{back}"))
    return _change(site, edits, site.node, back)


def _with_dtype(site: _Site, code: str) -> Change:
    """Return a call with the dtype named."""
    if not isinstance(site.node, ast.Call) or any(x.arg == "dtype" for x in site.node.keywords):
        raise Left("it is no call that takes a dtype")
    _check_torch(site)
    end = site.end(site.node) - 1
    before = site.content[site.start(site.node) : end].decode().rstrip()
    comma = "" if before.endswith((",", "(")) else ", "
    return _change(site, (Edit(end, f"{comma}{code}"),), site.node, code)


def _dtype_of(site: _Site, others: Sequence[int], wanted: DType) -> str:
    """Return how a dtype is written: as that of another operand, or by its name."""
    for i in others:
        node, taken = site.operands[i], site.taken[i]
        if (
            taken.operand.dtype is wanted
            and taken.operand.role is not Role.NUMBER
            and _is_path(node)
        ):
            return f"{site.text(node)}.dtype"
    _check_torch(site)
    return f"torch.{wanted.name}"


def _is_path(node: ast.expr) -> bool:
    """Tell whether an expression is a name, or an attribute of one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _check_torch(site: _Site) -> None:
    imports = (node for node in site.tree.body if isinstance(node, ast.Import))
    names = {alias.asname or alias.name for node in imports for alias in node.names}
    if "torch" not in names:
        raise Left("the file does not import torch by its name")


def _change(
    site: _Site, edits: tuple[Edit, ...], node: ast.expr | ast.AugAssign, method: str
) -> Change:
    assert isinstance(node, ast.expr)
    shown = method if method.startswith("dtype=") else site.shown(node, method)
    return Change(site.file, site.line, edits, shown)
