"""The sentences that are translated: what `say` is given in the code, in templates and in help."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from cyclopts import App
from jinja2 import Environment, nodes

import suanzi
from suanzi.base.lang import MARK
from suanzi.front.cli import app
from suanzi.front.cli.helping import paragraph

HOME = Path(suanzi.__file__).parent
ANY = "{}"
_OF_CYCLOPTS = ("Commands", "Parameters", "Display this message and exit.",
                "Display application version.")  # fmt: skip


def shape(key: str) -> str:
    """Return a text of the catalogue as those of the code are given here: marks are all the same.

    >>> shape("{a} of {0} case{s}")
    '{} of {} case{s}'
    """
    return MARK.sub(lambda mark: mark.group() if mark.group() == "{s}" else ANY, key)


def templates(node: ast.AST) -> list[str]:
    """Return the texts that an expression may be, with marks for what is filled in.

    >>> templates(ast.parse("f'{n} call' + ('s' if n else '')", mode="eval").body)
    ['{} calls', '{} call']
    """
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return ["".join(parts) for parts in product(*map(templates, values))]
        case ast.FormattedValue(value=ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mult())):
            return ["{s}"] if text in ("s", "es") else [text, ""]
        case ast.IfExp(body=body, orelse=other):
            return [*templates(body), *templates(other)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ["".join(parts) for parts in product(templates(left), templates(right))]
    return [ANY]


def _given(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what `say` and `said` are called with."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="say"), args=[given]):
                yield given
            case ast.Call(
                func=ast.Name(id="map"), args=[ast.Name(id="say"), ast.Tuple(elts=texts)]
            ):
                yield from texts
            case ast.Call(func=ast.Name(id="said"), args=[given, *_]):
                for part in ast.walk(given):
                    if isinstance(part, ast.Tuple | ast.List):
                        yield from (
                            x for x in part.elts if isinstance(x, ast.Constant | ast.JoinedStr)
                        )


def in_code(file: Path) -> set[str]:
    """Return the texts that a module translates."""
    tree = ast.parse(file.read_text("utf-8"))
    found = {text for given in _given(tree) for text in templates(given)}
    return {text for text in found if any(map(str.isalpha, text.replace("{s}", "")))}


def _joined(node: nodes.Node) -> list[str]:
    match node:
        case nodes.Const(value=str(text)):
            return [re.sub(r"\$\{.*?\}", ANY, text)]
        case nodes.Concat(nodes=parts):
            return ["".join(one) for one in product(*map(_joined, parts))]
        case nodes.CondExpr(expr1=body, expr2=other) if other is not None:
            options = [*_joined(body), *_joined(other)]
            return ["{s}"] if options == ["s", ""] else options
    return [ANY]


def in_template(file: Path) -> set[str]:
    """Return the texts that a template translates."""
    tree = Environment(autoescape=True).parse(file.read_text("utf-8"))
    calls = (call for call in tree.find_all(nodes.Call) if getattr(call.node, "name", "") == "say")
    found = {text for call in calls for text in _joined(call.args[0])}
    return {text for text in found if any(map(str.isalpha, text.replace("{s}", "")))}


def _of_help(of: App) -> Iterator[str]:
    yield of.help
    for argument in (
        of.assemble_argument_collection(parse_docstring=True) if of.default_command else ()
    ):
        yield str(argument.parameter.help or "")
    for name in of:
        if not name.startswith("-"):
            yield from _of_help(of[name])


def in_help() -> set[str]:
    """Return the paragraphs of all help, in one line each."""
    found = {paragraph(part)
             for text in _of_help(app)
             for part in re.split(r"```.*?```|\n\s*\n", text, flags=re.DOTALL)}  # fmt: skip
    found = {text for text in found if text and not text.startswith("Parameters ---")}
    return found | set(_OF_CYCLOPTS)


@cache
def everywhere() -> dict[str, str]:
    """Return every text that is translated, and where it stands."""
    found: dict[str, str] = dict.fromkeys(in_help(), "help")
    for file in sorted(HOME.rglob("*.py")):
        if re.search(r"\b(say|said)\b", file.read_text("utf-8")):
            found |= dict.fromkeys(in_code(file), str(file.relative_to(HOME)))
    for file in sorted(
        [*HOME.rglob("*.j2"), *HOME.rglob("pages/*.js"), *HOME.rglob("templates/*.js")]
    ):
        found |= dict.fromkeys(in_template(file), str(file.relative_to(HOME)))
    return found


def strings_of(file: Path) -> Iterator[Any]:
    """Yield the texts of a module, but docstrings and what exceptions say."""
    tree = ast.parse(file.read_text("utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.Assert):
            skipped |= set(map(id, ast.walk(node)))
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            skipped |= {
                id(one)
                for part in node.values
                for one in (part, getattr(part, "format_spec", None))
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in skipped:
            yield from (text for text in templates(node) if text != ANY)
