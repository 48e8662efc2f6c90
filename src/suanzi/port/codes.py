"""The codes of findings, each with what it means; docs/porting/findings.md explains them."""

from __future__ import annotations

from typing import Literal

Code = Literal["SZ001", "SZ002", "SZ003", "SZ004", "SZ005", "SZ006", "SZ007"]

CODES: dict[Code, str] = {
    "SZ001": "the result has another dtype",
    "SZ002": "the operands are refused",
    "SZ003": "values are lost that were kept",
    "SZ004": "the operator lacks the dtype",
    "SZ005": "the result is silently wider",
    "SZ006": "a number is out of range",
    "SZ007": "what is written in place gets another dtype",
}
PAGE = "docs/porting/findings.md"
