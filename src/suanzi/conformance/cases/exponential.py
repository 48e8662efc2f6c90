"""7.2.12: exponentials and logarithms."""

from __future__ import annotations

from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases, functions_of

cases_of(*functions_of("exponential"))(function_cases)
