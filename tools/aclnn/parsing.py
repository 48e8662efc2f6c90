"""C++ into functions and statements; expressions stay tokens until they are evaluated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

Tokens = list[str]

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*(?:\s*::\s*[A-Za-z_]\w*)*|\d[\w.]*'
    r"|->|==|!=|<=|>=|&&|\|\||::|[^\s]"
)
_NOISE = re.compile(
    r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.)*', re.S | re.M
)
_OPEN, _CLOSE = {"(": ")", "{": "}", "[": "]"}, {")", "}", "]"}


def tokens(text: str) -> Tokens:
    """Return the tokens of a file; of a qualified name only the last part."""
    return [
        t.rpartition("::")[2].strip()
        for t in _TOKEN.findall(_NOISE.sub(lambda m: m[1] or " ", text))
    ]


def closing(given: Tokens, at: int) -> int:
    """Return where the bracket that opens at `at` closes."""
    depth = 0
    for i in range(at, len(given)):
        depth += given[i] in _OPEN
        depth -= given[i] in _CLOSE
        if depth == 0:
            return i
    raise ValueError("a bracket does not close")


def split(given: Tokens, by: str = ",") -> list[Tokens]:
    """Return the parts of a list, brackets kept together."""
    parts: list[Tokens] = [[]]
    depth = 0
    for one in given:
        depth += one in _OPEN
        depth -= one in _CLOSE
        if one == by and depth == 0:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts if parts != [[]] else []


@dataclass
class Function:
    """A function: its parameters, as (type, name), and its statements."""

    name: str
    parameters: list[tuple[str, str]]
    body: list[Statement]


@dataclass
class Statement:
    """One statement; which fields there are depends on the kind."""

    kind: str
    """block, if, switch, case, loop, return or do."""
    expression: Tokens = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)


@dataclass
class File:
    """What a file declares."""

    functions: dict[tuple[str, int], list[Function]] = field(default_factory=dict)
    """By name and number of parameters; several where C++ overloads them by type."""
    globals: list[Statement] = field(default_factory=list)


def parse_file(text: str) -> File:
    """Return the functions and the global declarations of a file."""
    found = File()
    _declarations(tokens(text), found)
    return found


def _declarations(given: Tokens, found: File) -> None:
    at = 0
    while at < len(given):
        start = at
        while at < len(given) and given[at] not in (";", "{"):
            at = closing(given, at) + 1 if given[at] == "(" else at + 1
        if at >= len(given):
            return
        head = given[start:at]
        if given[at] == ";":
            found.globals.append(Statement("do", head))
            at += 1
            continue
        end = closing(given, at)
        inside = given[at + 1 : end]
        if "namespace" in head or head[:1] == ["extern"]:
            _declarations(inside, found)
        elif ")" in head and "=" not in head:
            opened = head.index("(")
            name = head[opened - 1] if opened else ""
            parameters = split(head[opened + 1 : closing(head, opened)])
            pairs = [(" ".join(p[:-1]), p[-1]) for p in parameters if p != ["void"]]
            same = found.functions.setdefault((name, len(pairs)), [])
            same.append(Function(name, pairs, parse(inside)))
        else:
            while end < len(given) and given[end] != ";":
                end += 1
            found.globals.append(Statement("do", given[start:end]))
        at = end + 1


def parse(given: Tokens) -> list[Statement]:
    """Return the statements of a body."""
    found, at = [], 0
    while at < len(given):
        one, at = _statement(given, at)
        if one is not None:
            found.append(one)
    return found


def _statement(given: Tokens, at: int) -> tuple[Statement | None, int]:
    word = given[at]
    if word == ";":
        return None, at + 1
    if word == "{":
        end = closing(given, at)
        return Statement("block", body=parse(given[at + 1 : end])), end + 1
    if word in ("if", "for", "while", "switch"):
        opened = given.index("(", at)
        end = closing(given, opened)
        one = Statement("loop" if word in ("for", "while") else word, given[opened + 1 : end])
        inner, at = _statement(given, end + 1)
        one.body = inner.body if inner and inner.kind == "block" else [inner] if inner else []
        if word == "if" and at < len(given) and given[at] == "else":
            other, at = _statement(given, at + 1)
            one.other = [other] if other else []
        return one, at
    if word in ("case", "default"):
        end = given.index(":", at)
        return Statement("case", given[at + 1 : end]), end + 1
    end = at
    while end < len(given) and given[end] != ";":
        end = closing(given, end) + 1 if given[end] in _OPEN else end + 1
    if word == "return":
        return Statement("return", given[at + 1 : end]), end + 1
    return Statement("do", given[at:end]), end + 1
