"""Sums of products by the letters of their axes, which the array API does not have.

>>> a = xp.reshape(xp.arange(6, dtype=xp.bfloat16), (2, 3))
>>> xp.einsum("ij,kj->ik", a, a)
Tensor([[ 5, 14],
        [14, 50]], dtype=bfloat16)
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from functools import lru_cache

from suanzi import _core
from suanzi.base.dtypes import DType, widened
from suanzi.base.hints import shown
from suanzi.base.status import DimensionsMismatch, InvalidArgument
from suanzi.faces.array_api.along import in_bytes
from suanzi.faces.array_api.arguments import NUMERIC, array_argument, promoted
from suanzi.faces.array_api.declare import function
from suanzi.faces.array_api.linear_algebra_functions import product
from suanzi.ops.reduction_modes import ReduceMode
from suanzi.tensors.parts import converted, permuted
from suanzi.tensors.tensor import Tensor

__all__ = ["einsum"]

Term = tuple[Tensor, str]
"""A tensor, and a letter for each of its axes."""


@function
def einsum(subscripts: str, /, *operands: Tensor) -> Tensor:
    """Return the sums of products of elements whose letters agree.

    ``"ij,jk->ik"`` is a product of matrices. A letter that is not behind the arrow is summed over;
    without an arrow, letters that are there once stay, in the order of the alphabet. ``...`` stands
    for axes that are broadcast. A letter twice in a term is its diagonal. Products are made from
    left to right, those of 16-bit floats in float32, and rounded once.
    """
    if not operands:
        raise InvalidArgument("einsum: there is no operand; give a tensor for each term.")
    arrays = [array_argument("einsum", f"operand {i}", x, NUMERIC) for i, x in enumerate(operands)]
    if not isinstance(subscripts, str):
        raise InvalidArgument(
            f'einsum: subscripts is {shown(subscripts)}; it must be text such as "ij,jk->ik".'
        )
    inputs, output = _parsed(subscripts, tuple(x.ndim for x in arrays))
    dt = promoted("einsum", *(x.dtype for x in arrays))
    wide = widened(dt) if dt.exponent_bits and len(arrays) > 1 else dt
    if dt.bits < 8:  # a whole byte wraps as int4 does, and more
        arrays = [in_bytes(converted(x, dt)) for x in arrays]
        wide = arrays[0].dtype
    sizes = _sizes(inputs, arrays)
    terms = [_diagonal(x, letters) for x, letters in zip(arrays, inputs, strict=True)]
    first = terms.pop(0)
    while terms:
        later = set(output).union(*(letters for _, letters in terms[1:]))
        first = _met(first, terms.pop(0), later, wide, sizes)
    x, letters = _summed(first, set(output), wide)
    made = permuted(x, tuple(letters.index(letter) for letter in output))
    own = made.dtype is dt and made.storage == operands[0].storage
    return _core.row_major_copy(made) if own else converted(made, dt)


# ---- letters ------------------------------------------------------------------------------------


@lru_cache
def _parsed(subscripts: str, axes: tuple[int, ...]) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result; axes of ``...`` get letters, too."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(axes):
        raise InvalidArgument(
            f"einsum: subscripts {subscripts!r} has {len(inputs)} terms, and there are "
            f"{len(axes)} operands."
        )
    used = set(left + right) - set(".,")
    wrong = sorted(used - set(string.ascii_letters))
    terms = [*inputs, right]
    if wrong or any(t.replace("...", "", 1).count(".") for t in terms) or "," in right:
        raise InvalidArgument(
            f"einsum: subscripts is {subscripts!r}; terms have letters and at most one '...', and "
            "are separated by commas."
        )
    spare = list(map(chr, range(0x4E00, 0x4E00 + 64)))
    longest = 0
    found = []
    for i, (term, ndim) in enumerate(zip(inputs, axes, strict=True)):
        named = len(term.replace("...", ""))
        rest = ndim - named
        if rest < 0 or (rest and "..." not in term):
            raise DimensionsMismatch(
                f"einsum: term {term!r} names {named} axes, and operand {i} has {ndim}."
            )
        longest = max(longest, rest)
        found.append(term.replace("...", "".join(spare[64 - rest :])))
    whole = "".join(spare[64 - longest :])
    if not arrow:
        letters = sorted(set(left) - set(".,"))
        right = "..." + "".join(letter for letter in letters if left.count(letter) == 1)
    elif longest and "..." not in right:
        raise InvalidArgument(
            f"einsum: subscripts is {subscripts!r}, and what '...' stands for must be in the "
            "result, too; sum it first, or name its axes."
        )
    right = right.replace("...", whole)
    if len(set(right)) < len(right) or set(right) - set("".join(found)):
        raise InvalidArgument(
            f"einsum: subscripts is {subscripts!r}; each letter may stand once after the arrow, "
            "and in a term before it."
        )
    return found, right


def _sizes(inputs: Sequence[str], arrays: Sequence[Tensor]) -> dict[str, int]:
    """Return the size of each letter; 1 goes with any other."""
    found: dict[str, int] = {}
    for i, (letters, x) in enumerate(zip(inputs, arrays, strict=True)):
        for letter, n in zip(letters, x.shape, strict=True):
            known = found.get(letter, 1)
            if known != n and 1 not in (known, n):
                raise DimensionsMismatch(
                    f"einsum: {letter!r} has size {known} before, and {n} in operand {i}."
                )
            found[letter] = n if known == 1 else known
    return found


# ---- terms --------------------------------------------------------------------------------------


def _diagonal(x: Tensor, letters: str) -> Term:
    """Return a view with each letter once."""
    kept = "".join(dict.fromkeys(letters))
    if kept == letters:
        return x, letters
    shape, strides = [], []
    for letter in kept:
        places = [i for i, one in enumerate(letters) if one == letter]
        sizes = [x.shape[i] for i in places]
        shape.append(next((n for n in sizes if n != 1), 1))
        strides.append(sum(x.strides[i] for i in places if x.shape[i] > 1))
    return _core.view(x, x.offset, shape, strides), kept


def _summed(term: Term, kept: set[str], wide: DType) -> Term:
    """Return a term summed over the letters that are no longer needed."""
    x, letters = term
    gone = tuple(i for i, letter in enumerate(letters) if letter not in kept)
    if not gone:
        return term
    rest = "".join(letter for letter in letters if letter in kept)
    if not x.size:
        shape = [n for i, n in enumerate(x.shape) if i not in gone]
        return _core.full(shape, wide, 0), rest
    whole = _core.cast(x, wide, False) if x.dtype is not wide else x
    return _core.reduce(whole, int(ReduceMode.SUM), gone, False), rest


def _met(one: Term, other: Term, later: set[str], wide: DType, sizes: dict[str, int]) -> Term:
    """Return the product of two terms, summed over what no later term and no result has."""
    one = _summed(one, later | set(other[1]), wide)
    other = _summed(other, later | set(one[1]), wide)
    both = [letter for letter in one[1] if letter in other[1]]
    inner = [letter for letter in both if letter not in later]
    batch = [letter for letter in both if letter in later]
    left = [letter for letter in one[1] if letter not in both]
    right = [letter for letter in other[1] if letter not in both]

    def matrix(term: Term, rows: list[str], columns: list[str]) -> Tensor:
        order = [*batch, *rows, *columns]
        x = permuted(term[0], tuple(term[1].index(letter) for letter in order))
        full = [sizes[letter] if letter in both else x.shape[i] for i, letter in enumerate(order)]
        strides = [0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True)]
        x = _core.view(x, x.offset, full, strides)
        if len(rows) == len(columns) == 1:
            return x
        count = len(batch), len(batch) + len(rows)
        return x.reshape(
            (*full[: count[0]], math.prod(full[count[0] : count[1]]), math.prod(full[count[1] :]))
        )

    made = product("einsum", matrix(one, left, inner), matrix(other, inner, right), wide)
    shapes = [dict(zip(letters, x.shape, strict=True)) for x, letters in (one, other)]
    shape = [
        *(sizes[letter] for letter in batch),
        *(shapes[0][letter] for letter in left),
        *(shapes[1][letter] for letter in right),
    ]
    return made.reshape(tuple(shape)), "".join([*batch, *left, *right])
