"""The tables of a GPU's speed, made from the file that benchmarks/accelerators.py writes."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import records
from docs_site.markdown import table
from docs_site.words import say

Row = dict[str, Any]

RESULTS = "accelerators-nvidia-h200"
LIBRARIES = ("suanzi", "torch", "torch.compile", "cupy", "jax")
GROUPS = {
    "calls": "call: ",
    "products": "attention|matmul",
    "models": "gather|embedding|scatter|gelu|silu|swiglu|cross_entropy",
    "rows": "(log_)?softmax|layer_norm|rms_norm|sum|(arg)?max|cumsum|transposing",
    "elements": "",
}
"""What the names of a table's rows begin with; the first that fits counts."""
PHRASES = {
    r"^copy (\w+)": "copy {}",
    r"^add a number (\w+)": "add a number {}",
    r"^add a row (\w+)": "add a row {}",
    r"^add transposed (\w+)": "add transposed {}",
    r"^cast (\w+) to (\w+)": "cast {} to {}",
    r"^transposing copy (\w+)": "transposing copy {}",
    r"^(\w+) along (\d) (\w+)": "{} along {} {}",
    r"^(\w+) of all (\w+)": "{} of all {}",
    r"^cumsum of 1 row (\w+)": "cumsum of 1 row {}",
    r"^(\w+) rows (\w+)": "{} rows {}",
    r"^(\w+), weighted (\w+)": "{}, weighted {}",
    r"^cross_entropy, ([\d,]+) classes (\w+)": "cross_entropy, {} classes {}",
    r"^attention (\w+), (\d+) tokens": "attention {}, {} tokens",
    r"^attention, causal (\w+), (\d+) tokens": "attention, causal {}, {} tokens",
    r", rows of (\d+)": ", rows of {}",
    r", (\d+) rows": ", {} rows",
}
"""The parts of names that are words."""
REASONS = {
    "tanh float16": "its result is compared with the middle of two numbers, and taken from a table "
    "of the CPU's results where it is near",
    "gelu float32": "results below 0 are within 2 ULP, too, where the 1 + erf(x) of PyTorch's "
    "cancels",
    "attention": "a weight of 16 bits is multiplied as the sum of two numbers, half as much again "
    "in all, as its bound asks for; and products wait for exponentials",
    "(gather|embedding)": "a copy in the order of indices; level within the noise of a run",
    "matmul": "cuBLAS's product for both",
}
"""Why rows are slower, by what their names begin with."""


@cache
def rows() -> dict[str, Row]:
    """Return the rows by name."""
    found: dict[str, Row] = records.read(RESULTS)["table"]
    return found


def group(name: str) -> str:
    """Return the table that a row is in."""
    return next(key for key, begins in GROUPS.items() if re.match(begins, name))


def ratio(row: Row) -> float | None:
    """Return how many times as fast as PyTorch suanzi is."""
    own, peer = row.get("suanzi"), row.get("torch")
    if own is None or peer is None:
        return None
    return float(peer / own if row["unit"] == "us" else own / peer)


def accelerators(which: str) -> str:
    """Return one of the tables, without the libraries that have no figures in it."""
    chosen = {name: row for name, row in rows().items() if group(name) == which}
    there = [one for one in LIBRARIES if any(one in row for row in chosen.values())]
    head = (say("call" if which == "calls" else "operator"), *there, "suanzi / torch")
    lines = []
    for name, row in chosen.items():
        found = ratio(row)
        cells = [_figure(name, one, row.get(one)) for one in there]
        lines.append((_said(name), *cells, "" if found is None else f"{found:.2f}"))
    return table(head, lines)


def behind() -> str:
    """Return what is more than 5 % slower than PyTorch's, one line for each reason."""
    found: dict[str, list[str]] = {}
    for name, row in rows().items():
        times = ratio(row)
        if times is not None and times < 1 / 1.05:
            why = next((say(w) for b, w in REASONS.items() if re.match(b, name)), None)
            why = why or say("not investigated")
            found.setdefault(why, []).append(f"{_said(name)} ({times:.2f})")
    comma = say(", ")
    return "\n".join(say("- {}: {}.", comma.join(names), why) for why, names in found.items())


def _said(name: str) -> str:
    """Return the name of a row in words."""
    if name.startswith("call: "):
        return f"`{name.removeprefix('call: ')}`"
    for pattern, words in PHRASES.items():
        name = re.sub(pattern, lambda found, words=words: say(words, *found.groups()), name)  # type: ignore[misc]
    return name


def _figure(name: str, library: str, value: float | str | None) -> str:
    """Return a figure; JAX has no int64 by default, so that fewer bytes move than are counted."""
    if value is None or (library == "jax" and "int64" in name):
        return ""
    return say("not compiled") if isinstance(value, str) else f"{value:#.3g}".rstrip(".")
