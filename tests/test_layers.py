"""Who may import whom: a file imports its own layer and those below it, nothing above; no circles.

Imports inside functions count, also by ``import_module("name")``; those under TYPE_CHECKING are
erased, and may point anywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1] / "src" / "suanzi"

# From the ground up; a folder stands for all that is in it and not named on its own. `errata` is
# of the standard, and lies outside because its path is public.
LAYERS = """
_core status _numpy _blocks _files _forking _hints _decode _lang _text _toml _html
dtypes layout shapes device
criteria
standard errata
promote mindspore rules
port
registry
tensors
sparse
resolve quantized libraries
ops
nn
sparse.forms subscripts saving safetensors npy
interface array_api
suanzi _attributes _array_api
dask
cluster
conformance.subjects.wire conformance.subjects.interpreted conformance
torch
truth
conformance.model
conformance.truth
conformance.judging
conformance.cases
conformance.nn
conformance.header conformance.subjects
conformance.reports
conformance.mustpass conformance.evidence
conformance.running conformance.shards
conformance.vacuity conformance.vacuity_models conformance.bounds
conformance.check
accuracy
judgement
blaming
replay
conformance.plugin conformance.suite conformance.second_judge conformance.submission
agents
site
cli
""".strip().splitlines()

# They run in the processes of others, without suanzi.
FOREIGN = {"frameworks", "probes", "recorders"}

Graph = Mapping[str, set[str]]


def layer(module: str) -> int:
    """Return the layer of the longest name in LAYERS that a module begins with."""
    named = [(name, i) for i, names in enumerate(LAYERS) for name in names.split()]
    fitting = [(len(name), i) for name, i in named if f"{module}.".startswith(f"{name}.")]
    assert fitting, f"{module} has no layer; give it one in LAYERS"
    return max(fitting)[1]


def graph_of(home: Path) -> Graph:
    """Return what every module of a package imports of it; ``suanzi`` is its ``__init__``."""
    files = {
        ".".join(path.relative_to(home).with_suffix("").parts)
        .removesuffix("__init__")
        .strip("."): path
        for path in home.rglob("*.py")
        if not FOREIGN & set(path.relative_to(home).parts)
    }
    known = {*files, "_core"}
    return {
        module or "suanzi": set(imported(ast.parse(path.read_text()), known)) - {module or "suanzi"}
        for module, path in files.items()
    }


def name_of(node: ast.AST) -> str:
    """Return the last part of a name; of anything else, nothing."""
    return getattr(node, "attr", "") or getattr(node, "id", "")


def imported(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """Yield the modules of suanzi that are imported when code runs, inside functions too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and name_of(node.test) == "TYPE_CHECKING":
            node = ast.Module(node.orelse, [])
        names = []
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.Call) and name_of(node.func) == "import_module":
            given = node.args[0]
            names = [str(given.value)] if isinstance(given, ast.Constant) else []
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import: {ast.unparse(node)}"
            names = [f"{node.module}.{name.name}" for name in node.names]
        for name in names:
            top, _, inside = name.partition(".")
            if top == "suanzi" and not FOREIGN & set(inside.split(".")):
                while inside not in known and inside:
                    inside = inside.rpartition(".")[0]
                yield inside or "suanzi"
        yield from imported(node, known)


def arrows_up(graph: Graph) -> list[str]:
    """Return the imports that point to a higher layer."""
    return [f"{a} -> {b}" for a, found in graph.items() for b in found if layer(a) < layer(b)]


def circle_in(graph: Graph) -> list[str]:
    """Return modules that import each other, the first one twice; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down() -> None:
    assert sorted(arrows_up(graph_of(HOME))) == []


def test_there_is_no_circle() -> None:
    assert circle_in(graph_of(HOME)) == []


def test_every_layer_is_of_something() -> None:
    modules = {*graph_of(HOME), "_core"}
    named = " ".join(LAYERS).split()
    assert [n for n in named if not any(f"{m}.".startswith(f"{n}.") for m in modules)] == []


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


def test_a_module_without_a_layer_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="attic has no layer"):
        arrows_up(made(tmp_path, {"attic": "from suanzi import _core"}))


def test_layers_within_the_kit() -> None:
    assert layer("conformance.subjects.wire") < layer("conformance.model.case")
    assert layer("conformance.model.case") < layer("conformance.subjects.worker")
    assert layer("sparse.tensor") < layer("ops.power") < layer("sparse.forms.dispatch")
