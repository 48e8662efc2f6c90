"""7.2.11: hyperbolic functions and their inverses."""

from __future__ import annotations

from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases, functions_of

cases_of(*functions_of("hyperbolic"))(function_cases)
