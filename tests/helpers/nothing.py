"""Calls with tensors that have no elements, but more rows, or matrices, than one could go through.

Run as a program, it makes the calls from a number on, and says which it has begun.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import suanzi as sz
import suanzi.nn
from suanzi.promote.registry import FUNCTIONS, REGISTRY

MANY = 2**40
SHAPES = [(MANY, 0), (0, MANY), (MANY, 0, 3), (MANY, 3, 0), (MANY, 2, 0, 0), (0, MANY, MANY)]
SHAPES += [(MANY, 3, 0, MANY), (1, MANY, 0, 2, 2)]
DTYPES = [sz.float32, sz.complex64, sz.int32, sz.bool, sz.bfloat16]


def own_calls() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield what takes more than a tensor in each place, or is no operator."""
    e, three = sz.empty, sz.full("float32", "cpu", (3, 3), 1.0) + sz.tensor([1.0, 2, 4])
    side = sz.tensor([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    for mode in ("reduced", "complete", "r"):
        for shape in ((MANY, 0, 3), (MANY, 0, 0), (0, MANY, 3, 3)):
            yield f"qr {mode} {shape}", lambda s=shape, m=mode: sz.qr(e(s), m)
        yield f"qr {mode}", lambda m=mode: sz.qr(e((MANY, 3, 0)), m)
    for reduced in (True, False):
        yield f"svd {reduced}", lambda r=reduced: sz.svd(e((MANY, 0, 0)), r)
    yield "cholesky", lambda: sz.cholesky("L", e((MANY, 0, 0)))
    yield "solve for nothing", lambda: sz.solve(side, e((MANY, 3, 0)), False)
    yield "lstsq for nothing", lambda: sz.lstsq(three, e((MANY, 3, 0)))
    yield "lstsq for nothing with prec", lambda: sz.lstsq(three, e((MANY, 3, 0)), 0.1)
    yield "inverse", lambda: sz.inverse(e((MANY, 0, 0)))
    x = e((MANY, 0))
    ones = sz.expand(sz.tensor([[1.0, 2, 3]]), (MANY, 3))
    for a, b, c in product((x, ones), repeat=3):
        w = sz.full("float32", "cpu", (c.shape[1], a.shape[1], b.shape[1]), 1.0)
        if not w.size:
            yield "bilinear_bwd_weight", lambda a=a, b=b, c=c: sz.bilinear_bwd_weight(c, a, b)
        if c is x:
            yield "bilinear", lambda a=a, b=b, w=w: sz.bilinear(a, b, w)
        if a is x:
            yield "bilinear_bwd_in1", lambda b=b, c=c, w=w: sz.bilinear_bwd_in1(c, b, w)
        if b is x:
            yield "bilinear_bwd_in2", lambda a=a, c=c, w=w: sz.bilinear_bwd_in2(c, a, w)
    yield "linear", lambda: sz.linear(x, e((0, 0)))
    # Strides of which nothing is left to step along; in bytes they are more than fit.
    thin, some = e((0, 2, 2**61), sz.complex128)[..., :1], e((3, 2, 1), sz.complex128)
    yield "concat of thin", lambda: sz.concat([some, thin, some], 0)
    yield "stack of thin", lambda: sz.stack([thin, thin], 1)
    yield "pad of thin", lambda: sz.pad(thin, (1, 0, 0, 0, 0, 0))
    yield "linear_bwd_weight", lambda: sz.linear_bwd_weight(x, x)
    for shape in SHAPES:
        yield f"tolist {shape}", lambda s=shape: e(s).tolist()
        yield f"repr {shape}", lambda s=shape: (repr(e(s)), str(e(s)), e(s)._repr_html_())
        yield f"save {shape}", lambda s=shape: sz.tensor(e(s))
        yield f"subscripts {shape}", lambda s=shape: [e(s)[..., None], e(s)[:0], e(s)[::-1]]
        yield f"mask {shape}", lambda s=shape: e(s)[e(s, sz.bool)]
        yield f"assignment {shape}", lambda s=shape: e(s).__setitem__(e(s, sz.bool), 1)
        for axis in range(len(shape)):
            yield f"x[..., i] {shape}", lambda s=shape, a=axis: e(s)[(slice(None),) * a + ([0, 0],)]
            yield f"cumsum {shape}", lambda s=shape, a=axis: sz.cumsum(e(s), a)
            yield f"reduce {shape}", lambda s=shape, a=axis: sz.reduce(e(s), axis=a)
            yield f"argsort {shape}", lambda s=shape, a=axis: sz.argsort(e(s), a)
            yield f"topk {shape}", lambda s=shape, a=axis: sz.topk(e(s), 1, a)
            yield f"argmax {shape}", lambda s=shape, a=axis: sz.argmax(e(s), a)
            yield f"unstack {shape}", lambda s=shape, a=axis: sz.unstack(e(s), a)
            yield f"norm {shape}", lambda s=shape, a=axis: sz.norm(e(s), 2, (a,))
            yield f"concat {shape}", lambda s=shape, a=axis: sz.concat([e(s), e(s)], a)
            yield f"roll {shape}", lambda s=shape, a=axis: sz.roll(e(s), (1,), (a,))
            for f in (sz.fft_c2c, sz.fft_r2c):
                dt = sz.complex64 if f is sz.fft_c2c else sz.float32
                yield f"fft {shape}", lambda s=shape, a=axis, f=f, d=dt: f(e(s, d), (a,))
        yield f"gather {shape}", lambda s=shape: sz.gather(e(s), sz.tensor([0, 0]))
        yield f"stack {shape}", lambda s=shape: sz.stack([e(s), e(s)], 0)
        yield f"tile {shape}", lambda s=shape: sz.tile(e(s), (2,) * len(s))
        yield f"pad {shape}", lambda s=shape: sz.pad(e(s), (0, 0) * len(s))
        yield f"matmul {shape}", lambda s=shape: sz.matmul(e(s), sz.transpose(e(s)[:1], None))
        yield f"reshape {shape}", lambda s=shape: sz.reshape(e(s), (0, MANY))
        yield f"nonzero {shape}", lambda s=shape: sz.nonzero(e(s))
        yield f"to_sparse {shape}", lambda s=shape: sz.to_sparse(e(s))
        yield (
            f"layout {shape}",
            lambda s=shape: sz.duplicate(sz.transpose(e(s), range(len(s))[::-1])),
        )
        yield f"multinomial {shape}", lambda s=shape: sz.multinomial(e(s), 3)
    yield "multinomial", lambda: sz.multinomial(e((MANY, 0)), 1)
    yield "scatter", lambda: sz.scatter(e((MANY, 0)), sz.tensor([0]), e((1, 0)))
    yield "interpolate", lambda: sz.interpolate(e((MANY, 0, 4, 4)), (2, 2))
    yield "trace", lambda: sz.trace(e((0, 0, MANY)))
    yield "meshgrid", lambda: sz.meshgrid([e((0,)), sz.expand(sz.tensor(1.0), (MANY,))])
    yield "where", lambda: sz.where(e((MANY, 0), sz.bool), e((MANY, 0)), 1)
    yield "allclose", lambda: sz.allclose(e((MANY, 0)), e((MANY, 0)))


def calls() -> list[tuple[str, Callable[[], Any]]]:
    """Return every operator with tensors of each shape and dtype, and the calls of its own."""
    found = list(own_calls())
    for op in REGISTRY.values():
        if op.name == "destroy":
            continue
        parameters = inspect.signature(op.function).parameters.values()
        count = max(sum(p.default is p.empty for p in parameters), 1)
        for shape in SHAPES:
            for dt in DTYPES:

                def call(name: str = op.key, s: Any = shape, d: Any = dt, n: int = count) -> Any:
                    return FUNCTIONS[name](*[sz.empty(s, d) for _ in range(n)])

                found.append((f"{op.key} of {dt} {shape}", call))
    return found


def run(start: int) -> None:
    """Make the calls from one on; every one is an answer or a status."""
    for number, (name, call) in enumerate(calls()[start:], start):
        print(number, name, flush=True)
        try:
            call()
        except sz.InternalError as error:
            print("WRONG", name, error, flush=True)
        except sz.StatusError:
            pass
        except Exception as error:
            print("WRONG", name, repr(error), flush=True)


if __name__ == "__main__":
    run(int(sys.argv[1]))
