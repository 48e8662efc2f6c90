"""The parts of an adapter's file that an expression needs: imports, settings, functions, tables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

_UNSUPPORTED = "class Unsupported(Exception):\n    pass"


class Excerpts:
    """An adapter's file and the one that adapters share, as text that can be cut."""

    def __init__(self, adapter: Path, shared: Path) -> None:
        self._parts: list[tuple[set[str], set[str], str, bool]] = []
        """What a part defines, what it uses, its text, and whether it is a setting."""
        self._read(shared, only=False)
        self._read(adapter, only=True)

    def _read(self, path: Path, only: bool) -> None:
        source = path.read_text(encoding="utf-8")
        for node in ast.parse(source).body:
            if isinstance(node, ast.ImportFrom) and node.module in ("frameworks.common", "wire"):
                if "Unsupported" in {name.name for name in node.names} and only:
                    self._parts.append(({"Unsupported"}, set(), _UNSUPPORTED, False))
                continue
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("frameworks."):
                self._read(path.with_name(f"{str(node.module).partition('.')[2]}.py"), only=True)
                continue
            defined = _defined(node)
            setting = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            if defined or (setting and only):
                self._parts.append((defined, _used(node), _text(node), setting))

    def names_in(self, text: str, loose: bool = False) -> set[str]:
        """Return the names in an expression; in templates, the words that something defines."""
        if not loose:
            return _used(ast.parse(text, mode="eval"))
        words = {word for part in text.replace("(", " ").split() for word in part.split(".")[:1]}
        return words & {name for defined, _, _, _ in self._parts for name in defined}

    def closure(self, names: Iterable[str]) -> set[int]:
        """Return which parts are needed for names, the settings, and what they need in turn."""
        needed = {i for i, part in enumerate(self._parts) if part[3]}
        wanted = set(names).union(*(self._parts[i][1] for i in needed))
        while True:
            more = {
                i
                for i, (defined, _, _, _) in enumerate(self._parts)
                if defined & wanted and i not in needed
            }
            if not more:
                return needed
            needed |= more
            wanted |= set().union(*(self._parts[i][1] for i in more))

    def names_inside(self, needed: Iterable[int]) -> set[str]:
        """Return the names that parts define and use."""
        return set().union(*(self._parts[i][0] | self._parts[i][1] for i in needed))

    def text(self, needed: Iterable[int]) -> str:
        """Return parts as a program: imports, settings, then the rest."""
        parts = [self._parts[i][2] for i in sorted(needed)]
        imports = [part for part in dict.fromkeys(parts) if part.startswith(("import ", "from "))]
        settings = [self._parts[i][2] for i in sorted(needed) if self._parts[i][3]]
        # A setting may have to come before an import, as the variables of an environment do.
        early = [part for part in settings if part.startswith("os.environ")]
        rest = [part for part in parts if part not in imports and part not in settings]
        if early:
            imports = ["import os", *early, *(part for part in imports if part != "import os")]
        late = [part for part in settings if part not in early]
        blocks = ["\n".join([*imports, *late]), *rest]
        return "\n\n".join(blocks)

    def renamed(self, expression: str, names: Mapping[str, str]) -> str:
        """Return an expression with other names for some of its variables."""
        if not names:
            return expression
        return ast.unparse(_Rename(names).visit(ast.parse(expression, mode="eval")))


class _Rename(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _used(node: ast.AST) -> set[str]:
    """Return the names that are used and not made inside: of variables, arguments, loops."""
    names = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    inside = {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    inside |= {one.id for one in names if not isinstance(one.ctx, ast.Load)}
    return {one.id for one in names} - inside


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(name.asname or name.name).partition(".")[0] for name in node.names}
    if isinstance(node, ast.Assign):
        return {one.id for one in node.targets if isinstance(one, ast.Name)} - {
            "MAPPING",
            "MISSING",
            "GRADIENTS",
            "STANDARD_NAMES",
        }
    return set()


def _text(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return ast.unparse(_without_docstring(node))
    return ast.unparse(node)


def _without_docstring(node: ast.FunctionDef) -> ast.FunctionDef:
    if ast.get_docstring(node) is not None and len(node.body) > 1:
        node.body = node.body[1:]
    return node
