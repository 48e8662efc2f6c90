"""Tensors on PyTorch's devices: ``cuda``, ``xpu``, ``mps``, ``torch:npu`` and ``torch:cpu``.

They compute with PyTorch, in the dtypes and with the roundings that suanzi's CPU has: operands are
rounded once to the promoted dtype, and narrow floats are computed in float32.
"""

import warnings

try:
    import torch as _torch
except ModuleNotFoundError:
    raise ImportError(
        "PyTorch is not installed; `pip install 'suanzi[torch]'` installs it"
    ) from None

with warnings.catch_warnings():  # the first tensor of complex32 warns, once
    warnings.simplefilter("ignore")
    _torch.empty(0, dtype=_torch.complex32)

# Each declares how some operators run, by being imported.
from suanzi.runtimes.torch import (  # noqa: F401
    copying,
    elements,
    matrices,
    models,
    namespace,
    namespace_numbers,
    nn_activations,
    nn_alignments,
    nn_attention,
    nn_delta,
    nn_experts,
    nn_losses,
    nn_norms,
    nn_quantised,
    nn_steps,
    nn_tables,
    nn_windows,
    ordering,
    randoms,
    reductions,
    subscripts,
    transforms,
)
from suanzi.runtimes.torch.tensor import TorchTensor, from_torch
from suanzi.runtimes.torch.ways import WAYS

__all__ = ["WAYS", "TorchTensor", "from_torch"]
