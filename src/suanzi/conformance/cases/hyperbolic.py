"""7.2.11: hyperbolic functions and their inverses."""

from __future__ import annotations

from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases

cases_of("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")(function_cases)
