"""Kernels of suanzi's own, written in Triton, for GPUs of NVIDIA and Triton's interpreter.

A kernel is a function of ``@triton.jit``. :func:`launch` compiles it once per signature, without
contracting products and sums and without flushing subnormal numbers, and starts it through the
driver on PyTorch's current stream. :func:`suanzi.runtimes.torch.fast.fast` declares for which
operators::

    import triton
    import triton.language as tl

    from suanzi.runtimes.torch.fast import fast
    from suanzi.runtimes.torch.triton.launching import launch

    @triton.jit
    def _rows(x, out, columns, BLOCK: tl.constexpr): ...

    @fast("nn:softmax")                               # the key of an operator, called as its way is
    def softmax(call, input, axis, ...):
        if call.dtypes["input"] not in (...):
            return None                               # no kernel for this call: PyTorch computes
        out = torch.empty(call.result.shape, dtype=TORCH[call.result.dtype], device=call.place)
        launch(_rows, (rows,), [input, out, columns], {"BLOCK": 1024}, warps=4)
        return out                                    # or any dtype: it is cast to the result's

Arguments are tensors of PyTorch, integers and floats, in the order of the parameters that are not
``tl.constexpr``; those are given by name. As in Triton, integers are 32 bits where they fit, one
that is 1 is a constant of the kernel, and it is known which are multiples of 16. A float is fp32,
or fp64 where the parameter is annotated ``"fp64"``. Tensors of bool and float8 have Triton's types;
view complex ones as pairs. A grid has no zero: return before, where there are no elements. Errors
that depend on elements are flags: pass ``pending.slot(call.place, error)``, a tensor of one uint8,
and store 1 to it.
"""

# Each declares kernels of some operators, by being imported.
from suanzi.runtimes.torch.triton import (  # noqa: F401
    activations,
    attention,
    attention_bwd,
    elements,
    embedding_bwd,
    groups,
    losses,
    norms,
    products,
    reducing,
    rotating,
    scanning,
    softmaxes,
    tables,
    transpose,
)
from suanzi.runtimes.torch.triton.launching import launch

__all__ = ["launch"]
