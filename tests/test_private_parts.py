"""What suanzi takes from private parts of other packages: the list is complete, and one is missed.

The source is read: imports, attributes and texts that name something private of a package, and
attributes with a leading underscore of objects that suanzi did not make.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from helpers import looping
from rooms import HOME
from suanzi.recording.recorders import private_parts
from suanzi.recording.recorders.private_parts import (
    KNOWN,
    PARTS,
    Lacking,
    Part,
    message,
    need,
    take,
)

SOURCE = HOME / "src" / "suanzi"
LIST = SOURCE / "recording" / "recorders" / "private_parts.py"
PACKAGES = {
    *("torch", "triton", "jax", "jaxlib", "dask", "distributed", "pytest", "_pytest", "numpy"),
    *("scipy", "ml_dtypes", "paddle", "mindspore", "openvino", "onnx", "cyclopts", "mcp", "rich"),
}
INNER = ("triton.runtime.", "triton.compiler.")
"""Not underscored, and not documented."""
FREE = {"_replace", "_getframe", "_current_frames", "_exit", "_mpf_"}
"""Documented with an underscore: of named tuples, `sys`, `os` and the numbers of mpmath."""


def is_private(path: str) -> bool:
    """Return whether a dotted path leads through something private of a package."""
    first, *parts = path.split(".")
    hidden = any(part[:1] == "_" and part[:2] != "__" for part in parts)
    return first in PACKAGES and (hidden or first == "_pytest" or path.startswith(INNER))


def chain(node: ast.AST) -> str:
    """Return a dotted path from its package on: `torch._C`, also of `self.torch._C`."""
    parts = ast.unparse(node).split(".")
    return ".".join(parts[1:] if parts[0] == "self" else parts)


def paths(tree: ast.AST) -> Iterator[str]:
    """Yield the private paths of packages that a module names."""
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            found = [f"{node.module}.{name.name}" for name in node.names]
        elif isinstance(node, ast.Attribute):
            found = [chain(node)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = [node.value.rstrip(".")]
        yield from (path for path in found if is_private(path) and " " not in path)


@cache
def own_names() -> frozenset[str]:
    """Return what suanzi defines itself, anywhere."""
    found = set()
    native = ast.parse((SOURCE / "_core.pyi").read_text("utf-8"))
    for tree in [native, *trees().values()]:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found.add(node.name)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                found.add(node.id)
    return frozenset(found)


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax of every file below `src/suanzi`, but the list."""
    return {
        path.relative_to(SOURCE).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
        if path != LIST
    }


def attributes(tree: ast.AST, own: frozenset[str]) -> Iterator[str]:
    """Yield private attributes of objects of others."""
    last = {part.name.rpartition(".")[2] for part in PARTS}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr[:1] == "_" and node.attr[:2] != "__":
            of_self = ast.unparse(node.value) in ("self", "cls") or is_private(chain(node))
            if not of_self and (node.attr in last or node.attr not in own | FREE):
                yield node.attr


def covers(part: Part, path: str) -> bool:
    """Return whether a part of the list is what a path leads to, or through."""
    return f"{part.name}.".startswith(f"{path}.") or f"{path}.".startswith(f"{part.name}.")


def unlisted(file: str, tree: ast.AST, own: frozenset[str]) -> set[str]:
    """Return what a file uses and the list does not say."""
    here = [part for part in PARTS if file in part.used]
    last = {part.name.rpartition(".")[2] for part in here}
    wrong = {path for path in paths(tree) if not any(covers(part, path) for part in here)}
    return wrong | {name for name in attributes(tree, own) if name not in last}


def test_every_use_is_on_the_list() -> None:
    wrong = {
        file: found
        for file, tree in trees().items()
        if (found := unlisted(file, tree, own_names()))
    }
    assert not wrong


@pytest.mark.parametrize("part", PARTS, ids=[part.name for part in PARTS])
def test_everything_on_the_list_is_used_where_it_says(part: Part) -> None:
    name = part.name.rpartition(".")[2]
    for file in part.used:
        if file == "tests":  # of suanzi's own suite
            assert name == looping.CALLS  # which takes it by name
        else:
            assert name in (SOURCE / file).read_text("utf-8"), file


def test_no_part_is_listed_twice() -> None:
    assert len(KNOWN) == len(PARTS)


def test_the_suite_itself_uses_no_other_part_of_pytest() -> None:
    found = set()
    for path in (HOME / "tests").rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        found |= {one for one in paths(tree) if one.startswith("_pytest.")}
        for node in ast.walk(tree):
            text = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if re.fullmatch(r"(metafunc|request|pytest)\._[a-z]\w*", text):
                found.add(text)
    assert found == set()
    assert f"pytest.Metafunc.{looping.CALLS}" in KNOWN  # which that file takes by name


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from torch._C import x", "torch._C.x"),
        ("import jax._src.core", "jax._src.core"),
        ("def f(self):\n    return self.torch._C._no", "torch._C._no"),
        ("take('dask._expr.no')", "dask._expr.no"),
        ("from triton.runtime.cache import no", "triton.runtime.cache.no"),
        ("node._no_such_name", "_no_such_name"),
        ("tensor._version", "_version"),
    ],
)
def test_what_the_list_lacks_is_found(text: str, found: str) -> None:
    assert found in unlisted("ops/power.py", ast.parse(text), own_names())


# ---- a version that lacks a part -----------------------------------------------------------------


@pytest.fixture
def framework(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a package that has one part of two, and these parts on the list."""
    made = ModuleType("framework")
    vars(made).update(__version__="3.1.0", _there=lambda one: one)
    monkeypatch.setitem(__import__("sys").modules, "framework", made)
    for name, takes in (("_there", 1), ("_gone", None), ("_changed", 2)):
        part = Part(f"framework.{name}", "3.0.0", "tests are slower", (), takes)
        monkeypatch.setitem(KNOWN, part.name, part)
    vars(made)["_changed"] = lambda one: one
    monkeypatch.setattr(private_parts, "_warned", set())
    return made


def test_a_part_that_exists_is_taken(framework: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert take("framework._there") is vars(framework)["_there"]
        need("framework._there")


@pytest.mark.parametrize("name", ["framework._gone", "framework._changed"])
def test_one_warning_says_what_is_missing(framework: ModuleType, name: str) -> None:
    said = (
        f"suanzi: framework 3.1.0 has no {name} as suanzi uses it, a private part "
        "(tried with framework 3.0.0): tests are slower."
    )
    with pytest.warns(RuntimeWarning) as caught:
        assert [take(name), take(name)] == [None, None]
    assert [str(one.message) for one in caught] == [said]
    with pytest.raises(Lacking) as error:
        need(name)
    assert f"suanzi: {error.value}" == said


def test_an_older_version_always_did_without(framework: ModuleType) -> None:
    vars(framework)["__version__"] = "2.9.1"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert take("framework._gone") is None
        assert take("framework._gone", expected=False) is None


@pytest.mark.parametrize("part", PARTS, ids=[part.name for part in PARTS])
def test_what_is_installed_here_has_the_parts(part: Part) -> None:
    package = part.name.partition(".")[0]
    if package == "pytest":
        pytest.skip("an attribute of an object that only pytest makes")
    found = pytest.importorskip(package)
    if "Raw" in part.name and not found.backends.cuda.is_built():
        pytest.skip("needs a GPU: PyTorch built without CUDA lacks it")
    assert private_parts._found(part) is not None, message(part)


def test_the_recorder_says_in_a_line_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from suanzi.recording.recorders import processes

    def make_recorder(write: object, options: object) -> None:
        raise Lacking("torch 9.9 has no part")

    monkeypatch.setattr(processes, "read_others", lambda texts: None)
    monkeypatch.setattr(processes, "options", lambda: {"texts": {}})
    monkeypatch.setattr("sys.argv", [""])
    monkeypatch.setattr("sys.path", ["", *__import__("sys").path])
    for name in (processes.FILE, processes.FRAMEWORK, "PYTHONPATH"):
        monkeypatch.setenv(name, "")
    header = {"format": "suanzi-calls/1", "framework": "json", "version": "1"}
    path = str(tmp_path / "calls.jsonl")
    status = processes.run("json", make_recorder, lambda: header, path, "program.py", [])
    assert status == processes.LACKING
    assert capfd.readouterr().err == "suanzi port: torch 9.9 has no part\n"
