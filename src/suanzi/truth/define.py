"""How an operator's definition is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Definition = Callable[..., Any]
F = TypeVar("F", bound=Definition)

DEFINITIONS: dict[str, Definition] = {}
PLAIN: dict[str, Definition] = {}
"""Truths on NumPy arrays, of operators that have no definition."""


def plain_truth(key: str) -> Callable[[F], F]:
    """Declare the truth of an operator as a function on NumPy arrays, rounded correctly."""

    def declare(function: F) -> F:
        PLAIN[key] = function
        return function

    return declare


def truth_of(*keys: str) -> Callable[[F], F]:
    """Declare the definition of operators by key, ``nn:softmax``.

    Its parameters are those of the operator: float tensors come as `Tracked`, tensors of integers
    and bool as NumPy arrays, everything else as given. It returns a `Tracked`, or a tuple of them.
    """

    def declare(function: F) -> F:
        for key in keys:
            DEFINITIONS[key] = function
        return function

    return declare
