"""What suanzi takes from private parts of other packages: the one list, and how it is taken.

A newer version may lack a part, or have another one of that name. Then there is one warning, which
says what is switched off; where nothing works without the part, the error says so in a line. This
file imports nothing of suanzi: the interpreters of programs read it, too.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import warnings
from typing import Any, NamedTuple


class Part(NamedTuple):
    """A private part of another package."""

    name: str
    tried: str
    without: str
    used: tuple[str, ...]
    takes: int | None = None


def _parts(
    tried: str, without: str, used: str, *names: str, takes: int | None = None
) -> list[Part]:
    """Return parts that are used by the same files, and without which the same is missing."""
    return [Part(name, tried, without, tuple(used.split()), takes) for name in names]


_TORCH = "2.11.0 to 2.13.0"
_BLAME = "2.11.0 to 2.15.0"
PARTS = (
    # ---- PyTorch: tensors on its devices ----
    *_parts(
        _TORCH, "16-bit products read PyTorch's setting by its public name, which is slower",
        "runtimes/torch/matrices.py",
        "torch._C._get_cublas_allow_fp16_reduced_precision_reduction",
        "torch._C._set_cublas_allow_fp16_reduced_precision_reduction",
        "torch._C._get_cublas_allow_bf16_reduced_precision_reduction",
        "torch._C._set_cublas_allow_bf16_reduced_precision_reduction",
    ),
    *_parts(
        "2.11.0", "kernels read the current stream by its public name, which is slower",
        "runtimes/torch/triton/driver.py", "torch._C._cuda_getCurrentRawStream",
    ),
    *_parts(
        "2.11.0", "the steps of an operator are not started by one call, which is slower",
        "runtimes/torch/triton/driver.py", "torch._C._dynamo.guards._empty_strided_cuda",
    ),
    # ---- PyTorch: programs that are recorded (port) or judged (blame) ----
    *_parts(
        _BLAME, "programs of PyTorch cannot be recorded or judged",
        "recording/recorders/record_torch.py validate/blame/tensors.py validate/blame/watching.py",
        "torch.utils._python_dispatch.TorchDispatchMode",
    ),
    *_parts(
        _TORCH, "programs of PyTorch cannot be recorded",
        "recording/recorders/record_torch.py recording/recorders/inputs.py "
        "recording/recorders/values.py",
        "torch._C.DisableTorchFunction",
    ),
    *_parts(
        _TORCH, "programs of PyTorch cannot be recorded", "recording/recorders/record_torch.py",
        "torch._C.ScriptFunction", "torch._C.ScriptMethod",
    ),
    *_parts(
        _TORCH, "programs of PyTorch cannot be recorded", "recording/recorders/values.py "
        "recording/recorders/record_torch.py", "torch._C._get_tracing_state",
    ),
    *_parts(
        _BLAME, "steps of a program of PyTorch are not skipped, so that blame may take longer",
        "recording/recorders/values.py validate/blame/tensors.py validate/blame/watching.py",
        "torch._C._len_torch_dispatch_stack",
    ),
    *_parts(
        _TORCH, "values of tensors inside torch.func are recorded as those of plain tensors",
        "recording/recorders/values.py", "torch._C._functorch.is_functorch_wrapped_tensor",
    ),
    *_parts(
        _BLAME, "programs of PyTorch cannot be judged",
        "validate/blame/tensors.py validate/blame/saved.py",
        "torch.utils._python_dispatch._disable_current_modes", takes=0,
    ),
    *_parts(
        _BLAME, "programs of PyTorch cannot be judged",
        "validate/blame/tensors.py validate/blame/watching.py",
        "torch.utils._python_dispatch._get_current_dispatch_mode", takes=0,
    ),
    *_parts(
        _BLAME, "gradients are not found at the lines they are of", "validate/blame/locations.py",
        "torch._C._current_autograd_node", "torch.autograd._get_sequence_nr",
        "torch.autograd.graph.Node._sequence_nr",
    ),
    *_parts(
        _BLAME, "operators that others implement count as PyTorch's",
        "validate/blame/tensors.py validate/blame/operators.py",
        "torch._C._dispatch_has_kernel_for_dispatch_key",
    ),
    *_parts(
        _BLAME, "the time that judging takes is not measured", "validate/blame/calibrating.py",
        "torch._foreach_mul", "torch._foreach_add_",
    ),
    *_parts(
        _BLAME, "programs of PyTorch cannot be recorded or judged",
        "recording/recorders/record_torch.py validate/blame/tensors.py validate/blame/operators.py "
        "validate/blame/saved.py",
        "torch.ops.aten.add.Tensor._schema",
    ),
    *_parts(
        _BLAME, "calls that are wrong are not saved", "validate/blame/saved.py",
        "torch.ops.aten.add.Tensor._overloadname",
    ),
    *_parts(
        _TORCH, "programs of PyTorch cannot be recorded",
        "recording/recorders/record_torch.py recording/recorders/values.py "
        "recording/recorders/inputs.py", "torch.Tensor._version",
    ),
    *_parts(
        _BLAME, "whether torch.compile was imported is not seen",
        "recording/recorders/record_torch.py validate/blame/hooks.py", "torch._dynamo",
    ),
    *_parts(
        _BLAME, "tensors that a trace makes are judged as others", "validate/blame/tensors.py",
        "torch._subclasses",
    ),
    # ---- PyTorch, in processes of their own: the kit's subject, and a probe of `suanzi live` ----
    *_parts(
        _TORCH, "the kit has no answer for scaled_linear", "conformance/subjects/frameworks/"
        "nn_torch.py", "torch._scaled_mm", "torch._int_mm",
    ),
    *_parts(
        _TORCH, "the kit has no sparse tensors of PyTorch", "conformance/subjects/frameworks/"
        "torch_adapter.py", "torch.Tensor._indices",
    ),
    *_parts(
        _TORCH, "`suanzi live inductor` does not work", "promote/probes/probe_inductor.py",
        "torch._inductor.decomposition.select_decomp_table", "torch._inductor.graph.GraphLowering",
        "torch._inductor.virtualized.V", "torch._subclasses.FakeTensorMode",
    ),
    # ---- Triton ----
    *_parts(
        "3.6.0 to 3.9.0", "kernels of suanzi's own are not used, and PyTorch computes",
        "runtimes/torch/loading.py runtimes/torch/triton/launching.py",
        "triton.compiler.ASTSource", "triton.compiler.compile",
    ),
    *_parts(
        "3.6.0 to 3.9.0", "kernels of suanzi's own are not used, and those of programs not noted",
        "runtimes/torch/loading.py runtimes/torch/triton/launching.py validate/blame/hooks.py",
        "triton.runtime.jit.JITFunction",
    ),
    *_parts(
        "3.6.0 to 3.9.0", "kernels that are interpreted may round tl.fma twice",
        "base/triton_interpreter.py", "triton.runtime.interpreter",
    ),
    *_parts(
        "3.6.0 to 3.9.0", "`suanzi live triton` does not work", "promote/probes/probe_triton.py",
        "triton._C.libtriton.ir",
    ),
    # ---- JAX, Dask, Paddle, pytest ----
    *_parts(
        "0.10.2 to 0.12.0", "programs of JAX cannot be judged", "validate/blame/primitives.py",
        "jax._src.core.EvalTrace.process_primitive",
    ),
    *_parts(
        "0.10.2 to 0.12.0", "the kit takes more memory and time for JAX",
        "conformance/subjects/frameworks/jax_lowering.py",
        "jax._src.interpreters.mlir.make_ir_context",
    ),
    *_parts(
        "2026.8.0", "tasks of blocks are fused by nesting, which is slower",
        "runtimes/cluster/optimizing.py",
        "dask._task_spec.Alias", "dask._task_spec.DataNode", "dask._task_spec.Task",
        "dask._task_spec.TaskRef",
    ),
    *_parts(
        "2026.8.0", "tasks of blocks are fused by nesting, which is slower",
        "runtimes/cluster/optimizing.py", "dask._task_spec._execute_subgraph", takes=3,
    ),
    *_parts(
        "3.3.1", "calls of Paddle's operators from C are not recorded",
        "recording/recorders/record_paddle.py", "paddle._C_ops",
    ),
    *_parts(
        "9.2.0", "each parameter is a test of suanzi's own suite", "tests",
        "pytest.Metafunc._calls",
    ),
)  # fmt: skip
"""With what it was tried; what is switched off without it; the files below `src/suanzi` that use
it; how many arguments it is called with. An object's attribute stands below an example of it."""
KNOWN = {part.name: part for part in PARTS}
_warned: set[str] = set()


class Lacking(ImportError):
    """Another package has no part without which nothing works."""


def take(name: str, expected: bool = True) -> Any:
    """Return a part; without it, None, and one warning where it is expected."""
    part = KNOWN[name]
    found = _found(part)
    if found is None and expected and _is_new(part) and part.without not in _warned:
        _warned.add(part.without)
        warnings.warn("suanzi: " + message(part), RuntimeWarning, stacklevel=2)
    return found


def need(*names: str) -> None:
    """Raise Lacking, with one line, where one of these parts is missing."""
    for name in names:
        if _found(KNOWN[name]) is None:
            raise Lacking(message(KNOWN[name]))


def message(part: Part) -> str:
    """Return which part is missing, the versions it was tried with, and what is switched off."""
    package = part.name.partition(".")[0]
    text = "{0} {1} has no {2} as suanzi uses it, a private part (tried with {0} {3}): {4}."
    return text.format(package, _version(package), part.name, part.tried, part.without)


def _found(part: Part) -> Any:
    """Return a part, or None where it is missing or takes other arguments."""
    path, *names = part.name.split(".")
    if not _is_installed(path):
        return None
    found = importlib.import_module(path)
    for name in names:
        path = path + "." + name
        made = getattr(found, name, None)
        found = _module(path) if made is None else made
        if found is None:
            return None
    if part.takes is not None:
        try:
            inspect.signature(found).bind(*[None] * part.takes)
        except TypeError:
            return None
        except ValueError:  # compiled, it does not say
            pass
    return found


def _is_installed(package: str) -> bool:
    return package in sys.modules or importlib.util.find_spec(package) is not None


def _module(path: str) -> Any:
    """Return a module that nothing imported yet, or None."""
    try:
        return importlib.import_module(path)
    except ImportError:
        return None


def _version(package: str) -> str:
    return str(getattr(importlib.import_module(package), "__version__", "of unknown version"))


def _is_new(part: Part) -> bool:
    """Tell whether a package is as new as the first version that a part was tried with.

    What older ones lack, they always lacked, and suanzi's code for them does without it.
    """
    package = part.name.partition(".")[0]
    if not _is_installed(package):
        return False
    first, now = (re.findall(r"\d+", text) for text in (part.tried.split()[0], _version(package)))
    return [*map(int, now[:3])] >= [*map(int, first[:3])]
