"""Cases and their truth depend on nothing but the standard: not on kernels, libraries, machines."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import suanzi.conformance

HOME = Path(suanzi.conformance.__file__).parent
DATA = {"base", "promote", "standard"}
"""The rooms of data, and of how text is written, that may be read."""
LIBRARIES = {"mpmath"}

DIGEST = """
import hashlib, sys
from suanzi.conformance.cases import Wanted, cases
from suanzi.conformance.cases.frozen import line_of
for op in ("add", "exp", "reduce", "svd", "fft_c2c", "scatter", "rand_normal", "norm"):
    found = cases(op, Wanted(quick=True))
    text = "".join(line_of(case) for case in found)
    print(op, len(found), hashlib.sha256(text.encode()).hexdigest())
print("numpy" in sys.modules)
"""


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
            # `from package import module`
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def file_of(module: str) -> Path | None:
    """Return the file of a module of the kit."""
    place = HOME.joinpath(*module.removeprefix("suanzi.conformance").strip(".").split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if module.startswith("suanzi.conformance.") and path.is_file():
            return path
    return None


def truth() -> set[Path]:
    """Return the files of cases, checks and judge, and all of the kit that these import."""
    waiting = [p for folder in ("cases", "truth", "judging") for p in (HOME / folder).rglob("*.py")]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += [f for module in imported(path) if (f := file_of(module)) is not None]
    return found


def test_the_truth_imports_neither_kernels_nor_libraries() -> None:
    files = truth()
    assert {HOME / "model" / "numbers.py", HOME / "judging" / "judge.py"} <= files
    assert not any("frameworks" in path.parts or "adapter" in path.name for path in files)
    for path in files:
        for module in imported(path):
            first, _, rest = module.partition(".")
            if first == "suanzi":
                own = rest.partition(".")[0]
                version = path.name == "frozen.py" and own == "_core"
                assert own in DATA | {"conformance"} or version, (path.name, module)
            else:
                known = first in sys.stdlib_module_names or first in LIBRARIES
                assert known or first == "__future__", (path.name, module)


def test_cases_are_the_same_whatever_the_hashes_and_without_numpy() -> None:
    said = set()
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        said.add(
            subprocess.check_output([sys.executable, "-c", DIGEST], env=environment, text=True)
        )
    (once,) = said
    assert once.splitlines()[-1] == "False"
    assert len(once.splitlines()) == 9
