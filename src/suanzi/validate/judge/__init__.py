"""Is this kernel right? Exact truth, derived bounds, and a verdict for who has to fix it.

>>> import numpy as np
>>> def my_softmax(x):
...     e = np.exp(x - x.max(-1, keepdims=True))
...     return e / e.sum(-1, keepdims=True)
>>> bool(sz.judge(my_softmax, "softmax", dtypes="float32"))
True
>>> print(sz.judge(lambda x: 0 * x, "softmax", dtypes="float32").findings[0])  # doctest: +ELLIPSIS
JD201 zeros: every element is 0 ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.conformance.running.process import Local
from suanzi.conformance.subjects.kernel_adapter import Adapter
from suanzi.conformance.subjects.wire import Unsuitable
from suanzi.promote.live import NotInstalled
from suanzi.validate.judge.arguments import request
from suanzi.validate.judge.engine import judge_request
from suanzi.validate.judge.findings import CODES, Finding
from suanzi.validate.judge.own import register
from suanzi.validate.judge.right import assert_right
from suanzi.validate.judge.verdict import CaseResult, Verdict

__all__ = ["CODES", "CaseResult", "Finding", "Judge", "Verdict", "assert_right", "judge"]


class Judge:
    """``sz.judge``: judges kernels; ``sz.judge.register`` adds an operator of your own."""

    register = staticmethod(register)

    def __call__(
        self,
        kernel: Callable[..., Any],
        op: str,
        *,
        dtypes: Sequence[Any] | str | None = None,
        shapes: Sequence[Any] | None = None,
        device: str | None = None,
        framework: str | None = None,
        accumulate: str | None = None,
        params: Mapping[str, Any] | None = None,
        standards: Sequence[str] | str = (),
        backward: bool = False,
    ) -> Verdict:
        """Return the verdict on a kernel: a callable that takes tensors and returns them.

        The tensors are those of the framework that the kernel's module uses, or of `framework`:
        numpy, torch, jax, cupy, paddle, mindspore, suanzi. `dtypes` must all be taken; without it,
        those of float32, float16 and bfloat16 that the kernel takes. `shapes` are shapes of the
        first operand, or mappings of operands to shapes. `accumulate` is the arithmetic that the
        kernel declares: float32 by default, float64 for float64. `params` says what the kernel does
        where it has no parameter: ``params={"eps": 1e-6}``. `standards` are names of accuracy
        standards of others, whose verdicts are added: ``standards=("ttk", "assert-close")``. With
        `backward`, the gradients that the framework (torch, jax) derives from the kernel are
        judged, too.

        >>> zeros = sz.judge(
        ...     lambda x: 0 * x, "softmax", dtypes="bfloat16", shapes=[(2, 1000)], standards="ttk"
        ... )
        >>> print(zeros.standards[0])
        ttk: accepts 5 of 6 cases, among them 5 that are wrong
        """
        if not callable(kernel):
            raise InvalidArgument(
                f"judge: the kernel is a {type(kernel).__name__}; it must be callable."
            )
        wanted = request(
            op, dtypes=dtypes, shapes=shapes, accumulate=accumulate, params=params,
            standards=standards, backward=backward,
        )  # fmt: skip
        asked = Local(_adapter(kernel, framework, device, wanted.gradients))
        asked.backend.options["device"] = device
        name = getattr(kernel, "__name__", type(kernel).__name__)
        return judge_request(asked, name, wanted)


def _adapter(
    kernel: Callable[..., Any],
    framework: str | None,
    device: str | None,
    gradients: list[str] | None,
) -> Adapter:
    """Return a kernel as a subject; a framework or a device that does not exist is refused."""
    try:
        return Adapter(kernel, framework=framework, device=device, gradients=gradients)
    except ImportError as error:
        name = framework or "the framework"
        raise NotInstalled(f"judge: {name} cannot be loaded: {error}.") from None
    except (RuntimeError, Unsuitable) as error:
        raise InvalidArgument(f"judge: {error}.") from None


judge = Judge()
