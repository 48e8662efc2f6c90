"""Who may include whom: a file includes its own layer and those below it, by path; no circles."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
LAYERS = ["core", "kernels", "loops", "calls", "ops", "python"]  # from the ground up
INCLUDE = re.compile(r'^\s*#\s*include\s*"(.+)"', re.MULTILINE)


def problems(root: Path) -> list[str]:
    """Return what is wrong with the includes of the sources below a folder."""
    files = {str(p.relative_to(root)): p for p in sorted(root.rglob("*")) if p.is_file()}
    graph = {name: set(INCLUDE.findall(path.read_text("utf-8"))) for name, path in files.items()}
    found = []
    for name, included in graph.items():
        for other in sorted(included):
            if other not in files:
                found.append(f"{name}: {other} is not a path from the root")
            elif LAYERS.index(Path(name).parts[0]) < LAYERS.index(Path(other).parts[0]):
                found.append(f"{name}: {other} is of a higher layer")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        found.append(f"a circle: {' '.join(error.args[1])}")
    return found


def test_includes() -> None:
    assert {p.name for p in NATIVE.iterdir()} == set(LAYERS)
    assert problems(NATIVE) == []


@pytest.mark.parametrize(
    ("name", "line", "problem"),
    [
        ("core/low.h", '#include "ops/high.h"', "ops/high.h is of a higher layer"),
        ("ops/other.h", '#include "high.h"', "high.h is not a path from the root"),
        ("core/low.h", '#include "core/lower.h"', "a circle: core/low"),
    ],
)
def test_a_wrong_include_is_found(tmp_path: Path, name: str, line: str, problem: str) -> None:
    tree = {
        "core/low.h": "#include <vector>",
        "core/lower.h": '#include "core/low.h"',
        "ops/high.h": '#include "core/lowest.h"',
        "core/lowest.h": "",
    }
    for path, text in tree.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    assert problems(tmp_path) == []
    (tmp_path / name).write_text(f"// a comment\n{line}\n")
    assert [problem in one for one in problems(tmp_path)] == [True]
