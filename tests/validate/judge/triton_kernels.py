"""Kernels of Triton as people write them, right and wrong; run by its interpreter on a CPU."""

import os

os.environ.setdefault("TRITON_INTERPRET", "1")

import torch
import triton
import triton.language as tl

# ---- one row, one program ------------------------------------------------------------------------


@triton.jit
def _softmax(x, y, n, BLOCK: tl.constexpr, MASK: tl.constexpr, SHIFT: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=MASK).to(tl.float32)
    if SHIFT:
        v = v - tl.max(v, 0)
    e = tl.exp(v)
    tl.store(y + row * n + at, e / tl.sum(e, 0), mask=at < n)


def _rows(kernel, x, *more):
    y = torch.empty_like(x)
    n = x.shape[-1]
    if x.numel():
        kernel[(x.numel() // n,)](x, y, n, triton.next_power_of_2(n), *more)
    return y


def softmax(x):
    return _rows(_softmax, x, -float("inf"), True)


def softmax_padded_with_zeros(x):
    return _rows(_softmax, x, 0.0, True)


def softmax_without_maximum(x):
    return _rows(_softmax, x, -float("inf"), False)


@triton.jit
def _online(x, y, n, BLOCK: tl.constexpr, LAST: tl.constexpr):
    row = tl.program_id(0)
    top, total = -float("inf"), 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), 0)
        top = new
    end = n // BLOCK * BLOCK if LAST else n
    for start in range(0, end, BLOCK):
        at = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
        tl.store(y + row * n + at, tl.exp(v - top) / total, mask=at < n)


def _by_blocks(x, last):
    y = torch.zeros_like(x)  # as in _each
    n = x.shape[-1]
    if x.numel():
        _online[(x.numel() // n,)](x, y, n, 32, last)
    return y


def softmax_online(x):
    return _by_blocks(x, False)


def softmax_without_the_last_block(x):
    return _by_blocks(x, True) if x.shape[-1] > 32 else _by_blocks(x, False)


@triton.jit
def _norm(x, w, b, y, n, BLOCK: tl.constexpr, RMS: tl.constexpr, PADDED: tl.constexpr,
          OUTSIDE: tl.constexpr):  # fmt: skip
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < n
    v = tl.load(x + row * n + at, mask=inside, other=0.0).to(tl.float32)
    if not RMS:
        v = v - tl.sum(v, 0) / n
        if not PADDED:
            v = tl.where(inside, v, 0.0)
    mean = tl.sum(v * v, 0) / n
    scale = 1 / (tl.sqrt(mean) + 1e-5) if OUTSIDE else 1 / tl.sqrt(mean + 1e-5)
    found = v * scale * tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    if not RMS:
        found += tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * n + at, found, mask=inside)


def _normed(x, weight, bias, rms, padded=False, outside=False):
    y = torch.empty_like(x)
    n = x.shape[-1]
    if x.numel():
        block = triton.next_power_of_2(n)
        _norm[(x.numel() // n,)](x, weight, bias, y, n, block, rms, padded, outside)
    return y


def layer_norm(x, weight, bias):
    return _normed(x, weight, bias, False)


def layer_norm_with_padding_in_the_variance(x, weight, bias):
    return _normed(x, weight, bias, False, padded=True)


def rms_norm(x, weight):
    return _normed(x, weight, weight, True)


def rms_norm_with_epsilon_outside(x, weight):
    return _normed(x, weight, weight, True, outside=True)


# ---- element by element --------------------------------------------------------------------------


@triton.jit
def _gelu(x, y, n, BLOCK: tl.constexpr, CUT: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    if CUT:
        found = v * (1 / (1 + tl.exp(-1.702 * v)))
    else:
        found = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(y + at, found, mask=at < n)


def gelu_by_sigmoid(x):
    y = torch.empty_like(x)
    if x.numel():
        _gelu[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), 64, True)
    return y


@triton.jit
def _silu(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    found = tl.where(v == -float("inf"), 0.0, v / (1 + tl.exp(-v)))
    tl.store(y + at, found, mask=at < n)


def _each(kernel, x, blocks):
    y = torch.zeros_like(x)  # what no block writes is the same in every run
    if x.numel():
        kernel[(blocks,)](x, y, x.numel(), 64)
    return y


def silu(x):
    return _each(_silu, x, triton.cdiv(x.numel(), 64))


def silu_with_a_grid_rounded_down(x):
    return _each(_silu, x, max(1, x.numel() // 64))


@triton.jit
def _add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(z + at, total, mask=at < n)


def add(x, y):
    x, y = torch.broadcast_tensors(x, y)
    x, y = x.contiguous(), y.contiguous()
    z = torch.empty_like(x)
    if x.numel():
        _add[(triton.cdiv(x.numel(), 64),)](x, y, z, x.numel(), 64)
    return z


def add_of_flat_memory(x, y):
    """Operands are not broadcast: the second is read past its end, or as if it were a row more."""
    z = torch.empty(torch.broadcast_shapes(x.shape, y.shape), dtype=x.dtype)
    small = y.reshape(-1).repeat(z.numel() // max(y.numel(), 1) + 1)
    wide = x.expand(z.shape).contiguous()
    if z.numel():
        _add[(triton.cdiv(z.numel(), 64),)](wide, small, z, z.numel(), 64)
    return z


# ---- products ------------------------------------------------------------------------------------


@triton.jit
def _product(a, b, c, m, n, k, B: tl.constexpr, HALF: tl.constexpr, MASKED: tl.constexpr):
    rows = tl.program_id(0) * B + tl.arange(0, B)
    columns = tl.program_id(1) * B + tl.arange(0, B)
    total = tl.zeros((B, B), dtype=tl.float32)
    for start in range(0, k, B):
        at = start + tl.arange(0, B)
        inner = at < k if MASKED else at < at + 1
        x = tl.load(a + rows[:, None] * k + at[None, :],
                    mask=(rows[:, None] < m) & inner[None, :], other=0.0)  # fmt: skip
        y = tl.load(b + columns[None, :] * k + at[:, None],
                    mask=(columns[None, :] < n) & inner[:, None], other=0.0)  # fmt: skip
        part = tl.dot(x, y).to(tl.float32)
        total = (total + part).to(tl.float16).to(tl.float32) if HALF else total + part
    tl.store(c + rows[:, None] * n + columns[None, :], total,
             mask=(rows[:, None] < m) & (columns[None, :] < n))  # fmt: skip


def _linear(x, weight, half=False, masked=True):
    flat = x.reshape(-1, x.shape[-1]).contiguous()
    if not masked:  # what lies behind the end of memory is anything: here it is ones
        pad = torch.ones(4096, dtype=x.dtype)
        flat_in = torch.cat([flat.reshape(-1), pad])
        weight_in = torch.cat([weight.reshape(-1), pad])
    else:
        flat_in, weight_in = flat, weight.contiguous()
    m, k = flat.shape
    n = weight.shape[0]
    out = torch.empty((m, n), dtype=x.dtype)
    if out.numel():
        grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
        _product[grid](flat_in, weight_in, out, m, n, k, 16, half, masked)
    return out.reshape(*x.shape[:-1], n)


def linear(x, weight):
    return _linear(x, weight)


def linear_summed_in_float16(x, weight):
    return _linear(x, weight, half=True)


def linear_without_a_mask(x, weight):
    return _linear(x, weight, masked=False)


@triton.jit
def _attention(
    q, k, v, o, n, m, d, scale, B: tl.constexpr, D: tl.constexpr, RESCALED: tl.constexpr
):
    batch, block = tl.program_id(0), tl.program_id(1)
    rows = block * B + tl.arange(0, B)
    cols = tl.arange(0, D)
    mine = (rows[:, None] < n) & (cols[None, :] < d)
    query = tl.load(q + batch * n * d + rows[:, None] * d + cols[None, :], mask=mine, other=0.0)
    query = query.to(tl.float32)
    top = tl.full((B,), -float("inf"), tl.float32)
    total = tl.zeros((B,), tl.float32)
    out = tl.zeros((B, D), tl.float32)
    for start in range(0, m, B):
        at = start + tl.arange(0, B)
        inside = (at[:, None] < m) & (cols[None, :] < d)
        keys = tl.load(k + batch * m * d + at[:, None] * d + cols[None, :],
                       mask=inside, other=0.0).to(tl.float32)  # fmt: skip
        values = tl.load(v + batch * m * d + at[:, None] * d + cols[None, :],
                         mask=inside, other=0.0).to(tl.float32)  # fmt: skip
        scores = tl.dot(query, tl.trans(keys)) * scale
        scores = tl.where(at[None, :] < m, scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, 1))
        p = tl.exp(scores - new[:, None])
        old = tl.exp(top - new)
        total = total * old + tl.sum(p, 1)
        out = (out * old[:, None] if RESCALED else out) + tl.dot(p, values)
        top = new
    tl.store(o + batch * n * d + rows[:, None] * d + cols[None, :], out / total[:, None],
             mask=(rows[:, None] < n) & (cols[None, :] < d))  # fmt: skip


def _attended(q, k, v, rescaled):
    o = torch.empty_like(q)
    n, d = q.shape[-2:]
    if o.numel():
        batch = q.numel() // (n * d)
        _attention[(batch, triton.cdiv(n, 16))](
            q, k, v, o, n, k.shape[-2], d, d**-0.5, 16, max(16, triton.next_power_of_2(d)), rescaled
        )
    return o


def attention(q, k, v):
    return _attended(q, k, v, True)


def attention_that_does_not_rescale(q, k, v):
    return _attended(q, k, v, False)


@triton.jit
def _cross_entropy(x, target, y, n, BLOCK: tl.constexpr, TARGET_FIRST: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf")).to(tl.float32)
    top = tl.max(v, 0)
    lse = tl.log(tl.sum(tl.exp(v - top), 0)) + (0.0 if TARGET_FIRST else top)
    which = tl.load(target + row)
    used = which >= 0
    hit = tl.load(x + row * n + which, mask=used, other=0.0).to(tl.float32)
    tl.store(y + row, tl.where(used, lse - hit, 0.0))


def _loss(logits, target, forgets):
    rows, n = logits.shape
    each = torch.empty(rows, dtype=torch.float32)
    if rows:
        _cross_entropy[(rows,)](logits, target, each, n, triton.next_power_of_2(n), forgets)
    return (each.sum() / (target >= 0).sum()).to(logits.dtype)


def cross_entropy(logits, target):
    return _loss(logits, target, False)


def cross_entropy_divided_by_all_rows(logits, target):
    used = (target >= 0).sum() / target.numel()
    return (_loss(logits.float(), target, False) * used).to(logits.dtype)


def cross_entropy_without_the_maximum(logits, target):
    return _loss(logits, target, True)
