"""Kernels of attention: a softmax along keys that come block by block; no scores are stored.

Scores, weights and sums are float32. A weight of 16 bits is multiplied as the sum of two numbers of
their dtype, so that its rounding is not seen. Products of float32 are sums of products of narrower
parts, which have its precision. What is summed of a block of keys is added to the rest in float32:
tensor cores cut off what they add up.
"""

import triton
import triton.language as tl

from suanzi.runtimes.torch.triton.conversions import INTERPRETED, from_bf16, to_bf16

LOG2E = tl.constexpr(1.4426950408889634)
NONE, HIDES, ADDS = tl.constexpr(0), tl.constexpr(1), tl.constexpr(2)
"""What a mask does."""


@triton.jit
def power(x):
    """2**x, to 2 ULP."""
    if INTERPRETED:
        return tl.exp2(x)
    else:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
        )


@triton.jit
def share(s, top, factor, PLAIN: tl.constexpr):
    """Exponentials of scores relative to the largest; PLAIN: these are powers of 2, unscaled."""
    if PLAIN:
        return power(tl.fma(s, factor, -top))
    else:
        return power((s - top) * LOG2E)


@triton.jit
def shrink(top, new, PLAIN: tl.constexpr):
    """What a sum relative to one score is multiplied by to be relative to another."""
    return power(top - new) if PLAIN else power((top - new) * LOG2E)


@triton.jit
def tanh(x):
    """The hyperbolic tangent, to 4 ULP: by a polynomial where the quotient cancels."""
    size = tl.abs(x)
    e = power(size * -2.8853900817779268)
    far = (1.0 - e) / (1.0 + e)
    z = x * x
    p = 0.021869488536155203 * z - 0.053968253968253968
    p = (p * z + 0.13333333333333333) * z - 0.33333333333333333
    near = size + size * (p * z)
    made = tl.where(size < 0.25, near, far)
    return tl.where(x < 0, -made, made)


@triton.jit
def wide(x):
    """Elements as float32."""
    return from_bf16(x) if x.dtype == tl.bfloat16 else x.to(tl.float32)


@triton.jit
def plus(acc, a, b, HOW: tl.constexpr):
    """acc + a b; the interpreter has no bfloat16."""
    if INTERPRETED:
        return tl.dot(wide(a), wide(b), acc, input_precision="ieee")
    else:
        return tl.dot(a, b, acc, input_precision=HOW)


@triton.jit
def weighted(acc, p, v, HOW: tl.constexpr):
    """acc and the sums of values by weights, p v."""
    if v.dtype == tl.float32:
        return plus(acc, p, v, HOW)
    elif v.dtype == tl.float16:  # of less range: the lower part of a weight is scaled up
        high = (p * 32768.0).to(tl.float16)
        low = ((p * 32768.0 - high.to(tl.float32)) * 2048.0).to(tl.float16)
        none = tl.zeros_like(acc)
        both = tl.fma(plus(none, low, v, HOW), 1.0 / 2048, plus(none, high, v, HOW))
        return tl.fma(both, 1.0 / 32768, acc)
    else:
        high = to_bf16(p)
        low = to_bf16(p - from_bf16(high))
        return plus(plus(acc, low, v, HOW), high, v, HOW)


@triton.jit
def scores(q, k, scale, cap, inverse, PLAIN: tl.constexpr, CAPPED: tl.constexpr,
           HOW: tl.constexpr):  # fmt: skip
    """q k^T, scaled and capped unless PLAIN."""
    s = plus(tl.zeros((q.shape[0], k.shape[0]), tl.float32), q, tl.trans(k), HOW)
    if not PLAIN:
        s = s * scale
    if CAPPED:
        s = cap * tanh(s * inverse)
    return s


@triton.jit
def seen(query, key, hi, left, right, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr):
    """Which keys take part by their positions."""
    found = (key < hi)[None, :] & (query == query)[:, None]
    if HAS_LEFT:
        found &= key[None, :] >= query[:, None] - left
    if HAS_RIGHT:
        found &= key[None, :] <= query[:, None] + right
    return found


@triton.jit
def span(lo, hi, first, last, left, right, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
         MASK: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """Where the keys of queries begin, which blocks are seen whole, and where they end."""
    if HAS_LEFT:
        lo = tl.maximum(lo, first - left)
    if HAS_RIGHT:
        hi = tl.minimum(hi, last + right + 1)
    begin = lo // BN * BN
    inner, outer = begin, tl.maximum(hi, 0) // BN * BN
    if HAS_LEFT:
        inner = tl.maximum(begin, tl.cdiv(tl.maximum(last - left, 0), BN) * BN)
    if HAS_RIGHT:
        outer = tl.minimum(outer, tl.maximum(first + right + 1, 0) // BN * BN)
    if MASK != NONE:
        outer = inner
    empty = inner >= outer
    return begin, tl.where(empty, begin, inner), tl.where(empty, begin, outer), hi


@triton.jit
def masked(s, found, at, inside, MASK: tl.constexpr):
    """Scores under a mask, and which keys take part."""
    if MASK == HIDES:
        found &= tl.load(at, found & inside, 0) != 0
    if MASK == ADDS:
        s += wide(tl.load(at, found & inside, 0.0))
    return tl.where(found, s, float("-inf")), found


@triton.jit
def tile(x, start, step, offsets, row, column, hi, size, WHOLE: tl.constexpr, ROWS: tl.constexpr):
    """Rows of keys or values from `start` on; those from `hi` on are 0, and columns beyond."""
    at = x + tl.cast(start, tl.int64) * step + offsets
    if ROWS and WHOLE:
        return tl.load(at)
    elif ROWS:
        return tl.load(at, (column < size)[None, :], 0.0)
    elif WHOLE:
        return tl.load(at, (start + row < hi)[:, None], 0.0)
    else:
        return tl.load(at, (start + row < hi)[:, None] & (column < size)[None, :], 0.0)


@triton.jit
def joined(s, v, acc, top, total, factor, PLAIN: tl.constexpr, HOW: tl.constexpr,
           APART: tl.constexpr):  # fmt: skip
    """What was summed so far and a block of keys."""
    # NumPy, which interprets, warns of a row of NaN alone.
    most = tl.max(tl.where(s == s, s, float("-inf")) if INTERPRETED else s, 1)
    new = tl.maximum(top, most * factor if PLAIN else most)
    base = tl.where(new == float("-inf"), 0.0, new)
    p = share(s, base[:, None], factor, PLAIN)
    less = shrink(top, base, PLAIN)
    total = tl.fma(total, less, tl.sum(p, 1))
    if APART:
        acc = tl.fma(acc, less[:, None], weighted(tl.zeros_like(acc), p, v, HOW))
    else:
        acc = weighted(acc * less[:, None], p, v, HOW)
    return acc, new, total


@triton.jit
def special(p, found, v):
    """Of values that are not finite, what infinities and NaN they make of sums, as counts."""
    w = wide(v)
    unknown = w != w
    some = (found & (p > 0)).to(tl.float16)
    none = (found & ~(p > 0)).to(tl.float16)
    both = tl.dot(none, (unknown | (tl.abs(w) == float("inf"))).to(tl.float16))
    up = tl.dot(some, (unknown | (w == float("inf"))).to(tl.float16), both)
    down = tl.dot(some, (unknown | (w == float("-inf"))).to(tl.float16), both)
    return up, down


@triton.jit
def mended(q_at, k_at, v_at, mask_at, stands, inside, top, begin, hi, nothing, depth, width,
           q_d, k_n, k_d, v_n, v_d, m_n, left, right, factor, scale, cap, inverse,
           MASK: tl.constexpr, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
           CAPPED: tl.constexpr, PLAIN: tl.constexpr, HOW: tl.constexpr, EVEN_D: tl.constexpr,
           EVEN_W: tl.constexpr, D: tl.constexpr, W: tl.constexpr, BM: tl.constexpr,
           BN: tl.constexpr):  # fmt: skip
    """The sums of values, of which some are not finite: those of hidden keys take no part."""
    d, w, n = tl.arange(0, D) + nothing, tl.arange(0, W) + nothing, tl.arange(0, BN) + nothing
    x = tl.load(q_at[:, None] + (d * q_d)[None, :], inside[:, None] & (d < depth)[None, :], 0.0)
    k_tile = n[:, None] * k_n + d[None, :] * k_d
    v_tile = n[:, None] * v_n + w[None, :] * v_d
    base = tl.where(top == float("-inf"), 0.0, top)
    made = tl.zeros((BM, W), tl.float32)
    ups = tl.zeros((BM, W), tl.float32)
    downs = tl.zeros((BM, W), tl.float32)
    for start in tl.range(begin, hi, BN, num_stages=1):
        kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, False)
        s = scores(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
        found = seen(stands, start + n, hi, left, right, HAS_LEFT, HAS_RIGHT)
        at = mask_at[:, None] + (start + n).to(tl.int64)[None, :] * m_n
        s, found = masked(s, found, at, inside[:, None], MASK)
        vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, False)
        p = share(s, base[:, None], factor, PLAIN)
        kept = tl.where(tl.abs(wide(vt)) < float("inf"), vt, tl.zeros_like(vt))
        made = weighted(made, p, kept, HOW)
        up, down = special(p, found, vt)
        ups += up
        downs += down
    made = tl.where(ups > 0, float("inf"), made)
    return tl.where(downs > 0, tl.where(ups > 0, float("nan"), float("-inf")), made)


@triton.jit
def attend(q, k, v, mask, sink, out, tops, totals,
           heads, group, queries, keys, depth, width, blocks, chunks, chunk,
           q_z, q_h, q_m, q_d, k_z, k_h, k_n, k_d, v_z, v_h, v_n, v_d, m_z, m_h, m_m, m_n,
           left, right, offset, factor, scale, cap, inverse,
           MASK: tl.constexpr, HAS_LEFT: tl.constexpr, HAS_RIGHT: tl.constexpr,
           CAPPED: tl.constexpr, HAS_SINK: tl.constexpr, PLAIN: tl.constexpr,
           PACKED: tl.constexpr, SPLIT: tl.constexpr, ZERO: tl.constexpr, HOW: tl.constexpr,
           APART: tl.constexpr, EVEN_D: tl.constexpr, EVEN_W: tl.constexpr, D: tl.constexpr,
           W: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):  # fmt: skip
    """Attention of a block of queries of a head, or of all queries of the heads that share one.

    SPLIT: of a part of the keys; sums and what they are relative to are stored, for `combine`.
    """
    program = tl.program_id(0)
    part = 0
    if SPLIT:
        part, program = program % chunks, program // chunks
    block, zh = program % blocks, program // blocks
    if HAS_RIGHT:
        block = blocks - 1 - block  # the longest first
    z, h = (zh // heads).to(tl.int64), (zh % heads).to(tl.int64)
    row = block * BM + tl.arange(0, BM)
    if PACKED:
        rows, shared = group * queries, h
        some = tl.minimum(row, rows - 1)
        head, query = h * group + some // queries, some % queries
        first, last = 0, queries - 1
    else:
        rows, shared, head = queries, h // group, h
        query = row
        first, last = block * BM, tl.minimum(block * BM + BM, queries) - 1
    inside = row < rows
    d, w, n = tl.arange(0, D), tl.arange(0, W), tl.arange(0, BN)
    q_at = q + z * q_z + head * q_h + query.to(tl.int64) * q_m
    x = tl.load(q_at[:, None] + (d * q_d)[None, :], inside[:, None] & (d < depth)[None, :], 0.0)
    k_at, v_at = k + z * k_z + shared * k_h, v + z * v_z + shared * v_h
    k_tile = n[:, None] * k_n + d[None, :] * k_d
    v_tile = n[:, None] * v_n + w[None, :] * v_d
    mask_at = mask + z * m_z + head * m_h + query.to(tl.int64) * m_m

    lo, hi = part * chunk, keys
    if SPLIT:
        hi = tl.minimum(keys, lo + chunk)
    stands = query + offset
    begin, inner, outer, hi = span(lo, hi, first + offset, last + offset, left, right,
                                   HAS_LEFT, HAS_RIGHT, MASK, BN)  # fmt: skip
    top = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, W), tl.float32)
    if MASK == NONE:
        for start in range(inner, outer, BN):
            kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, True)
            s = scores(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
            vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, True)
            acc, top, total = joined(s, vt, acc, top, total, factor, PLAIN, HOW, APART)
    before = (inner - begin) // BN
    count = before + tl.cdiv(tl.maximum(hi - outer, 0), BN)
    for i in range(count):
        start = tl.where(i < before, begin + i * BN, outer + (i - before) * BN)
        kt = tile(k_at, start, k_n, k_tile, n, d, hi, depth, EVEN_D, False)
        s = scores(x, kt, scale, cap, inverse, PLAIN, CAPPED, HOW)
        found = seen(stands, start + n, hi, left, right, HAS_LEFT, HAS_RIGHT)
        at = mask_at[:, None] + (start + n).to(tl.int64)[None, :] * m_n
        s, found = masked(s, found, at, inside[:, None], MASK)
        vt = tile(v_at, start, v_n, v_tile, n, w, hi, width, EVEN_W, False)
        acc, top, total = joined(s, vt, acc, top, total, factor, PLAIN, HOW, APART)

    # A value that is not finite is seen in every row, also where its key is hidden: once more.
    odd = tl.min((tl.abs(acc) < float("inf")).to(tl.int32), 1) == 0
    odd &= inside & (total < float("inf"))
    to = zh.to(tl.int64) * rows + row
    if SPLIT:
        to = to * chunks + part
        tl.store(tops + to, top, inside)
        tl.store(totals + to, total, inside)
    else:
        acc = finished(acc, top, total, sink + head, HAS_SINK, PLAIN, ZERO)
    fine = (inside & ~odd)[:, None] & (w < width)[None, :]
    put(out + to[:, None] * width + w[None, :], acc, fine)
    count = tl.sum(odd.to(tl.int32), 0)
    if count != 0:
        nothing = tl.minimum(count, 1) - 1  # what depends on it is computed here, not kept for here
        acc = mended(
            q_at, k_at, v_at, mask_at, stands, inside, top, begin, hi, nothing, depth, width,
            q_d, k_n, k_d, v_n, v_d, m_n, left, right, factor, scale, cap, inverse,
            MASK, HAS_LEFT, HAS_RIGHT, CAPPED, PLAIN, HOW, EVEN_D, EVEN_W, D, W, BM, BN,
        )  # fmt: skip
        if not SPLIT:
            acc = finished(acc, top, total, sink + head, HAS_SINK, PLAIN, ZERO)
        w += nothing
        put(out + to[:, None] * width + w[None, :], acc, odd[:, None] & (w < width)[None, :])


@triton.jit
def put(at, x, inside):
    """Store float32 rounded to the dtype of memory."""
    if at.dtype.element_ty == tl.bfloat16:
        tl.store(at, to_bf16(x), inside)
    else:
        tl.store(at, x.to(at.dtype.element_ty), inside)


@triton.jit
def finished(acc, top, total, sink, HAS_SINK: tl.constexpr, PLAIN: tl.constexpr,
             ZERO: tl.constexpr):  # fmt: skip
    """Sums by the sum of weights, that of the sink too; of no keys 0 or NaN."""
    if HAS_SINK:
        given = wide(tl.load(sink)) + tl.zeros_like(total)
        given = given * LOG2E if PLAIN else given
        new = tl.maximum(top, given)
        base = tl.where(new == float("-inf"), 0.0, new)
        less = shrink(top, base, PLAIN)
        total = total * less + shrink(given, base, PLAIN)
        acc = acc * less[:, None]
    none = 0.0 if ZERO else float("nan")
    return tl.where((total == 0)[:, None], none, acc * (1.0 / total)[:, None])


@triton.jit
def combine(sums, tops, totals, sink, out, heads, queries, width, chunks,
            HAS_SINK: tl.constexpr, PLAIN: tl.constexpr, ZERO: tl.constexpr,
            W: tl.constexpr, PARTS: tl.constexpr):  # fmt: skip
    """The parts of the keys of a row, in their order."""
    row = tl.program_id(0).to(tl.int64)
    c, w = tl.arange(0, PARTS), tl.arange(0, W)
    best = tl.full((PARTS,), float("-inf"), tl.float32)
    for start in range(0, chunks, PARTS):
        here = tl.load(tops + row * chunks + start + c, start + c < chunks, float("-inf"))
        best = tl.maximum(best, here)
    top = tl.max(best, 0)
    base = tl.where(top == float("-inf"), 0.0, top)
    acc = tl.zeros((W,), tl.float32)
    total = 0.0
    for start in range(0, chunks, PARTS):
        inside = start + c < chunks
        less = shrink(tl.load(tops + row * chunks + start + c, inside, float("-inf")), base, PLAIN)
        total += tl.sum(tl.load(totals + row * chunks + start + c, inside, 0.0) * less, 0)
        at = sums + ((row * chunks + start) + c[:, None]) * width + w[None, :]
        found = tl.load(at, inside[:, None] & (w < width)[None, :], 0.0)
        acc += tl.sum(found * less[:, None], 0)
    head = (row // queries) % heads
    some = tl.zeros((1,), tl.float32)
    made = finished(acc[None, :], some + top, some + total, sink + head, HAS_SINK, PLAIN, ZERO)
    put(out + row * width + w[None, :], made, (w < width)[None, :])
