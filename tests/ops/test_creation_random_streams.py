"""7.2.1.7 to .11: random words by their definition, and each number by the words it is made of."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import suanzi as sz
from helpers import functions
from suanzi import _core

SEED = 0x0123456789ABCDEF
UNIFORM, NORMAL, BERNOULLI, CHOICE, RING, PERMUTATION = range(6)
LOW = 2**32 - 1


def philox(key: int, counter: int) -> list[int]:
    """One block of Philox4x32-10 as Salmon et al. (2011) define it, in Python's integers."""
    x = [counter >> 32 * i & LOW for i in range(4)]
    k0, k1 = key & LOW, key >> 32
    for _ in range(10):
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [b >> 32 ^ x[1] ^ k0, b & LOW, a >> 32 ^ x[3] ^ k1, a & LOW]
        k0, k1 = (k0 + 0x9E3779B9) & LOW, (k1 + 0xBB67AE85) & LOW
    return x


def stream(purpose: int, blocks: int, seed: int = SEED) -> bytes:
    """The bytes of the first blocks of what a seed gives an operator."""
    words = [w for i in range(blocks) for w in philox(seed % 2**64, i | purpose << 64)]
    return np.array(words, np.uint32).tobytes()


def retry(purpose: int, index: int, attempt: int = 1) -> int:
    """The first 64 bits that an element takes where its own words are refused."""
    low, high, *_ = philox(SEED, index | (purpose + 256 * attempt) << 64)
    return low | high << 32


# ---- words ---------------------------------------------------------------------------------------

PI = [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0]
KNOWN = [  # the answers that the generator's authors publish
    ([0] * 6, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([LOW] * 6, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (PI, [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]),
]


@pytest.mark.parametrize(("asked", "known"), KNOWN)
def test_known_answers(asked: list[int], known: list[int]) -> None:
    c0, c1, c2, c3, k0, k1 = asked
    assert philox(k0 | k1 << 32, c0 | c1 << 32 | c2 << 64 | c3 << 96) == known
    for _ in functions.every_level():
        assert _core.random_words(k0 | k1 << 32, c0 | c1 << 32, c2, c3, 1) == known


@pytest.mark.parametrize("level", _core.levels())
@pytest.mark.parametrize("blocks", [1, 7, 8, 16, 31, 64, 129])
def test_words_whatever_is_computed_at_once(level: str, blocks: int) -> None:
    first = 2**32 - 20  # so that the counter carries
    expected = [w for i in range(blocks) for w in philox(SEED, first + i | 5 << 64 | 9 << 96)]
    with functions.at_level(level):
        assert _core.random_words(SEED, first, 5, 9, blocks) == expected


# ---- uniform -------------------------------------------------------------------------------------


def test_uniform_float32_by_its_words() -> None:
    words = np.frombuffer(stream(UNIFORM, 500), np.uint32)
    u = words.astype(np.float32) * np.float32(2.0**-32)
    assert (sz.rand_uniform((2000,), min=0, max=1, seed=SEED).numpy() == u).all()
    moved = u * np.float32(8) + np.float32(-3)
    assert (sz.rand_uniform((2000,), min=-3, max=5, seed=SEED).numpy() == moved).all()
    halves = np.minimum(u, np.float32(1 - 2.0**-11)).astype(np.float16)
    found = sz.rand_uniform((2000,), sz.float16, min=0, max=1, seed=SEED)
    assert (found.numpy() == halves).all()
    z = sz.rand_uniform((1000,), sz.complex64, min=1 - 2j, max=3 + 6j, seed=SEED).numpy()
    assert (z.real == u[::2] * np.float32(2) + np.float32(1)).all()
    assert (z.imag == u[1::2] * np.float32(8) + np.float32(-2)).all()


def test_uniform_float64_by_its_words() -> None:
    words = np.frombuffer(stream(UNIFORM, 500), np.uint64)
    u = words.astype(np.float64) * 2.0**-64
    found = sz.rand_uniform((1000,), sz.float64, min=0, max=1, seed=SEED).numpy()
    assert (found == u).all()
    top = np.finfo(np.float64).max
    wide = (1 - u) * -top + u * top  # whose width is no number
    assert (sz.rand_uniform((1000,), sz.float64, seed=SEED).numpy() == wide).all()


@pytest.mark.parametrize("fast", [True, False])
def test_the_fast_path_gives_the_same(fast: bool) -> None:
    """A layout is left to Python."""
    given: dict[str, Any] = {} if fast else {"layout": (0,)}
    for dt in (sz.float32, sz.float64):
        for low, high in ((0, 1), (-2.5, 0), (0, 5e-324), (1, 1), (0.1, 0.3)):
            found = sz.rand_uniform((50,), dt, min=low, max=high, seed=3, **given)
            plain = sz.rand_uniform((50,), dt, "cpu", low, high, 3)
            assert found.tolist() == plain.tolist()
        for mean, std in ((0, 1), (0.1, 3), (1e308, 1e308)):
            drawn = sz.rand_normal((50,), dt, mean=mean, std=std, seed=3, **given)
            assert drawn.tolist() == sz.rand_normal((50,), dt, "cpu", mean, std, 3).tolist()


@pytest.mark.parametrize(
    ("dtype", "low", "high", "word"),
    [
        (sz.int8, None, None, 1), (sz.uint8, 3, 10, 1), (sz.bool, None, None, 1),
        (sz.int16, -1, 2**12 - 2, 2), (sz.int64, 5, 2**31 + 4, 4), (sz.int64, None, None, 8),
        (sz.int8, -5, 0, 2), (sz.int8, -128, 126, 2), (sz.uint64, 0, 254, 2),
        (sz.int32, 0, 65534, 4), (sz.uint16, 7, 1006, 4),
        (sz.int32, -(2**31), 2**31 - 2, 8), (sz.uint64, 0, 2**64 - 2, 8),
        (sz.int64, -1, 2**63 - 1, 8), (sz.int64, -(2**62), 2**62, 8),
    ],
)  # fmt: skip
def test_integers_by_their_words(dtype: sz.DType, low: Any, high: Any, word: int) -> None:
    n = 1000
    bounds = {} if low is None else {"min": low, "max": high}
    if low is None:
        low, high = (0, 1) if dtype is sz.bool else (sz.iinfo(dtype).min, sz.iinfo(dtype).max)
    count, bits = high - low + 1, 8 * word
    words = np.frombuffer(stream(UNIFORM, n * word // 16 + 1), f"u{word}")[:n]
    expected = []
    for i, w in enumerate(int(w) for w in words):
        if count & (count - 1) == 0:
            expected.append(low + w % count)
            continue
        attempt = 0
        while w * count % 2**bits < 2**bits % count:  # one result would have one word more
            attempt += 1
            w = retry(UNIFORM, i, attempt) % 2**bits
        expected.append(low + (w * count >> bits))
    found = sz.rand_uniform((n,), dtype, seed=SEED, **bounds).tolist()
    assert found == expected


# ---- normal --------------------------------------------------------------------------------------


def normal_below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def check_counts(values: Any, edges: list[float]) -> None:
    """Each count within five deviations of what is expected, and chi-square with them."""
    share = np.diff([0.0, *(normal_below(e) for e in edges), 1.0])
    counts = np.histogram(values, [-np.inf, *edges, np.inf])[0]
    wanted = share * values.size
    assert (np.abs(counts - wanted) <= 5 * np.sqrt(wanted * (1 - share)) + 1).all()
    freedom = len(counts) - 1
    chi = ((counts - wanted) ** 2 / wanted).sum()
    assert abs(chi - freedom) <= 5 * math.sqrt(2 * freedom), chi


def test_normal_numbers_in_many_bins_and_in_the_tails() -> None:
    values = sz.rand_normal((4_000_000,), sz.float64, seed=5).numpy()
    check_counts(values, np.linspace(-3.5, 3.5, 701).tolist())
    check_counts(values, [-4.5, -4.2, -4, -3.8, -3.6541528853610088, 3.6541528853610088, 3.8, 4.2])
    # The uppermost layers are the narrowest, and the wedges of all are where the work is.
    check_counts(values, np.linspace(-0.3, 0.3, 301).tolist())
    assert np.abs(values).max() > 4.8
    assert len(np.unique(values)) > 3_999_990


def test_normal_words_inside_a_layer() -> None:
    """Most numbers are a product of 53 bits of the word and the width of one of 256 layers."""
    words = [int(w) for w in np.frombuffer(stream(NORMAL, 2000), np.uint64)]
    found = sz.rand_normal((4000,), sz.float64, seed=SEED).tolist()
    widths: dict[int, list[Fraction]] = {}
    for w, x in zip(words, found, strict=True):
        if w >> 11:
            widths.setdefault(w & 255, []).append(abs(Fraction(x)) / (w >> 11))
    common = {}
    for layer, ratios in widths.items():
        ratios.sort()
        middle = ratios[len(ratios) // 2]
        common[layer] = middle
        near = sum(abs(r / middle - 1) < 2**-50 for r in ratios)
        assert near >= 0.6 * len(ratios), layer
    assert len(common) == 256
    ordered = [common[i] for i in range(1, 256)]
    assert ordered == sorted(ordered, reverse=True)  # from the widest, at the bottom, to the top
    signs = sum((x < 0) == bool(w & 256) for w, x in zip(words, found, strict=True))
    assert signs > 3980


def test_normal_numbers_are_those_of_float64_rounded() -> None:
    wide = sz.rand_normal((3000,), sz.float64, mean=1, std=2, seed=7)
    for dt in (sz.float32, sz.float16, sz.bfloat16, sz.float8_e5m2):
        narrow = sz.rand_normal((3000,), dt, mean=1, std=2, seed=7)
        assert narrow.tolist() == sz.cast(wide, dt).tolist()


# ---- the others ----------------------------------------------------------------------------------


def test_bernoulli_by_its_words() -> None:
    words = np.frombuffer(stream(BERNOULLI, 100), np.uint32)
    exactly = [Fraction(int(w), 2**32) for w in words]
    ends = [float(u) for u in exactly]
    beyond = [math.nextafter(e, 2) for e in ends]  # 32 bits do not tell
    for chances in (ends, beyond, [0.0] * 400, [1.0] * 400, [0.5] * 400):
        found = sz.rand_bernoulli(sz.tensor(chances, sz.float64), seed=SEED).tolist()
        for i, (u, p) in enumerate(zip(exactly, chances, strict=True)):
            rest = Fraction(p) * 2**32 - u * 2**32
            tie = Fraction(float(retry(BERNOULLI, i)) / 2**64)
            assert found[i] == (rest >= 1 or (rest > 0 and tie < rest)), (i, p)


def test_choices_by_their_words() -> None:
    words = np.frombuffer(stream(CHOICE, 150), np.uint64)
    u = words.astype(np.float64) * 2.0**-64
    for weights in ([0.0, 1, 2, 0, 5, 0.5, 0], [3.0], [1.0, 1], list(range(1, 101))):
        w = np.array(weights, float)
        ends = np.cumsum(w / w.max())
        expected = np.searchsorted(ends, u * ends[-1], side="right").reshape(3, 100)
        found = sz.multinomial(np.tile(w, (3, 1)), 100, seed=SEED).numpy()
        assert (found == expected).all()


def test_permutations_by_their_words() -> None:
    words = np.frombuffer(stream(PERMUTATION, 1000), np.uint64)
    expected = list(range(2000))
    for i, w in enumerate(words):
        j = int(w) * (i + 1) >> 64  # none of these is refused
        expected[i], expected[j] = expected[j], expected[i]
    for dt in (sz.int16, sz.int32, sz.int64, sz.float64, sz.complex128):
        found = sz.randperm(2000, dt, seed=SEED).numpy().real
        assert found.tolist() == expected
    short = [v for v in expected if v < 100]
    assert sorted(sz.randperm(100, sz.int8, seed=SEED).tolist()) == sorted(short)


@pytest.mark.parametrize("level", _core.levels())
def test_every_level_draws_the_same(level: str) -> None:
    def drawn() -> list[list[Any]]:
        half = sz.full(shape=(5000,), value=0.3)
        return [
            sz.rand_uniform((5000,), min=-1, max=7, seed=5).tolist(),
            sz.rand_uniform((5000,), sz.float64, min=-1, max=7, seed=5).tolist(),
            sz.rand_uniform((5000,), sz.float32, seed=5).tolist(),
            sz.rand_uniform((5000,), sz.int16, min=-3, max=999, seed=5).tolist(),
            sz.rand_normal((50_000,), sz.float64, seed=5).tolist(),
            sz.rand_normal((5000,), sz.complex32, mean=1j, seed=5).tolist(),
            sz.rand_bernoulli(half, seed=5).tolist(),
            sz.multinomial(np.arange(9.0), 7, False, seed=5).tolist(),
            sz.randperm(3000, seed=5).tolist(),
        ]

    with functions.at_level("baseline"):
        expected = drawn()
    with functions.at_level(level):
        assert drawn() == expected


def test_threads_change_nothing() -> None:
    with functions.threads(1):
        one = [sz.rand_normal((300_001,), sz.float64, seed=9), sz.randperm(200_000, seed=9)]
        one.append(sz.rand_uniform((300_001,), sz.int8, min=0, max=98, seed=9))
    for count in (2, 3, 7):
        with functions.threads(count):
            many = [sz.rand_normal((300_001,), sz.float64, seed=9), sz.randperm(200_000, seed=9)]
            many.append(sz.rand_uniform((300_001,), sz.int8, min=0, max=98, seed=9))
        for a, b in zip(one, many, strict=True):
            assert functions.same_bits(a.numpy(), b.numpy())
