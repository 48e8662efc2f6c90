"""What others call what is here: NumPy, PyTorch, ONNX, Paddle, MindSpore and aclnn.

The table is ``other-names.txt``; ``sz.sum``, ``suanzi op sum`` and the documentation use it.

>>> [one.here for one in meanings("np.sum")], [one.here for one in meanings("aclnnReduceSum")]
(['reduce(x, "SUM", axis)'], ['reduce(x, "SUM", axis)'])
>>> print(explained("clamp"))
What PyTorch and MindSpore call clamp is sz.clip(x, low, high) here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LIBRARIES: Mapping[str, str] = {
    "numpy": "NumPy",
    "torch": "PyTorch",
    "onnx": "ONNX",
    "paddle": "Paddle",
    "mindspore": "MindSpore",
    "aclnn": "aclnn",
}
"""The columns of the table, and what they are called in a sentence."""

_PREFIXES = re.compile(
    r"^(np|numpy|torch|onnx|paddle|mindspore|mint|ops|nn|functional|linalg|fft|F|x|sz|suanzi|xp)\."
)
_MISSING = "no"


@dataclass(frozen=True)
class Meaning:
    """One thing that is done, how it is written here, and its names in other libraries."""

    here: str
    """A call, perhaps with words behind a comma; what does without it where there is none."""
    exists: bool
    """Whether the standard has an operator for it."""
    names: Mapping[str, tuple[str, ...]]
    """The names by library."""

    def called(self, name: str) -> list[str]:
        """Return the libraries that have it under a name."""
        return [
            LIBRARIES[library]
            for library, names in self.names.items()
            if any(_key(known) == _key(name) for known in names)
        ]


@cache
def table() -> tuple[Meaning, ...]:
    """Return the whole table, in its order."""
    text = files("suanzi.standard").joinpath("other-names.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    header, *rows = ([cell.strip() for cell in line.split(" | ")] for line in lines)
    found = []
    for here, *cells in rows:
        exists = not re.match(rf"{_MISSING}(:|$)", here)
        names = {
            library: tuple(cell.split(", "))
            for library, cell in zip(header[1:], cells, strict=True)
            if cell != "-"
        }
        if "aclnn" in names:
            names["aclnn"] = tuple(f"aclnn{name}" for name in names["aclnn"])
        words = here if exists else here.removeprefix(_MISSING).removeprefix(": ")
        found.append(Meaning(words, exists, names))
    return tuple(found)


def meanings(name: str) -> list[Meaning]:
    """Return what a name means elsewhere; the module in front of it does not matter."""
    return [one for one in table() if one.called(name)]


def explained(name: str) -> str | None:
    """Return in sentences what a name of another library is here; None if nobody has it."""
    sentences = []
    for one in meanings(name):
        short = _short(name)
        who = _listed(one.called(name))
        if one.exists:
            sentences.append(f"What {who} call{_s(one, name)} {short} is {_ours(one.here)} here.")
        else:
            instead = f"; instead: {_ours(one.here)}" if one.here else ""
            sentences.append(
                f"Part 1 of the standard has no operator for what {who} call{_s(one, name)} "
                f"{short}{instead}."
            )
    return " ".join(sentences) or None


def _s(one: Meaning, name: str) -> str:
    return "s" if len(one.called(name)) == 1 else ""


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _short(name: str) -> str:
    name = name.strip()
    while _PREFIXES.match(name):
        name = _PREFIXES.sub("", name)
    return name


def _key(name: str) -> str:
    """Return what of a name counts: ONNX's and aclnn's are known by their capitals, or without."""
    return _short(name).lower()


def _ours(here: str) -> str:
    """Return a call with ``sz.`` before every function of ours."""
    return re.sub(r"(?<![\w.])([a-z]\w*)\(", r"sz.\1(", here)
