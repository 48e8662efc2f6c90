"""7.2.1.9 to .11: what must hold of random choices: of zeros and ones, of indices, of an order.

How seldom a right generator is found wrong, :mod:`suanzi.conformance.judging.checks.random` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from suanzi.conformance.judging.checks import check
from suanzi.conformance.judging.checks.examples import form
from suanzi.conformance.judging.checks.random import SHUFFLED, Arguments, Facts, beyond
from suanzi.conformance.judging.judge import show
from suanzi.conformance.model.data import values


@check
def same_or_not(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Pairs in `same` are the same tensor; no two others are."""
    for i, j in combinations(range(len(outputs)), 2):
        alike = outputs[i] == outputs[j]
        if alike != ([i, j] in facts["same"]):
            word = "differ" if not alike else "are the same"
            return f"the results of calls {i + 1} and {j + 1} {word}"
    return None


@check
def bernoulli(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Rows of 0 and 1, where each row has its chance in `chances`."""
    problem = form(outputs[0], facts)
    if problem:
        return problem
    found = [_whole(x) for x in values(outputs[0])]
    both = zip(values(outputs[0]), found, strict=True)
    strange = next((x for x, whole in both if whole not in (0, 1)), None)
    if strange is not None:
        return f"{show(strange)} is neither 0 nor 1"
    chances = [Fraction(c) for c in facts["chances"]]
    length = len(found) // len(chances)
    for i, chance in enumerate(chances):
        row = found[i * length : (i + 1) * length]
        ones = sum(x == 1 for x in row)
        if (chance == 0 and ones) or (chance == 1 and ones < length):
            return f"a probability of {chance} gave {ones} of {length}"
        if length and beyond(Fraction(ones, length), chance, Fraction(1), length, Fraction(0)):
            return f"{ones} of {length}, where the probability is {float(chance)}"
    return None


def _whole(x: Any) -> int | None:
    """Return a value as an integer, if it is one."""
    if isinstance(x, tuple):
        return _whole(x[0]) if x[1].is_zero else None
    if isinstance(x, int):
        return x
    if x.is_nan or x.size is None or x.value.denominator != 1:
        return None
    return int(x.value)


@check
def multinomial(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Rows of indices, each drawn by its own of `weights`; the first of each row if only once."""
    problem = form(outputs[0], facts)
    if problem:
        return problem
    found = [-1 if (n := _whole(x)) is None else n for x in values(outputs[0])]
    rows = facts["weights"]
    length = len(found) // len(rows) if rows else 0
    first: list[int] = []
    for i, weights in enumerate(rows):
        row = found[i * length : (i + 1) * length]
        wrong = next((x for x in row if not 0 <= x < len(weights) or not weights[x]), None)
        if wrong is not None:
            return f"{wrong} is not an index with a weight"
        if facts["replacement"]:
            problem = _frequencies(row, weights)
            if problem:
                return problem
        elif len(set(row)) < len(row):
            return f"{row} has an index twice"
        first += row[:1]
    if not facts["replacement"] and len(first) >= 100:
        return _frequencies(first, rows[0])  # which are then all the same
    return None


def _frequencies(drawn: Sequence[int], weights: Sequence[int]) -> str | None:
    counts, total = Counter(drawn), sum(weights)
    for index, weight in enumerate(weights):
        chance, share = Fraction(weight, total), Fraction(counts[index], len(drawn))
        if beyond(share, chance, Fraction(1), len(drawn), Fraction(0)):
            return f"{index} is drawn in {float(share):.3f}, not about {float(chance):.3f}"
    return None


@check
def permutation(arguments: Arguments, outputs: Sequence[Any], facts: Facts) -> str | None:
    """Every number from 0 on once, neither in order nor one step after another."""
    problem = form(outputs[0], facts)
    if problem:
        return problem
    found = [_whole(x) for x in values(outputs[0])]
    numbers = [x for x in found if x is not None]
    if len(numbers) < len(found) or sorted(numbers) != list(range(len(found))):
        return f"the numbers from 0 to {len(found) - 1} do not occur once each"
    if len(found) >= SHUFFLED and numbers in (sorted(numbers), sorted(numbers, reverse=True)):
        return "the numbers are in order"
    # One step is taken about once, and so often once in 20! times, for each of the steps.
    steps = Counter((b - a) % len(numbers) for a, b in pairwise(numbers))
    step, times = steps.most_common(1)[0] if steps else (0, 0)
    if times >= SHUFFLED:
        return f"{times} of the numbers are followed by one larger by {step}"
    return None
