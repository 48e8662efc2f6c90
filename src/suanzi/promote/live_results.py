"""Asks an installed framework which dtypes its operators give, and compares suanzi's tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from suanzi.base.hints import nearest
from suanzi.base.status import InternalError, InvalidArgument
from suanzi.base.text import printable
from suanzi.promote.live import Compared, run_script
from suanzi.promote.results import Results, read_results, results

WITH_RESULTS = ("torch", "numpy", "jax", "paddle", "mindspore", "openvino")
"""The frameworks whose operators are asked for their results."""
_ASKER = Path(__file__).parent / "probes" / "ask_results.py"


@dataclass(frozen=True, repr=False)
class LiveResults(Compared):
    """What the operators of an installed framework give, compared with suanzi's tables."""

    framework: str
    texts: dict[str, str]
    """The tables as they were written, by rule set: JAX has two."""

    @cached_property
    def now(self) -> dict[str, Results]:
        """The tables of the installed framework."""
        return {name: read_results(text) for name, text in self.texts.items()}

    @property
    def text(self) -> str:
        """The tables as one text."""
        return "\n".join(self.texts.values())

    header = ("rules", "operator", "of", "suanzi", "live")

    @cached_property
    def differences(self) -> list[tuple[str, str, str, str, str]]:
        """What differs, by operator and column; a dash where one of the two gives none."""
        found = []
        for name, now in self.now.items():
            then = results(name)
            known = {} if then is None else then.cells
            for key in dict.fromkeys((*known, *now.cells)):
                here, there = known.get(key), now.cells.get(key)
                if here is not there:
                    row, column = key
                    found.append(
                        (name, row, str(column or "-"), str(here or "-"), str(there or "-"))
                    )
        return found

    def summary(self) -> str:
        """Return the counts in one sentence."""
        cells = sum(len(one.cells) for one in self.now.values())
        version = next(iter(self.now.values())).version
        return f"{self.framework} {version}: {cells} results, {self.differ()} from suanzi's tables"

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        return {
            "framework": self.framework,
            "versions": {name: one.version for name, one in self.now.items()},
            "results": sum(len(one.cells) for one in self.now.values()),
            "differences": [dict(zip(self.header, row, strict=True)) for row in self.differences],
        }


def ask_results(framework: str, python: str | None = None) -> LiveResults:
    """Ask the framework that is installed for an interpreter, this one by default."""
    if framework not in WITH_RESULTS:
        raise InvalidArgument(
            f"live: --results does not support {framework!r}; it supports "
            f"{', '.join(WITH_RESULTS)}.{nearest(framework, WITH_RESULTS)}"
        )
    done = run_script("live", framework, _ASKER, framework, python=python)
    parts = re.split(r"^suanzi-results (\S+)\n", done.stdout, flags=re.MULTILINE)
    if done.returncode or parts[-2:-1] != ["end"]:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InternalError(f"live: asking {framework} for its results failed: {printable(last)}")
    texts = dict(zip(parts[1:-2:2], parts[2:-2:2], strict=True))
    return LiveResults(framework, {name: text.rstrip() + "\n" for name, text in texts.items()})
