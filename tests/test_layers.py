"""Which room may import which: only lower ones, in no circle; `tools/rooms.py` has the order.

What an import does not show is looked for, too: modules that are loaded by a name that is computed,
changes of `sys.path`, tables of a lower room that a higher one fills, and names that are private to
another room.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from rooms import (
    HOME,
    ROOMS,
    Graph,
    arrows_up,
    files_of,
    floors,
    graph_of,
    name_of,
    resolved,
    room_of,
    rooms,
    running,
)

SOURCE = HOME / "src" / "suanzi"

LOADED_BY_NAME = {
    "base.public_paths": "what stands below a public path, by the name of its room",
    "conformance.cases": "the cases of a catalogue, and the modules of its own folder",
    "conformance.judging.checks": "the modules of its own folder",
    "conformance.subjects.kernel_tensors": "the framework of a kernel",
    "conformance.subjects.worker": "an adapter",
    "front.attributes": "what `sz.NAME` is when it is first used",
    "front.cli.check": "a writer of reports",
    "ops.libraries.room": "SciPy's modules",
    "port.running": "a recorder, which is another program",
    "promote.library": "a rule set that is a module of its own folder",
    "runtimes.cluster.storing": "Zarr and h5py",
    "runtimes.torch.provider": "the extension of PyTorch for a device",
    "standard.catalogues": "the operators of a catalogue, which a package may announce",
    "validate.blame.functions": "the framework of a program, and its recorder",
}
"""Modules that import by a name that is computed, and what they import."""

CHANGES_OF_PATH = {
    "conformance.subjects.kernel_adapter": "runs alone, and finds base.triton_interpreter",
    "conformance.subjects.sweep": "runs alone",
    "conformance.subjects.worker": "runs alone",
    "runtimes.torch.models": "loads PyTorch's table of the kit: the one arrow up, for a while",
    "validate.blame.child": "runs alone",
}
"""Modules that change `sys.path`, and why."""

FILLED_FROM_ABOVE = [
    "faces.loading -> promote.library: BRINGS",
    "faces.loading -> promote.registry: LOADERS",
    "runtimes.torch.running -> ops.calling.declare: REPEATED",
]
"""Tables of a lower room that a higher one fills: how tensors reach the array API, and operators a
device, which they must not import. Operators, rules and ways are declared by calls instead."""


@cache
def trees() -> Mapping[str, ast.Module]:
    """Return the syntax of every module of suanzi."""
    return {name: ast.parse(path.read_text("utf-8")) for name, path in files_of(SOURCE).items()}


@cache
def house() -> Graph:
    """Return what every module of suanzi imports."""
    return graph_of(SOURCE)


def circle_in(graph: Graph) -> list[str]:
    """Return modules that import each other, the first one twice; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down() -> None:
    assert arrows_up(house()) == []


def test_there_is_no_circle() -> None:
    assert circle_in(house()) == []


def test_the_house_is_small() -> None:
    found = rooms(house())
    assert {*found} == {room for line in ROOMS for room in line.split()}
    assert len(found) <= 20
    assert max(floors(found).values()) <= 13
    assert sum(map(len, found.values())) <= 110


# ---- what no import statement shows --------------------------------------------------------------


def computed(tree: ast.Module) -> Iterator[str]:
    """Yield what is imported by a name that is no constant."""
    for node in running(tree):
        if isinstance(node, ast.Call) and name_of(node.func) in ("import_module", "__import__"):
            given = node.args[0]
            if not (isinstance(given, ast.Constant) and isinstance(given.value, str)):
                yield ast.unparse(node)


def changes_of_path(tree: ast.Module) -> Iterator[str]:
    """Yield every statement that changes `sys.path`."""
    for node in running(tree):
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any("sys.path" in ast.unparse(one).partition("[")[0] for one in targets):
                yield ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).startswith("sys.path."):
            yield ast.unparse(node)


def origins(tree: ast.Module, known: set[str]) -> Mapping[str, str]:
    """Return the module of suanzi that each imported name is of, or is."""
    found = {}
    for node in running(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "suanzi":
            for name in node.names:
                inside = f"{node.module}.{name.name}".removeprefix("suanzi").removeprefix(".")
                found[name.asname or name.name] = resolved(inside, known)
    return found


CHANGING = {"append", "add", "update", "setdefault", "insert", "extend", "pop", "clear", "remove"}


def filled(module: str, tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Yield the names of other rooms that a module changes while it is imported."""
    of = {name: at for name, at in origins(tree, known).items() if room_of(at) != room_of(module)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ast.walk(node):
            targets: list[ast.expr] = []
            if isinstance(part, ast.Assign):
                targets = part.targets
            elif isinstance(part, ast.AugAssign):
                targets = [part.target]
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                targets = [part.func] if part.func.attr in CHANGING else []
            for target in targets:
                if isinstance(target, ast.Subscript | ast.Attribute):
                    base: ast.AST = target
                    while isinstance(base, ast.Subscript | ast.Attribute):
                        base = base.value
                    if isinstance(base, ast.Name) and base.id in of:
                        yield f"{module} -> {of[base.id]}: {ast.unparse(target).partition('[')[0]}"


def private(module: str, tree: ast.Module, known: set[str]) -> Iterator[str]:
    """Yield the names with a leading underscore that a module takes from another room."""
    of = {name: at for name, at in origins(tree, known).items() if room_of(at) != room_of(module)}
    for node in running(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "suanzi":
            for name in node.names:
                inside = f"{node.module}.{name.name}".removeprefix("suanzi").removeprefix(".")
                at = resolved(inside, known)
                if name.name.startswith("_") and at != inside and room_of(at) != room_of(module):
                    yield f"{module} -> {at}: {name.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            at = of.get(node.value.id, "")
            ends = at.rpartition(".")[2] == node.value.id  # a module, not an object of one
            if ends and node.attr.startswith("_") and not node.attr.startswith("__"):
                yield f"{module} -> {at}: {node.attr}"


def of_each(check: object) -> list[str]:
    """Return what a check finds in all modules."""
    known = {*trees(), "_core"}
    assert callable(check)
    return sorted({found for name, tree in trees().items() for found in check(name, tree, known)})


def test_what_is_loaded_by_a_computed_name() -> None:
    assert {name for name, tree in trees().items() if [*computed(tree)]} == {*LOADED_BY_NAME}


def test_who_changes_the_path() -> None:
    assert {name for name, tree in trees().items() if [*changes_of_path(tree)]} == {
        *CHANGES_OF_PATH
    }


def test_what_is_filled_from_above() -> None:
    assert of_each(filled) == FILLED_FROM_ABOVE


def test_no_private_name_of_another_room() -> None:
    assert of_each(private) == []


# ---- what it finds -------------------------------------------------------------------------------


def made(tmp_path: Path, files: Mapping[str, str]) -> Graph:
    """Return the graph of a package that is made up."""
    for name, text in {"__init__": "", "tensors/__init__": "", "ops/__init__": "", **files}.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return graph_of(tmp_path)


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("from suanzi.ops.power import sqrt", "ops.power"),
        ("from suanzi.ops import power", "ops.power"),
        ("import suanzi.ops.power", "ops.power"),
        ("import suanzi.ops.power as p", "ops.power"),
        ("def f():\n    from suanzi.ops.power import sqrt", "ops.power"),
        ("class C:\n    def f(self):\n        if self:\n            import suanzi", "suanzi"),
        ("from suanzi import sqrt", "suanzi"),
        ("try:\n    from suanzi.ops import sqrt\nexcept ImportError:\n    pass", "ops"),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    import suanzi.ops", "ops"),
        ("import_module('suanzi.ops.power')", "ops.power"),
        ("f = partial(import_module, 'suanzi.ops.power')", "ops.power"),
    ],
)
def test_an_arrow_that_points_up_is_found(tmp_path: Path, text: str, target: str) -> None:
    graph = made(tmp_path, {"tensors/tensor": text, "ops/power": "def sqrt(): ..."})
    assert arrows_up(graph) == [f"tensors.tensor -> {target}"]


@pytest.mark.parametrize(
    "text",
    [
        "from suanzi import _core",
        "from suanzi.tensors.parts import copy",
        "import numpy, suanzi_other",
        "if TYPE_CHECKING:\n    from suanzi.ops.power import sqrt",
        "if typing.TYPE_CHECKING:\n    import suanzi",
    ],
)
def test_other_imports_are_right(tmp_path: Path, text: str) -> None:
    graph = made(tmp_path, {"tensors/tensor": text, "tensors/parts": "", "ops/power": ""})
    assert arrows_up(graph) == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    files = {
        "tensors/a": "from suanzi.tensors.b import x",
        "tensors/b": "def f():\n    from suanzi.tensors import c",
        "tensors/c": "import suanzi.tensors.a",
    }
    assert set(circle_in(made(tmp_path, files))) == {"tensors.a", "tensors.b", "tensors.c"}


def test_a_module_without_a_room_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="attic is in no room"):
        arrows_up(made(tmp_path, {"attic": "from suanzi import _core"}))


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (computed, "def f(name):\n    return import_module(f'suanzi.{name}')"),
        (computed, "found = importlib.import_module(name)"),
        (changes_of_path, "sys.path.insert(0, folder)"),
        (changes_of_path, "sys.path += [folder]"),
        (changes_of_path, "def f():\n    sys.path[:] = []"),
    ],
)
def test_what_no_import_shows_is_found(check: Callable[..., object], text: str) -> None:
    assert list(check(ast.parse(text)))
    assert not list(check(ast.parse("from suanzi import _core\nimport_module('json')\nsys.path")))


KNOWN = {"tensors.tensor", "ops.power", "ops.tools"}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from suanzi.tensors.tensor import TABLE\nTABLE['a'] = 1", "TABLE"),
        ("from suanzi.tensors.tensor import TABLE\nTABLE.update(a=1)", "TABLE.update"),
        ("from suanzi.tensors import tensor\ntensor.hook = f", "tensor.hook"),
        ("from suanzi.tensors import tensor\nfor a in b:\n    tensor.T[a] = 1", "tensor.T"),
    ],
)
def test_a_table_that_is_filled_from_above_is_found(text: str, name: str) -> None:
    assert [*filled("ops.power", ast.parse(text), KNOWN)] == [
        f"ops.power -> tensors.tensor: {name}"
    ]
    assert not [*filled("tensors.parts", ast.parse(text), KNOWN)]  # of its own room


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from suanzi.ops.power import _tool", "_tool"),
        ("from suanzi.ops import power\npower._tool()", "_tool"),
    ],
)
def test_a_private_name_of_another_room_is_found(text: str, name: str) -> None:
    found = [*private("port.report", ast.parse(text), KNOWN)]
    assert found == [f"port.report -> ops.power: {name}"]
    assert not [*private("ops.tools", ast.parse(text), KNOWN)]
