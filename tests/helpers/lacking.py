"""What the oldest NumPy and ml_dtypes that are allowed cannot do, and later ones can."""

from __future__ import annotations

import re

import ml_dtypes

LACKING = [rf"\b{name}\b" for name in ("uint1", "complex32") if not hasattr(ml_dtypes, name)]
LACKING += ["Cannot export readonly array", "maximum supported dimension for an ndarray is 32"]


def lacks(refused: BaseException) -> bool:
    """Tell whether a dependency is too old for a test, as it says itself."""
    kinds = (BufferError, TypeError, ValueError)
    return isinstance(refused, kinds) and bool(re.search("|".join(LACKING), str(refused)))
