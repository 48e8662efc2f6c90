"""7.2.10: trigonometric functions and their inverses."""

from __future__ import annotations

from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases

cases_of("sin", "cos", "tan", "asin", "acos", "atan")(function_cases)
