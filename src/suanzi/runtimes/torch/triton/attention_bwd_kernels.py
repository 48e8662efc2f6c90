"""Kernels of the gradients of attention: scores are computed anew, block by block, and not stored.

Three passes, each of which adds up in one order: the sums of every row; then the gradients of
queries, along keys; then those of keys and values, along queries. Sums are float32, and what 16
bits are multiplied by is the sum of two numbers of their dtype, as in `attention_kernels.py`.
"""

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.attention_kernels import (
    LOG2E,
    NONE,
    masked,
    plus,
    put,
    seen,
    share,
    shrink,
    span,
    tanh,
    tile,
    weighted,
    wide,
)
from suanzi.runtimes.torch.triton.conversions import INTERPRETED, bits, floats, from_bf16, to_bf16


@triton.jit
def largest(x):
    """The largest of each row."""
    # NumPy, which interprets, warns of a row of NaN alone.
    return tl.max(tl.where(x == x, x, float("-inf")) if INTERPRETED else x, 1)


@triton.jit
def scaled(acc, x, v, HOW: tl.constexpr, APART: tl.constexpr):
    """acc and x v, for x of any size."""
    if v.dtype == tl.float32:
        return acc + plus(tl.zeros_like(acc), x, v, HOW) if APART else plus(acc, x, v, HOW)
    elif v.dtype == tl.float16:  # rows are brought to its range by powers of 2
        size = (bits(tl.maximum(largest(tl.abs(x)), 0.0)) >> 23) & 255
        shift = tl.minimum(141 - size, 126)
        up, down = floats((shift + 127) << 23), floats((127 - shift) << 23)
        x = x * up[:, None]
        high = x.to(tl.float16)
        low = ((x - high.to(tl.float32)) * 2048.0).to(tl.float16)
        none = tl.zeros_like(acc)
        both = tl.fma(plus(none, low, v, HOW), 1.0 / 2048, plus(none, high, v, HOW))
        return tl.fma(both, down[:, None], acc)
    else:
        high = to_bf16(x)
        low = to_bf16(x - from_bf16(high))
        if APART:
            return acc + plus(plus(tl.zeros_like(acc), low, v, HOW), high, v, HOW)
        else:
            return plus(plus(acc, low, v, HOW), high, v, HOW)


@triton.jit
def shared_out(acc, p, v, HOW: tl.constexpr, APART: tl.constexpr):
    """acc and p v, for weights p."""
    if APART:
        return acc + weighted(tl.zeros_like(acc), p, v, HOW)
    else:
        return weighted(acc, p, v, HOW)


@triton.jit
def scored(a, b, scale, cap, inverse, PLAIN: tl.constexpr, CAPPED: tl.constexpr,
           HOW: tl.constexpr):  # fmt: skip
    """a b^T, scaled and capped unless PLAIN, and the slope of the cap."""
    s = plus(tl.zeros((a.shape[0], b.shape[0]), tl.float32), a, tl.trans(b), HOW)
    if not PLAIN:
        s = s * scale
    if CAPPED:
        t = tanh(s * inverse)
        return cap * t, (1.0 - t) * (1.0 + t)
    else:
        return s, s


@triton.jit
def added(s, of_weights, found, top, total, mean, factor, PLAIN: tl.constexpr,
          SOME: tl.constexpr):  # fmt: skip
    """The largest score of rows, the sum of exponentials, and that of their products."""
    new = tl.maximum(top, largest(s) * factor if PLAIN else largest(s))
    base = tl.where(new == float("-inf"), 0.0, new)
    e = share(s, base[:, None], factor, PLAIN)
    less = shrink(top, base, PLAIN)
    product = tl.where(found, e * of_weights, 0.0) if SOME else e * of_weights
    mean = tl.fma(mean, less, tl.sum(product, 1))
    return new, tl.fma(total, less, tl.sum(e, 1)), mean


@triton.jit
def settle(q, k, v, grad, mask, sink, tops, means, sinks,
           heads, group, queries, keys, depth, width, blocks,
           q_z, q_h, q_m, q_d, k_z, k_h, k_n, k_d, v_z, v_h, v_n, v_d, g_z, g_h, g_m, g_d,
           m_z, m_h, m_m, m_n, left, right, offset, factor, scale, cap, inverse,
           MASK: tl.constexpr, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
           CAPPED: tl.constexpr, HAS_SINK: tl.constexpr, PLAIN: tl.constexpr, HOW: tl.constexpr,
           EVEN_D: tl.constexpr, EVEN_W: tl.constexpr, D: tl.constexpr, W: tl.constexpr,
           BM: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """What the passes share: the logarithm of the sum of exponentials of a row, and its mean."""
    block, zh = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    if HAS_RIGHT:
        block = blocks - 1 - block  # the longest first
    z, h = (zh // heads).to(tl.int64), (zh % heads).to(tl.int64)
    row = block * BM + tl.arange(0, BM)
    first, last = block * BM, tl.minimum(block * BM + BM, queries) - 1
    inside, stands, at = row < queries, row + offset, row.to(tl.int64)
    d, w, n = tl.arange(0, D), tl.arange(0, W), tl.arange(0, BN)
    q_at, g_at = q + z * q_z + h * q_h + at * q_m, grad + z * g_z + h * g_h + at * g_m
    x = tl.load(q_at[:, None] + (d * q_d)[None, :], inside[:, None] & (d < depth)[None, :], 0.0)
    g = tl.load(g_at[:, None] + (w * g_d)[None, :], inside[:, None] & (w < width)[None, :], 0.0)
    k_at, v_at = k + z * k_z + h // group * k_h, v + z * v_z + h // group * v_h
    k_tile = n[:, None] * k_n + d[None, :] * k_d
    v_tile = n[:, None] * v_n + w[None, :] * v_d
    mask_at = mask + z * m_z + h * m_h + at * m_m
    begin, inner, outer, hi = span(0, keys, first + offset, last + offset, left, right,
                                   HAS_LEFT, HAS_RIGHT, MASK, BN)  # fmt: skip
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    mean = tl.zeros((BM,), tl.float32)
    if MASK == NONE:
        for start in range(inner, outer, BN):
            kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, True)
            s, _ = scored(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
            vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, True)
            of_weights = plus(tl.zeros((BM, BN), tl.float32), g, tl.trans(vt), HOW)
            top, total, mean = added(s, of_weights, s, top, total, mean, factor, PLAIN, False)
    before = (inner - begin) // BN
    for i in range(before + tl.cdiv(tl.maximum(hi - outer, 0), BN)):
        start = tl.where(i < before, begin + i * BN, outer + (i - before) * BN)
        kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, False)
        s, _ = scored(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
        found = seen(stands, start + n, hi, left, right, HAS_LEFT, HAS_RIGHT)
        there = mask_at[:, None] + (start + n).to(tl.int64)[None, :] * m_n
        s, found = masked(s, found, there, inside[:, None], MASK)
        vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, False)
        of_weights = plus(tl.zeros((BM, BN), tl.float32), g, tl.trans(vt), HOW)
        top, total, mean = added(s, of_weights, found, top, total, mean, factor, PLAIN, True)

    to = zh.to(tl.int64) * queries + row
    base = tl.where(top == float("-inf"), 0.0, top)
    if HAS_SINK:
        given = wide(tl.load(sink + h)) + tl.zeros_like(total)
        given = given * LOG2E if PLAIN else given
        new = tl.maximum(top, given)
        base = tl.where(new == float("-inf"), 0.0, new)
        less, own = shrink(top, base, PLAIN), shrink(given, base, PLAIN)
        total, mean = tl.fma(total, less, own), mean * less
        some = tl.where(total == 0, 0.0, 1.0 / total)
        tl.store(sinks + to, -(own * some) * (mean * some), inside)
    some = tl.where(total == 0, 0.0, 1.0 / total)
    # An exponential relative to this is a weight. Without keys all are 0.
    sums = tl.log2(total.to(tl.float64)) if PLAIN else tl.log(total.to(tl.float64))
    sums = tl.where(total == 0, float("inf"), (base + sums).to(tl.float32))
    tl.store(tops + to, sums, inside)
    tl.store(means + to, mean * some, inside)


@triton.jit
def along(p, of_weights, mean, slope, CAPPED: tl.constexpr):
    """The gradients of scores, but for their scale."""
    made = p * (of_weights - mean)
    return made * slope if CAPPED else made


@triton.jit
def back_to_queries(
        q, k, v, grad, mask, tops, means, out,
        heads, group, queries, keys, depth, width, blocks,
        q_z, q_h, q_m, q_d, k_z, k_h, k_n, k_d, v_z, v_h, v_n, v_d, g_z, g_h, g_m, g_d,
        m_z, m_h, m_m, m_n, left, right, offset, factor, scale, cap, inverse,
        MASK: tl.constexpr, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
        CAPPED: tl.constexpr, PLAIN: tl.constexpr, HOW: tl.constexpr, APART: tl.constexpr,
        EVEN_D: tl.constexpr, EVEN_W: tl.constexpr, D: tl.constexpr, W: tl.constexpr,
        BM: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """The gradients of a block of queries, along keys."""
    block, zh = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    if HAS_RIGHT:
        block = blocks - 1 - block  # the longest first
    z, h = (zh // heads).to(tl.int64), (zh % heads).to(tl.int64)
    row = block * BM + tl.arange(0, BM)
    first, last = block * BM, tl.minimum(block * BM + BM, queries) - 1
    inside, stands, at = row < queries, row + offset, row.to(tl.int64)
    d, w, n = tl.arange(0, D), tl.arange(0, W), tl.arange(0, BN)
    q_at, g_at = q + z * q_z + h * q_h + at * q_m, grad + z * g_z + h * g_h + at * g_m
    x = tl.load(q_at[:, None] + (d * q_d)[None, :], inside[:, None] & (d < depth)[None, :], 0.0)
    g = tl.load(g_at[:, None] + (w * g_d)[None, :], inside[:, None] & (w < width)[None, :], 0.0)
    to = zh.to(tl.int64) * queries + row
    top = tl.load(tops + to, inside, 0.0)[:, None]
    mean = tl.load(means + to, inside, 0.0)[:, None]
    k_at, v_at = k + z * k_z + h // group * k_h, v + z * v_z + h // group * v_h
    k_tile = n[:, None] * k_n + d[None, :] * k_d
    v_tile = n[:, None] * v_n + w[None, :] * v_d
    mask_at = mask + z * m_z + h * m_h + at * m_m
    begin, inner, outer, hi = span(0, keys, first + offset, last + offset, left, right,
                                   HAS_LEFT, HAS_RIGHT, MASK, BN)  # fmt: skip
    acc = tl.zeros((BM, D), tl.float32)
    if MASK == NONE:
        for start in range(inner, outer, BN):
            kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, True)
            s, slope = scored(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
            vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, True)
            of_weights = plus(tl.zeros((BM, BN), tl.float32), g, tl.trans(vt), HOW)
            p = share(s, top, factor, PLAIN)
            of_scores = along(p, of_weights, mean, slope, CAPPED)
            acc = scaled(acc, of_scores, kt, HOW, APART)
    before = (inner - begin) // BN
    for i in range(before + tl.cdiv(tl.maximum(hi - outer, 0), BN)):
        start = tl.where(i < before, begin + i * BN, outer + (i - before) * BN)
        kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, False)
        s, slope = scored(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
        found = seen(stands, start + n, hi, left, right, HAS_LEFT, HAS_RIGHT)
        there = mask_at[:, None] + (start + n).to(tl.int64)[None, :] * m_n
        s, found = masked(s, found, there, inside[:, None], MASK)
        vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, False)
        of_weights = plus(tl.zeros((BM, BN), tl.float32), g, tl.trans(vt), HOW)
        p = share(s, top, factor, PLAIN)
        of_scores = tl.where(found, along(p, of_weights, mean, slope, CAPPED), 0.0)
        acc = scaled(acc, of_scores, kt, HOW, APART)
    fine = inside[:, None] & (d < depth)[None, :]
    put(out + to[:, None] * depth + d[None, :], acc * scale, fine)


@triton.jit
def back_to_keys(
        q, k, v, grad, mask, tops, means, out_k, out_v,
        heads, group, queries, keys, depth, width, blocks,
        q_z, q_h, q_m, q_d, k_z, k_h, k_n, k_d, v_z, v_h, v_n, v_d, g_z, g_h, g_m, g_d,
        m_z, m_h, m_m, m_n, left, right, offset, factor, scale, cap, inverse,
        MASK: tl.constexpr, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
        CAPPED: tl.constexpr, PLAIN: tl.constexpr, HOW: tl.constexpr, APART: tl.constexpr,
        BY_K: tl.constexpr, BY_V: tl.constexpr, EVEN_D: tl.constexpr, EVEN_W: tl.constexpr,
        D: tl.constexpr, W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """The gradients of a block of keys and values, along queries of all heads that share them."""
    block, zh = tl.program_id(0) % blocks, tl.program_id(0) // blocks
    z, shared = (zh // heads).to(tl.int64), (zh % heads).to(tl.int64)
    row = block * BN + tl.arange(0, BN)
    first, last = block * BN, tl.minimum(block * BN + BN, keys) - 1
    inside, at = row < keys, row.to(tl.int64)
    d, w, m = tl.arange(0, D), tl.arange(0, W), tl.arange(0, BM)
    k_at, v_at = k + z * k_z + shared * k_h + at * k_n, v + z * v_z + shared * v_h + at * v_n
    x = tl.load(k_at[:, None] + (d * k_d)[None, :], inside[:, None] & (d < depth)[None, :], 0.0)
    y = tl.load(v_at[:, None] + (w * v_d)[None, :], inside[:, None] & (w < width)[None, :], 0.0)
    q_tile = m[:, None] * q_m + d[None, :] * q_d
    g_tile = m[:, None] * g_m + w[None, :] * g_d
    # A key sees the queries that see it.
    stands = row - offset
    begin, inner, outer, hi = span(0, queries, first - offset, last - offset, right, left,
                                   HAS_RIGHT, HAS_LEFT, MASK, BM)  # fmt: skip
    before = (inner - begin) // BM
    count = before + tl.cdiv(tl.maximum(hi - outer, 0), BM)
    by_k = tl.zeros((BN, D), tl.float32)
    by_v = tl.zeros((BN, W), tl.float32)
    for one in range(group):
        h = shared * group + one
        q_at, g_at = q + z * q_z + h * q_h, grad + z * g_z + h * g_h
        mask_at = mask + z * m_z + h * m_h + at * m_n
        of_row = (z * heads * group + h) * queries
        if MASK == NONE:
            for start in range(inner, outer, BM):
                qt = tile(q_at, start, q_m, q_tile, m, d, hi, depth, EVEN_D, True)
                s, slope = scored(x, qt, scale, cap, inverse, PLAIN, CAPPED, HOW)
                gt = tile(g_at, start, g_m, g_tile, m, w, hi, width, EVEN_W, True)
                to = of_row + start + m
                p = share(s, tl.load(tops + to)[None, :], factor, PLAIN)
                if BY_V:
                    by_v = shared_out(by_v, p, gt, HOW, APART)
                if BY_K:
                    of_weights = plus(tl.zeros((BN, BM), tl.float32), y, tl.trans(gt), HOW)
                    mean = tl.load(means + to)[None, :]
                    of_scores = along(p, of_weights, mean, slope, CAPPED)
                    by_k = scaled(by_k, of_scores, qt, HOW, APART)
        for i in range(count):
            start = tl.where(i < before, begin + i * BM, outer + (i - before) * BM)
            qt = tile(q_at, start, q_m, q_tile, m, d, hi, depth, EVEN_D, False)
            s, slope = scored(x, qt, scale, cap, inverse, PLAIN, CAPPED, HOW)
            found = seen(stands, start + m, hi, right, left, HAS_RIGHT, HAS_LEFT)
            there = mask_at[:, None] + (start + m).to(tl.int64)[None, :] * m_m
            s, found = masked(s, found, there, inside[:, None], MASK)
            gt = tile(g_at, start, g_m, g_tile, m, w, hi, width, EVEN_W, False)
            to, some = of_row + start + m, start + m < hi
            p = share(s, tl.load(tops + to, some, float("inf"))[None, :], factor, PLAIN)
            if BY_V:
                by_v = shared_out(by_v, p, gt, HOW, APART)
            if BY_K:
                of_weights = plus(tl.zeros((BN, BM), tl.float32), y, tl.trans(gt), HOW)
                mean = tl.load(means + to, some, 0.0)[None, :]
                of_scores = tl.where(found, along(p, of_weights, mean, slope, CAPPED), 0.0)
                by_k = scaled(by_k, of_scores, qt, HOW, APART)
    to = zh.to(tl.int64) * keys + row
    if BY_K:
        fine = inside[:, None] & (d < depth)[None, :]
        put(out_k + to[:, None] * depth + d[None, :], by_k * scale, fine)
    if BY_V:
        fine = inside[:, None] & (w < width)[None, :]
        put(out_v + to[:, None] * width + w[None, :], by_v, fine)
