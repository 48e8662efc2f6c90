"""Accuracy criteria of others as data: who accepts which output, and what each lets through.

Every project has its own rule for "close enough". Each rule is a small TOML file with its source
(`standards/`), read by one engine, so that an output can be shown to all of them:

>>> import numpy as np
>>> zeros, softmax = np.zeros(100), np.full(100, 0.01)
>>> bool(accepts("ttk", zeros, softmax, dtype="bf16"))
True
>>> bool(accepts("assert-close", zeros, softmax, dtype="bf16"))
False
"""

from __future__ import annotations

from suanzi.validate.criteria.diff import Diff, diff
from suanzi.validate.criteria.engine import Ruling, accepts
from suanzi.validate.criteria.holes import Holes, holes
from suanzi.validate.criteria.reading import Criterion, criterion, every, names

__all__ = [
    "Criterion", "Diff", "Holes", "Ruling", "accepts", "criterion", "diff", "every", "holes",
    "names",
]  # fmt: skip
