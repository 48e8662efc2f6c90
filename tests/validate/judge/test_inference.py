"""Kernels that sum in few bits: the verdict says in which, and from which length on."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import suanzi as sz

f32 = np.float32
Array = Any


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def total(x: Array, dtype: Any) -> Array:
    """The sum of the last axis, one after the other, in a dtype."""
    found = np.zeros(x.shape[:-1], dtype)
    for i in range(x.shape[-1]):
        found = (found.astype(f32) + x[..., i].astype(f32)).astype(dtype)
    return found[..., None].astype(f32)


def softmax(dtype: Any) -> Callable[..., Any]:
    def kernel(x: Array) -> Array:
        y = x.astype(f32)
        e = np.exp(y - y.max(-1, keepdims=True, initial=-np.inf))
        return (e / total(e, dtype)).astype(x.dtype)

    return kernel


def rms_norm(dtype: Any) -> Callable[..., Any]:
    def kernel(x: Array, weight: Array) -> Array:
        y = x.astype(f32)
        mean = total(y * y, dtype) / f32(x.shape[-1])
        return (y / np.sqrt(mean + f32(1e-5)) * weight.astype(f32)).astype(x.dtype)

    return kernel


def linear(dtype: Any) -> Callable[..., Any]:
    def kernel(x: Array, weight: Array) -> Array:
        products = x.astype(f32)[..., None, :] * weight.astype(f32)
        return total(products, dtype)[..., 0].astype(x.dtype)

    return kernel


KINDS = {"softmax": softmax, "rms_norm": rms_norm, "linear": linear}


@pytest.mark.parametrize("of", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", KINDS)
def test_sums_in_few_bits_are_named(op: str, of: str) -> None:
    kernel = KINDS[op](np.dtype(getattr(ml_dtypes, of, of)))
    verdict = sz.judge(kernel, op, dtypes="bfloat16")
    assert not verdict
    words = next(f.words for f in verdict.findings if f.code == "JD401")
    found = re.search(r"accumulation in (\w+), from n = (\d+) on.*accumulate=\"(\w+)\"", words)
    assert found is not None, words
    assert found[1] == found[3] == of
    assert 1 <= int(found[2]) <= 64
    declared = sz.judge(kernel, op, dtypes="bfloat16", accumulate=of)
    assert declared, f"{declared}"


@pytest.mark.parametrize("op", KINDS)
def test_sums_in_float32_are_right(op: str) -> None:
    verdict = sz.judge(KINDS[op](np.float32), op, dtypes="float32,bfloat16")
    assert verdict, f"{verdict}"


def test_another_mistake_is_not_called_an_accumulation() -> None:
    def shortened(x: Array, weight: Array) -> Array:
        """The last of every 128 addends is left out, which long sums hardly show."""
        y = x.astype(f32)
        kept = y * (np.arange(x.shape[-1]) % 128 != 127)
        mean = (kept * kept).mean(-1, keepdims=True)
        return (y / np.sqrt(mean + f32(1e-5)) * weight.astype(f32)).astype(x.dtype)

    verdict = sz.judge(shortened, "rms_norm", dtypes="float32")
    assert "JD404" in {f.code for f in verdict.findings}, f"{verdict}"
