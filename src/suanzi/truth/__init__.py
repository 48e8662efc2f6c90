"""The truth of operators: what the exact answer is, and how far a right kernel may be off.

``suanzi.truth.softmax(x, axis=-1)`` takes NumPy arrays, of ml_dtypes' dtypes too, and returns the
correctly rounded answer. `answer` returns it unrounded, with the bound that follows from the
arithmetic of the kernel. A definition is a function over `suanzi.truth.tracked` numbers; it shares
no code with any kernel.
"""

from __future__ import annotations

from collections.abc import Mapping

from suanzi._hints import nearest
from suanzi.status import InvalidArgument
from suanzi.truth.define import DEFINITIONS, Definition


def definitions() -> Mapping[str, Definition]:
    """Return all definitions by key."""
    from suanzi.truth import nn  # noqa: F401  it declares them

    return DEFINITIONS


def definition(key: str) -> Definition:
    """Return the definition of an operator by its key, ``nn:softmax``.

    >>> definition("nn:softmax").__name__
    'softmax'
    """
    known = definitions()
    if key not in known:
        hint = nearest(key, known)
        raise InvalidArgument(f"truth: {key!r} has no definition here.{hint}")
    return known[key]
