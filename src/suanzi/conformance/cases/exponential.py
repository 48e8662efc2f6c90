"""7.2.12: exponentials and logarithms."""

from __future__ import annotations

from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases

cases_of("exp", "expm1", "log", "log1p", "log10", "log2")(function_cases)
