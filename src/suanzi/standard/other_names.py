"""What other libraries call what is here: ``other-names.txt``, the only table of their names.

Hints, the documentation and :mod:`suanzi.port` read it through this file, which imports nothing of
suanzi: a recorder loads it in the process of a framework. Each catalogue of operators may have such
a table in its own folder of the package.

>>> [one.here for one in meanings("np.sum")], [one.here for one in meanings("aclnnReduceSum")]
(['sz.reduce(x, "SUM", axis)'], ['sz.reduce(x, "SUM", axis)'])
>>> print(explained("clamp"))
Use sz.clip(x, low, high).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LIBRARIES: Mapping[str, str] = {
    "numpy": "NumPy", "torch": "PyTorch", "jax": "JAX", "onnx": "ONNX", "openvino": "OpenVINO",
    "paddle": "Paddle", "mindspore": "MindSpore", "aclnn": "aclnn",
}  # fmt: skip
"""The columns of names, and what a sentence calls them."""

FILE = "other-names.txt"
_PREFIXES = re.compile(
    r"^(np|jnp|numpy|torch|jax|lax|onnx|paddle|mindspore|mint|ops|nn|functional|linalg|fft|random"
    r"|Tensor|F|x|sz|suanzi|xp)\."
)
_MISSING = re.compile(r"no(: |$)")
# Python's symbols, and PyTorch's function for each. Those with True also exist in place.
_SYMBOLS = {
    "add": ("add", True), "sub": ("sub", True), "mul": ("mul", True), "truediv": ("div", True),
    "div": ("div", False), "floordiv": ("floor_divide", True), "mod": ("remainder", True),
    "pow": ("pow", True), "matmul": ("matmul", True), "and": ("bitwise_and", True),
    "or": ("bitwise_or", True), "xor": ("bitwise_xor", True),
    "lshift": ("bitwise_left_shift", True), "rshift": ("bitwise_right_shift", True),
    "eq": ("eq", False), "ne": ("ne", False), "lt": ("lt", False), "le": ("le", False),
    "gt": ("gt", False), "ge": ("ge", False), "invert": ("bitwise_not", False),
}  # fmt: skip
_COMMUTE = frozenset("add mul matmul and or xor eq ne".split())
SWAPPED = frozenset(f"r{symbol}" for symbol in _SYMBOLS if symbol not in _COMMUTE)
"""Names of symbols whose operands change places, ``__rpow__`` without its underscores."""


@dataclass(frozen=True)
class Meaning:
    """A row: something that is computed, how to write it here, and its names elsewhere."""

    catalogue: str
    """The folder of its table: ``standard``."""
    here: str
    """An expression, perhaps with words after a comma; where `exists` is False, a substitute."""
    exists: bool
    dtype: str
    """How the dtype of the result is found: ``add 0,1``, ``follows``, ``chosen``, ``quiet``."""
    names: Mapping[str, tuple[str, ...]]
    """The names by library."""
    with_number: str | None = None
    """The aclnn function that takes a Python number, where there are two; "-": none does."""

    @property
    def operator(self) -> str:
        """The first operator of the expression; empty where it has none."""
        found = (
            re.search(rf"\bsz\.(?:{self.catalogue}\.)?([a-z]\w*)\(", self.here)
            if self.exists
            else None
        )
        return found[1] if found else ""

    def called(self, name: str) -> list[str]:
        """Return the libraries that have it under a name."""
        return [
            LIBRARIES[library]
            for library, names in self.names.items()
            if any(_key(known) == _key(name) for known in names)
        ]


def table() -> tuple[Meaning, ...]:
    """Return the tables of all catalogues, the standard's first."""
    here = Path(__file__).resolve().parent
    found = [here, *sorted(path.parent for path in here.parent.glob(f"*/*/{FILE}"))]
    known = sys.modules.get("suanzi.standard.catalogues")  # not in the process of a recorder
    if known is not None:
        found += [Path(one.folder) for one in known.usable()]
    return _rows(tuple(dict.fromkeys(found)))


@cache
def _rows(folders: tuple[Path, ...]) -> tuple[Meaning, ...]:
    return tuple(row for one in folders if (one / FILE).is_file() for row in read(one / FILE))


def read(path: Path) -> list[Meaning]:
    """Return the rows of one table."""
    lines = [x for x in path.read_text("utf-8").splitlines() if x and not x.startswith("#")]
    header, *rows = ([cell.strip() for cell in line.split(" | ")] for line in lines)
    found = []
    for here, dtype, *cells in rows:
        cut = _MISSING.match(here)
        names = {
            library: tuple(name for name in re.split(", |/", cell) if name != "-")
            for library, cell in zip(header[2:], cells, strict=True)
            if cell != "-"
        }
        number = cells[-1].rpartition("/")[2] if "/" in cells[-1] else None
        if "aclnn" in names:
            names["aclnn"] = tuple(f"aclnn{name}" for name in names["aclnn"])
        words = here[cut.end() :] if cut else here
        with_number = number if number in (None, "-") else f"aclnn{number}"
        found.append(Meaning(path.parent.name, words, cut is None, dtype, names, with_number))
    return found


@cache
def by_name(library: str) -> dict[str, Meaning]:
    """Return the rows by a library's names, with those of Python's symbols.

    >>> by_name("paddle")["less_than"].here, by_name("paddle")["itruediv"].here
    ('sz.less(x, y)', 'sz.div(x, y)')
    """
    found = {name: one for one in table() for name in one.names.get(library, ())}
    torch = found if library == "torch" else by_name("torch")
    for symbol, (name, in_place) in _SYMBOLS.items():
        # Not __rand__: without its underscores it would be a function of random numbers.
        forms = [symbol, *[f"r{symbol}"] * (symbol != "and"), *[f"i{symbol}"] * in_place]
        for form in forms:
            found.setdefault(form, torch[name])
    return found


def meanings(name: str) -> list[Meaning]:
    """Return what a name means elsewhere; the module in front of it does not matter."""
    return [one for one in table() if one.called(name)]


def explained(name: str) -> str | None:
    """Return in sentences what to write for a name of another library; None if nobody has it.

    >>> print(explained("aclnnErfinv"))
    suanzi has no operator for it.
    """
    found = meanings(name)
    use: dict[str, list[str]] = {}
    for one in found:
        if one.exists:
            use.setdefault(one.here, []).extend(f"{who}'s" for who in one.called(name))
    if not found:
        return None
    if not use:
        instead = f"; instead: {found[0].here}" if found[0].here else ""
        return f"suanzi has no operator for it{instead}."
    if len(use) == 1:
        return f"Use {next(iter(use))}."
    return f"Use {', '.join(f'{here} for {_listed(who)}' for here, who in use.items())}."


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _short(name: str) -> str:
    name = name.strip()
    while _PREFIXES.match(name):
        name = _PREFIXES.sub("", name)
    return name


def _key(name: str) -> str:
    """Return what of a name counts: those of ONNX, OpenVINO and aclnn match in lower case."""
    return _short(name).lower()
