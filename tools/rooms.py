"""Counts the rooms of the house, the folders under src/suanzi, and the imports between them.

    python tools/rooms.py                # the counts; each room, its floor, and what it imports
    python tools/rooms.py REVISION ...   # the counts of other commits
    python tools/rooms.py --up           # every import that points up, file by file

A room is a folder, or a module at the top; what only gives a module of a room its public path is
part of the top, with `__init__`. An arrow leads from a room to each room that a file of it imports
when it runs, also inside a function; what stands under TYPE_CHECKING never runs. A room is one
floor above the highest of those that it imports, but for those that import it in a circle.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

HOME = Path(__file__).resolve().parents[1]
ROOMS = """
_core
base
standard
promote
recording
tensors
ops
faces
runtimes truth
conformance
port
validate
front
suanzi
""".strip().splitlines()
"""The rooms from the ground up; two in a line know nothing of each other. `suanzi` is the top."""

# They run in the interpreters of others, without suanzi, or as one of suanzi's users would.
FOREIGN = {"frameworks", "probes", "recorders"}
CLIENTS = {
    f"conformance.subjects.{name}_adapter" for name in ("suanzi", "plain", "device", "cluster")
}

Graph = Mapping[str, set[str]]


def is_public_path(text: str) -> bool:
    """Return whether a module of the top only gives another module its public path."""
    return "sys.modules[__name__] = " in text


def public_paths(home: Path = HOME / "src" / "suanzi") -> list[str]:
    """Return the modules of the top that give others their public paths."""
    return sorted(
        path.stem for path in home.glob("*.py") if is_public_path(path.read_text("utf-8"))
    )


def files_of(home: Path) -> dict[str, Path]:
    """Return the file of each module of a package; the package itself is ``suanzi``."""
    found = {}
    for path in home.rglob("*.py"):
        parts = path.relative_to(home).with_suffix("").parts
        if not FOREIGN & {*parts[:-1]}:
            name = ".".join(parts).removesuffix("__init__").strip(".") or "suanzi"
            if len(parts) == 1 and (name == "__main__" or is_public_path(path.read_text("utf-8"))):
                name = f"suanzi.{name}"
            found[name] = path
    return found


def graph_of(home: Path) -> Graph:
    """Return what every module of a package imports of it when it runs."""
    files = files_of(home)
    known = {*files, "_core"}
    return {
        module: set(imported(ast.parse(path.read_text("utf-8")), known)) - {module}
        for module, path in files.items()
        if module not in CLIENTS
    }


def name_of(node: ast.AST) -> str:
    """Return the last part of a name; of anything else, nothing."""
    return getattr(node, "attr", "") or getattr(node, "id", "")


def running(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node of a module that is ever run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and name_of(node.test) == "TYPE_CHECKING":
            node = ast.Module(node.orelse, [])
        yield node
        yield from running(node)


def imported(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """Yield the modules of suanzi that are imported when code runs, inside functions too.

    A name that is given to `import_module`, also through `partial`, counts if it is a constant.
    """
    for node in running(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.Call):
            named = [name_of(node.func), *(name_of(one) for one in node.args[:1])]
            if "import_module" in named:
                names = [
                    one.value for one in node.args
                    if isinstance(one, ast.Constant) and isinstance(one.value, str)
                ]  # fmt: skip
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"a relative import: {ast.unparse(node)}"
            names = [f"{node.module}.{name.name}" for name in node.names]
        for name in names:
            top, _, inside = name.partition(".")
            if top == "suanzi" and not FOREIGN & {*inside.split(".")}:
                yield resolved(inside, known)


def resolved(name: str, known: set[str]) -> str:
    """Return the module that a dotted name below suanzi is of."""
    while name and name not in known:
        if f"suanzi.{name}" in known:
            return f"suanzi.{name}"
        name = name.rpartition(".")[0]
    return name or "suanzi"


def room_of(module: str) -> str:
    """Return the room of a module: the first part of its name."""
    return module.partition(".")[0]


def rooms(graph: Graph) -> Graph:
    """Return the rooms, and which other rooms each imports."""
    found: dict[str, set[str]] = {room_of(module): set() for module in graph}
    for module, others in graph.items():
        found[room_of(module)] |= {room_of(other) for other in others} - {room_of(module)}
    return found | {other: set() for others in found.values() for other in others - {*found}}


def floors(house: Graph) -> Mapping[str, int]:
    """Return the floor of each room, 1 for the ground."""
    found: dict[str, int] = {}

    def floor(room: str, above: tuple[str, ...]) -> int:
        if room not in found:
            below = [
                floor(other, (*above, room)) for other in sorted(house[room]) if other not in above
            ]
            found[room] = 1 + max(below, default=0)
        return found[room]

    for room in sorted(house):
        floor(room, (room,))
    return found


def height(module: str) -> int:
    """Return the line of ROOMS that a module's room stands in."""
    found = [i for i, line in enumerate(ROOMS) if room_of(module) in line.split()]
    assert found, f"{module} is in no room; name its room in ROOMS of tools/rooms.py"
    return found[0]


def arrows_up(graph: Graph) -> list[str]:
    """Return the imports that point to a higher room, or to another in the same line."""
    return sorted(
        f"{a} -> {b}"
        for a, others in graph.items()
        for b in others
        if room_of(a) != room_of(b) and height(a) <= height(b)
    )


def against_floors(house: Graph) -> int:
    """Return how many arrows of a house, whose order nobody wrote down, lead to no lower floor."""
    floor = floors(house)
    return sum(floor[a] <= floor[b] for a, others in house.items() for b in others)


def at(revision: str) -> Graph:
    """Return the graph of another commit."""
    command = ["git", "-C", str(HOME), "archive", revision, "src/suanzi"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extractall(folder)
        return graph_of(Path(folder) / "src" / "suanzi")


def counted(house: Graph, up: int) -> str:
    """Return the counts of a house in a line."""
    arrows = sum(map(len, house.values()))
    return f"{len(house)} rooms, {max(floors(house).values())} floors, {arrows} arrows, {up} up"


def main(arguments: Iterable[str] | None = None) -> None:
    """Print what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revisions", nargs="*", help="commits; the working tree by default")
    parser.add_argument("--up", action="store_true", help="the imports that point up, and no more")
    options = parser.parse_args(None if arguments is None else [*arguments])
    for revision in options.revisions:
        house = rooms(at(revision))
        print(f"{revision}: {counted(house, against_floors(house))}")
    if options.revisions:
        return
    graph = graph_of(HOME / "src" / "suanzi")
    house, up = rooms(graph), arrows_up(graph)
    if options.up:
        print(*up, sep="\n")
        return
    print(counted(house, len({tuple(map(room_of, one.split(" -> "))) for one in up})))
    floor = floors(house)
    for room in sorted(house, key=lambda room: (-floor[room], room)):
        print(f"{floor[room]:3} {room:12} {' '.join(sorted(house[room], key=lambda r: -floor[r]))}")


if __name__ == "__main__":
    main()
