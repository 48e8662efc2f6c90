"""What can be wrong with a kernel, by code; docs/en/reference/judge-findings.md explains each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CODES: Mapping[str, str] = {
    "JD001": "raises an error",
    "JD002": "ends the process",
    "JD003": "does not end in time",
    "JD004": "loses the device",
    "JD101": "wrong number of results",
    "JD102": "does not return a tensor",
    "JD103": "wrong dtype or shape",
    "JD104": "changes its input",
    "JD105": "result on another device",
    "JD106": "result that may compute later",
    "JD107": "result in the memory of an input",
    "JD108": "expanded result",
    "JD109": "result of an earlier call",
    "JD110": "no gradient",
    "JD201": "zeros",
    "JD202": "part of the result is not written",
    "JD203": "rows are not written",
    "JD204": "returns its input",
    "JD205": "elements at other positions",
    "JD206": "constant rows",
    "JD207": "wrong at the edge of a tile",
    "JD301": "overflows",
    "JD302": "NaN spreads to other rows",
    "JD303": "special values are lost",
    "JD401": "computed in a lower precision",
    "JD402": "off by a factor",
    "JD403": "off by a constant",
    "JD404": "wrong numbers",
    "JD501": "another result for the same call",
    "JD502": "result depends on the batch",
    "JD503": "does not take a dtype",
    "JD504": "does not take empty tensors",
    "JD505": "does not take all shapes",
    "JD506": "not judged to the end",
}
"""Findings by code: 0 the call, 1 the result as an object, 2 positions, 3 special values,
4 numbers, 5 notes, which make no kernel wrong."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, in words for who has to fix it."""

    code: str
    words: str
    case: str = ""
    """The id of the smallest case that shows it."""

    @property
    def is_note(self) -> bool:
        """Whether it makes no kernel wrong by itself."""
        return self.code.startswith("JD5")

    @property
    def title(self) -> str:
        """What the code stands for."""
        return CODES[self.code]

    def __str__(self) -> str:
        return f"{self.code} {self.title}: {self.words}"
