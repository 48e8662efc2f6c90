"""The helpers that judge moved elements raise for wrong ones."""

from __future__ import annotations

import pytest

import suanzi as sz
from helpers.moves import ALL, laid_out, nothing_made, raw, refused, same


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_other_bytes_are_seen(dtype: sz.DType) -> None:
    x = laid_out((2, 3), dtype, (0, 1), [2, -1])
    same(x, raw(x).copy())
    wrong = raw(x).copy()
    wrong[1, 2, -1] ^= 1
    for other in (wrong, raw(x)[:1], raw(x).transpose(1, 0, 2), raw(x)[::-1]):
        with pytest.raises(AssertionError):
            same(x, other)


def test_a_call_that_is_not_refused_is_seen() -> None:
    x = sz.tensor([1, 2])
    refused(sz.InvalidArgument, "reshape", x, None)
    for error, arguments, match in (
        (sz.InvalidArgument, (x, (2,)), ""),
        (sz.InvalidArgument, (x, (3,)), ""),
        (sz.DimensionsMismatch, (x, (3,)), "no such words"),
    ):
        with pytest.raises(AssertionError):
            refused(error, "reshape", *arguments, match=match)


def test_what_is_made_is_seen() -> None:
    kept = []
    with pytest.raises(AssertionError), nothing_made():
        kept.append(sz.tensor([1]))
