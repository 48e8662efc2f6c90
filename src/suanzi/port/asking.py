"""Lists the dtypes that an installed framework takes, and the differences from suanzi's list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.base.hints import nearest
from suanzi.base.status import InternalError, InvalidArgument
from suanzi.base.text import printable
from suanzi.port.support import Support, read_support, support
from suanzi.promote.live import Compared, run_script

FRAMEWORKS = ("paddle", "mindspore", "openvino")
_ASKER = Path(__file__).parent / "probes" / "ask_dtypes.py"


@dataclass(frozen=True, repr=False)
class Asked(Compared):
    """Which dtypes the operators of an installed framework take, compared with suanzi's list."""

    framework: str
    text: str
    """The list, as ``suanzi.port.dtypes`` has them."""

    @cached_property
    def now(self) -> Support:
        """The list of the installed framework."""
        return read_support(self.framework, self.text)

    @property
    def then(self) -> Support:
        """suanzi's list."""
        found = support(self.framework)
        assert found is not None
        return found

    header = ("operator", "on", "taken now", "no longer")

    @cached_property
    def differences(self) -> list[tuple[str, str, str, str]]:
        """What differs, by operator and chip; a dash for an operator that one of them lacks."""
        found = []
        for name, place in sorted({*self.now.taken, *self.then.taken}):
            now = self.now.taken.get((name, place), {})
            then = self.then.taken.get((name, place), {})
            for chip in sorted({*now, *then}) if place == 0 else ():
                here, there = now.get(chip, frozenset()), then.get(chip, frozenset())
                if here != there:
                    found.append((name, chip, _names(here - there), _names(there - here)))
        return found

    def summary(self) -> str:
        """Return the counts in one sentence."""
        asked, differ = len(self.now.places), f"{self.differ()} from the list of suanzi"
        return f"{self.now.sources[0]}: {asked} operators, {differ} ({self.then.sources[0]})"

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain data."""
        return {
            "framework": self.framework,
            "source": self.now.sources[0],
            "list": self.then.sources[0],
            "operators": len(self.now.places),
            "differences": [
                dict(zip(("operator", "on", "new", "gone"), row, strict=True))
                for row in self.differences
            ],
        }


def ask_dtypes(framework: str, python: str | None = None) -> Asked:
    """Ask the framework that is installed for an interpreter, this one by default."""
    if framework not in FRAMEWORKS:
        raise InvalidArgument(
            f"live: --dtypes does not support {framework!r}; it supports {', '.join(FRAMEWORKS)}."
            f"{nearest(framework, FRAMEWORKS)}"
        )
    done = run_script("live", framework, _ASKER, framework, python=python)
    start = done.stdout.find("# Which dtypes")
    if done.returncode or start < 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise InternalError(f"live: asking {framework} for its dtypes failed: {printable(last)}")
    return Asked(framework, done.stdout[start:])


def _names(dtypes: frozenset[DType]) -> str:
    found = sorted(dtypes, key=lambda dt: (dt.kind, dt.bits))
    return ", ".join(dt.name for dt in found) or "-"


def live_questions(
    dtypes: bool, results: bool, differences: bool
) -> Callable[[str, str | None], Any]:
    """Return what asks an installed framework the question of an option; dtypes by default."""
    from suanzi.port.differences import ask_differences
    from suanzi.promote.live_results import ask_results

    if dtypes + results + differences > 1:
        raise InvalidArgument("live: give one of --dtypes, --results and --differences.")
    return ask_differences if differences else ask_results if results else ask_dtypes
