"""Which dtypes the checks of an aclnn operator let through, for one chip after the other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from aclnn.parsing import File, Function, Statement, Tokens, closing, parse_file, split

CHIPS = {
    "910": ("ASCEND910", "DAV_1001"),
    "310p": ("ASCEND310P", "DAV_2002"),
    "910b": ("ASCEND910B", "DAV_2201"),
    "950": ("ASCEND950", "DAV_3510"),
}
"""What a chip is called where the sources ask for the product, and for its architecture."""
_SERIES = ["ASCEND910", "ASCEND910B", "ASCEND910_93", "ASCEND950", "ASCEND910E", "ASCEND310P"]
"""The order of products, which some checks compare by; 310 and its kin come last."""


class Unknown:
    """A value that depends on more than the chip."""


UNKNOWN = Unknown()


@dataclass(frozen=True)
class Argument:
    """An argument of the operator, or its dtype."""

    name: str
    kind: str = ""


@dataclass(frozen=True)
class Within:
    """A condition: these arguments have dtypes of these lists."""

    parts: tuple[tuple[Argument, frozenset[str]], ...]
    negated: bool = False


Value = object


class Sources:
    """A checkout: files with the headers of theirs, each read once."""

    def __init__(self, folder: Path) -> None:
        self.headers: dict[str, list[Path]] = {}
        for path in folder.rglob("*.h"):
            self.headers.setdefault(path.name, []).append(path)
        self._read: dict[Path, tuple[File, list[str]]] = {}
        self.unread: list[Path] = []
        """Files whose C++ is beyond this reader."""

    def read(self, path: Path, seen: set[Path] | None = None) -> File:
        """Return what a file and the headers that it includes declare."""
        seen = set() if seen is None else seen
        seen.add(path)
        if path not in self._read:
            text = path.read_text("utf-8", "replace")
            try:
                parsed = parse_file(text)
            except ValueError:  # what is not understood is not guessed at
                self.unread.append(path)
                parsed = File()
            self._read[path] = parsed, re.findall(r'#include "([^"]+)"', text)
        own, includes = self._read[path]
        merged = File()
        for include in includes:
            for header in self.headers.get(include.rpartition("/")[2], []):
                fits = header.as_posix().endswith(include) or header.parent == path.parent
                if fits and header not in seen:
                    file = self.read(header, seen)
                    merged.functions |= file.functions
                    merged.globals += file.globals
        merged.functions |= own.functions
        merged.globals += own.globals
        return merged


def checks(
    sources: Sources, path: Path
) -> Iterator[tuple[str, list[str], dict[str, dict[str, frozenset[str]]]]]:
    """Yield each operator of a file, its parameters, and what they must be, by chip."""
    file = sources.read(path)
    own = re.findall(r"\b(aclnn\w+?)GetWorkspaceSize\s*\(", path.read_text("utf-8", "replace"))
    for name in dict.fromkeys(own):
        entry = f"{name}GetWorkspaceSize"
        found = [one for (called, _), one in file.functions.items() if called == entry]
        if len(found) != 1 or len(found[0]) != 1:
            continue
        function = found[0][0]
        parameters = [p if _kind(t).startswith("aclTensor") else "" for t, p in function.parameters]
        by_chip = {}
        for chip in CHIPS:
            run = Run(file, *CHIPS[chip])
            given: list[Value] = [Argument(p, _kind(t)) for t, p in function.parameters]
            run.call(function, given, sure=True)
            by_chip[chip] = run.found
        yield name, parameters, by_chip


def _kind(declared: str) -> str:
    """Return which of CANN's structures a parameter is; empty for a plain C++ type."""
    return next((word for word in declared.split() if word.startswith("acl")), "")


@dataclass
class Frame:
    """A function that runs."""

    names: dict[str, Value]
    sure: bool
    """Whether it is reached whatever the arguments are."""
    tainted: bool = False
    """Whether it may have returned something else before."""
    value: Value = None


@dataclass
class Run:
    """An operator's check of arguments, on one chip."""

    file: File
    product: str
    architecture: str
    found: dict[str, frozenset[str]] = field(default_factory=dict)
    depth: int = 0

    def __post_init__(self) -> None:
        self.globals: dict[str, Value] = {}
        frame = Frame(self.globals, True)
        for one in self.file.globals:
            self.do(one.expression, frame)

    def call(self, function: Function, arguments: list[Value], sure: bool) -> Value:
        """Return what a function returns; what it checks is noted."""
        if self.depth > 12:
            return UNKNOWN
        names = {p: v for (_, p), v in zip(function.parameters, arguments, strict=False)}
        frame = Frame(names, sure)
        self.depth += 1
        ended = self.block(function.body, frame)
        self.depth -= 1
        value = frame.value if ended else None
        return UNKNOWN if frame.tainted and isinstance(value, frozenset) else value

    def block(self, body: list[Statement], frame: Frame) -> bool:
        """Run statements; tell whether the function has returned."""
        return any(self.one(statement, frame) for statement in body)

    def one(self, given: Statement, frame: Frame) -> bool:
        if given.kind == "block":
            return self.block(given.body, frame)
        if given.kind == "return":
            frame.value = self.value(given.expression, frame)
            return True
        if given.kind == "if":
            return self.branch(given, frame)
        if given.kind == "switch":
            return self.switch(given, frame)
        if given.kind == "loop":
            outer, frame.sure = frame.sure, False
            self.block(given.body, frame)
            frame.sure = outer
            return False
        if given.expression:
            self.do(given.expression, frame)
        return False

    def branch(self, given: Statement, frame: Frame) -> bool:
        condition = self.value(given.expression, frame)
        if isinstance(condition, bool):
            return self.block(given.body if condition else given.other, frame)
        if isinstance(condition, Within) and condition.negated and _fails(given.body):
            self.note(Within(condition.parts), frame)
            return False
        outer, frame.sure = frame.sure, False
        kept = dict(frame.names)
        first = self.block(given.body, frame)
        names, frame.names = frame.names, dict(kept)
        second = self.block(given.other, frame)
        for name in {*names, *frame.names}:
            if names.get(name) != frame.names.get(name):
                frame.names[name] = UNKNOWN
        frame.sure = outer
        if first and second:
            frame.value = UNKNOWN
            return True
        empty = "IsEmpty" in given.expression
        for ended, body in ((first, given.body), (second, given.other)):
            if ended and not _fails(body):
                frame.tainted = True
                frame.sure = frame.sure and empty
        return False

    def switch(self, given: Statement, frame: Frame) -> bool:
        asked = self.value(given.expression, frame)
        if not isinstance(asked, str):
            frame.tainted, frame.sure = True, False
            return False
        running = False
        labels = [s.expression for s in given.body if s.kind == "case"]
        known = any(label and self.value(label, frame) == asked for label in labels)
        for one in given.body:
            if one.kind == "case":
                mine = self.value(one.expression, frame) == asked if one.expression else not known
                running = running or mine
            elif running:
                if one.kind == "do" and one.expression == ["break"]:
                    return False
                if self.one(one, frame):
                    return True
                if one.kind == "block" and any(s.expression == ["break"] for s in one.body):
                    return False
        return False

    def do(self, given: Tokens, frame: Frame) -> None:
        """Run a declaration, an assignment or a call."""
        depth = 0
        for at, token in enumerate(given):
            depth += token in "({[" and len(token) == 1
            depth -= token in ")}]" and len(token) == 1
            if token == "=" and depth == 0 and at:
                frame.names[given[at - 1]] = self.value(given[at + 1 :], frame)
                return
        brace = next((i for i, t in enumerate(given) if t == "{"), 0)
        if brace > 1 and closing(given, brace) == len(given) - 1 and "(" not in given[:brace]:
            frame.names[given[brace - 1]] = self.value(given[brace:], frame)
            return
        self.value(given, frame)

    def note(self, given: Value, frame: Frame) -> None:
        """Take down what an argument must be, if it must in any case."""
        if not isinstance(given, Within) or given.negated or not frame.sure:
            return
        for argument, dtypes in given.parts:
            self.found[argument.name] = self.found.get(argument.name, dtypes) & dtypes

    def value(self, given: Tokens, frame: Frame) -> Value:
        """Return the value of an expression; UNKNOWN for what is not understood."""
        try:
            reader = Expression(given, self, frame)
            found = reader.ternary()
            return found if reader.at == len(given) else UNKNOWN
        except (ValueError, IndexError, RecursionError):
            return UNKNOWN


def _fails(body: list[Statement]) -> bool:
    """Tell whether statements end with a refusal."""
    flat = [inner for s in body for inner in (s.body if s.kind == "block" else [s])]
    last = flat[-1] if flat else None
    if last is None or last.kind != "return":
        return False
    return any(w == "false" or "ERR" in w or "PARAM" in w for w in last.expression)


@dataclass
class Expression:
    """An expression that is evaluated as it is read."""

    given: Tokens
    run: Run
    frame: Frame
    at: int = 0

    def peek(self) -> str:
        return self.given[self.at] if self.at < len(self.given) else ""

    def take(self, *words: str) -> str:
        word = self.peek()
        if word in words:
            self.at += 1
            return word
        return ""

    def ternary(self) -> Value:
        condition = self.either()
        if not self.take("?"):
            return condition
        first = self.ternary()
        if not self.take(":"):
            raise ValueError
        second = self.ternary()
        if isinstance(condition, bool):
            return first if condition else second
        return first if first == second else UNKNOWN

    def either(self) -> Value:
        found = self.both()
        while self.take("||"):
            other = self.both()
            if found is True or other is True:
                found = True
            elif found is False:
                found = other
            elif other is not False:
                found = UNKNOWN
        return found

    def both(self) -> Value:
        found = self.compared()
        while self.take("&&"):
            other = self.compared()
            if found is False or other is False:
                found = False
            elif found is True:
                found = other
            elif isinstance(found, Within) and isinstance(other, Within):
                same = not found.negated and not other.negated
                found = Within(found.parts + other.parts) if same else UNKNOWN
            elif other is not True:
                found = UNKNOWN
        return found

    def compared(self) -> Value:
        found = self.negated()
        sign = self.take("==", "!=", "<=", ">=", "<", ">")
        if not sign:
            return found
        other = self.negated()
        if isinstance(found, str | bool) and type(found) is type(other):
            if sign in ("==", "!="):
                return (found == other) is (sign == "==")
            if found in _SERIES and other in _SERIES:
                a, b = _SERIES.index(str(found)), _SERIES.index(str(other))
                return {"<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}[sign]
        return UNKNOWN

    def negated(self) -> Value:
        if not self.take("!"):
            return self.followed()
        found = self.negated()
        if isinstance(found, bool):
            return not found
        return Within(found.parts, not found.negated) if isinstance(found, Within) else UNKNOWN

    def followed(self) -> Value:
        found = self.atom()
        while self.take(".", "->"):
            name = self.peek()
            self.at += 1
            if self.peek() != "(":
                found = UNKNOWN
                continue
            arguments = self.arguments()
            if name == "GetSocVersion":
                found = self.run.product
            elif name == "GetCurNpuArch":
                found = self.run.architecture
            elif name == "GetDataType" and isinstance(found, Argument):
                found = Argument(found.name)
            elif name == "find" and isinstance(found, frozenset) and isinstance(arguments[0], str):
                found = arguments[0] in found
            elif name in ("end", "cend") and isinstance(found, frozenset):
                found = False
            else:
                found = UNKNOWN
        return found

    def arguments(self) -> list[Value]:
        end = closing(self.given, self.at)
        inside = self.given[self.at + 1 : end]
        self.at = end + 1
        return [self.run.value(part, self.frame) for part in split(inside)]

    def atom(self) -> Value:
        word = self.peek()
        if word == "(":
            end = closing(self.given, self.at)
            inside = self.given[self.at + 1 : end]
            self.at = end + 1
            return self.run.value(inside, self.frame)
        if word == "{":
            end = closing(self.given, self.at)
            parts = split(self.given[self.at + 1 : end])
            self.at = end + 1
            values = [self.run.value(part, self.frame) for part in parts]
            plain = [v for v in values if isinstance(v, str)]
            return frozenset(plain) if len(plain) == len(values) else UNKNOWN
        self.at += 1
        if not re.match(r"[A-Za-z_]", word):
            raise ValueError(word)
        if self.peek() == "(":
            return self.called(word)
        if word in ("true", "false"):
            return word == "true"
        for names in (self.frame.names, self.run.globals):
            if word in names:
                return names[word]
        return word if re.match(r"(DT|DAV|ASCEND\d)", word) else UNKNOWN

    def called(self, name: str) -> Value:
        if name == "OP_CHECK_DTYPE_NOT_SUPPORT" or name == "CheckType":
            who, allowed, *_ = self.arguments()
            if not isinstance(who, Argument) or not isinstance(allowed, frozenset):
                return UNKNOWN
            found = Within(((who, allowed),))
            if name != "CheckType":
                self.run.note(found, self.frame)
            return found
        arguments = self.arguments()
        if name in ("CHECK_RET", "OP_CHECK", "CHECK_COND"):
            self.run.note(arguments[0] if arguments else None, self.frame)
            return UNKNOWN
        if name == "GetCurrentPlatformInfo":
            return UNKNOWN
        if name in ("IsRegBase", "IsRegbase"):
            return self.run.architecture == "DAV_3510"
        functions = [
            one
            for one in self.run.file.functions.get((name, len(arguments)), [])
            if all(
                not isinstance(x, Argument) or x.kind == _kind(t)
                for x, (t, _) in zip(arguments, one.parameters, strict=True)
            )
        ]
        if len(functions) != 1:
            return UNKNOWN
        return self.run.call(functions[0], arguments, self.frame.sure)
