"""ARCHITECTURE.md is true: its drawing is the house's, and calls go where its walks say.

Each walk runs in a process of its own, so that its call is the first; `helpers/walking.py` writes
down what is entered, also in the process of a backend. What CONTRIBUTING.md says of the tree is
compared with it, too.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import suanzi
from rooms import HOME, ROOMS, Graph, graph_of, rooms

PAGE = (HOME / "ARCHITECTURE.md").read_text("utf-8")
TRACER = HOME / "tests" / "helpers" / "walking.py"
PACKAGE = Path(suanzi.__file__).parent
STOP = re.compile(r"^\d+\. `([\w./]+)` `(\w+)`: ", re.M)


class Walk(NamedTuple):
    """The call of a walk, what is done before it, and what it needs."""

    call: str
    before: str = ""
    needs: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()


ROWS = "x = sz.tensor([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]]"
DEVICE = (
    "from suanzi.runtimes.torch.provider import register; register(); "
    f"{ROWS}, device='torch:cpu')"
)  # fmt: skip
KERNEL = """
import numpy as np
def kernel(x):
    e = np.exp(x - np.where(np.isinf(m := x.max(-1, keepdims=True)), 0, m))
    return e / e.sum(-1, keepdims=True)
np.seterr(all="ignore")
"""
WALKS = {
    "`sz.add(x, y)`": Walk("sz.add(x, y)", "x, y = sz.tensor([1.0, 2.0]), sz.tensor([3, 4])"),
    "`sz.nn.softmax(x)` on the CPU": Walk("sz.nn.softmax(x)", f"{ROWS})"),
    "The same on CUDA": Walk("sz.nn.softmax(x)", DEVICE, ("torch",)),
    "With kernels": Walk(
        "sz.nn.softmax(x)", DEVICE, ("torch", "triton"), (("TRITON_INTERPRET", "1"),)
    ),
    "`suanzi check --backend numpy`": Walk(
        "main('check --backend numpy --op add --dtype int8 --quick --jobs 1'.split())",
        "from suanzi.front.cli import main",
    ),
    '`sz.judge(kernel, "softmax")`': Walk(
        "bool(sz.judge(kernel, 'softmax', dtypes='float32'))", KERNEL
    ),
}


def stops(title: str) -> list[tuple[str, str]]:
    """Return the files and functions of a walk; that with kernels is the last list of its part."""
    _, found, rest = PAGE.partition(f"\n{title}" if title == "With kernels" else f"\n### {title}\n")
    assert found, f"ARCHITECTURE.md has no walk {title!r}"
    until = r"\n#+ |\nWith kernels"
    return STOP.findall(re.split(until, rest, maxsplit=1)[0])


def entered(walk: Walk, folder: Path) -> list[tuple[str, str]]:
    """Return the functions that a walk's call enters, in the order in which each is first."""
    shutil.copy(TRACER, folder / "sitecustomize.py")
    log = folder / "log"
    program = (
        f"import sitecustomize\nimport suanzi as sz\n{walk.before}\n"
        f"sitecustomize.begin({str(log)!r}, {str(PACKAGE)!r})\n{walk.call}\n"
    )
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    without = {"TRITON_INTERPRET", "SUANZI_TRITON"}
    environment = {k: v for k, v in os.environ.items() if k not in without}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": os.pathsep.join(paths), **dict(walk.environment)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in log.read_text("utf-8").splitlines()]
    return [(file.replace(os.sep, "/"), function) for file, function in lines]


@pytest.mark.parametrize("title", WALKS)
def test_a_walk_goes_where_the_page_says(title: str, tmp_path: Path) -> None:
    walk, listed = WALKS[title], [stop for stop in stops(title) if not stop[0].startswith("native")]
    assert len(listed) > 4
    for need in walk.needs:
        if importlib.util.find_spec(need) is None:
            pytest.skip(f"needs {need}: the walk is that of tensors on its devices")
    found = entered(walk, tmp_path)
    missing = [" ".join(stop) for stop in listed if stop not in found]
    assert not missing, f"the call of {title} does not enter {missing}"
    files = list(dict.fromkeys(file for file, _ in found))
    for (a, f), (b, g) in pairwise(listed):
        assert files.index(a) < files.index(b), f"{title}: {b} is entered before {a}"
        assert found.index((a, f)) < found.index((b, g)), f"{title}: {g} is entered before {f}"


def test_every_walk_of_the_page_is_taken() -> None:
    walks = PAGE.partition("\n## Five walks")[2]
    assert [*re.findall(r"^### (.+)$", walks, re.M)] == [t for t in WALKS if t != "With kernels"]
    listed = sum(len(stops(title)) for title in WALKS)
    assert listed == len(re.findall(r"^\d+\. ", walks, re.M)), "a line that no test reads"


@pytest.mark.parametrize("title", WALKS)
def test_native_functions_are_in_their_files(title: str) -> None:
    for path, name in stops(title):
        if path.startswith("native/"):
            text = (HOME / path).read_text("utf-8")
            begins = rf"^(?!//).*\b(?:struct {name}\b|{name}\()[^;]*\{{"
            assert re.search(begins, text, re.M), f"{path} does not define {name}"


def test_every_path_of_the_page_exists() -> None:
    for path in re.findall(r"`((?:\w+/)*\w+\.(?:py|cpp|h|inc))`", PAGE):
        assert (HOME / path).is_file() or (HOME / "src" / "suanzi" / path).is_file(), path


# ---- the drawing ---------------------------------------------------------------------------------


def drawn() -> Graph:
    """Return the arrows of the drawing: `a --> b & c --> d` is of a to b and c, of these to d."""
    block = re.findall(r"```mermaid\nflowchart TD\n(.*?)```", PAGE, re.S)[0]
    found: dict[str, set[str]] = {}
    for line in block.strip().splitlines():
        groups = [{name.strip() for name in part.split("&")} for part in line.split("-->")]
        for above, below in pairwise(groups):
            for room in above:
                found.setdefault(room, set()).update(below)
    return found | {room: set() for below in [*found.values()] for room in below - {*found}}


def reached(house: Graph, room: str) -> set[str]:
    """Return every room that a room reaches by arrows."""
    return house[room].union(*(reached(house, other) for other in house[room]))


def test_the_drawing_is_the_house() -> None:
    house = rooms(graph_of(HOME / "src" / "suanzi"))
    needed = {
        room: {b for b in below if not any(b in reached(house, a) for a in below - {b})}
        for room, below in house.items()
    }
    assert drawn() == needed


def test_the_rooms_are_in_their_order() -> None:
    table = PAGE.partition("From the ground up:")[2].partition("\n\nThe order")[0]
    named = re.findall(r"^\| `(\w+)` \| \S", table, re.M)
    assert sorted(named) == sorted(" ".join(ROOMS).split())
    height = {room: i for i, line in enumerate(ROOMS) for room in line.split()}
    assert [height[room] for room in named] == sorted(height.values())


def test_two_pages_are_enough() -> None:
    assert len(PAGE.splitlines()) <= 150


# ---- CONTRIBUTING.md -----------------------------------------------------------------------------

CONTRIBUTING = (HOME / "CONTRIBUTING.md").read_text("utf-8")


def test_the_map_has_every_room() -> None:
    mapped = CONTRIBUTING.partition("\nsrc/suanzi/ ")[2].partition("\nnative/ ")[0]
    order = [room for line in ROOMS for room in line.split()]
    assert re.findall(r"^  (\w+)/ ", mapped, re.M) == order[1:-1]


def test_the_parts_of_the_nightly_checks_are_named() -> None:
    script = (HOME / ".ci" / "nightly").read_text("utf-8")
    parts = re.findall(r"^parts=\((.*)\)$", script, re.M)[0].split()
    named = CONTRIBUTING.partition("The parts of `.ci/nightly` are")[2].partition(".\n")[0]
    assert set(parts) <= {*re.findall(r"`(\w+)`", named)}


PAGES = ["CONTRIBUTING.md", "SECURITY.md", "src/suanzi/standard/README.md"]
PAGES += [f"docs/{language}/guides/extending/operator.md" for language in ("en", "zh")]


@pytest.mark.parametrize("page", PAGES)
def test_paths_of_the_project_exist(page: str) -> None:
    text = (HOME / page).read_text("utf-8")
    for path in re.findall(
        r"(?<![\w/.-])(?:src|native|tests|tools|benchmarks|\.ci)/[\w./-]+", text
    ):
        assert (HOME / path.rstrip(".")).exists(), f"{page} names {path}"
