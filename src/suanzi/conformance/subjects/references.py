"""Functions in float64, as expressions that NumPy with SciPy, or PyTorch on a device, evaluate.

Each is off by a few units of float64: of float32 and narrower results, by less than `NARROW` units.
What that decides narrowly, mpmath decides. This file is read by the kit and, alone, by the
interpreter of a subject.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

NARROW = 5e-7
"""How far from a tie, in units of the last place of float32, a float64 reference still decides."""

_SOFTPLUS = "(log1p(exp(-abs(x))) + where(x > 0, x, 0.0))"
_SIGMOID = "(1.0 / (1.0 + exp(-x)))"
FORMULAS = {
    "reciprocal": "1.0 / x",
    "sqrt": "sqrt(x)",
    "rsqrt": "1.0 / sqrt(x)",
    "cbrt": "cbrt(x)",
    "square": "x * x",
    **{name: f"{name}(x)" for name in (
        "exp exp2 expm1 log log1p log10 log2 sin cos tan asin acos atan sinh cosh tanh asinh acosh "
        "atanh erf erfc erfcx i0e").split()},
    **{name: f"where(x == 0, x, {name}(x))" for name in ("erfinv", "i1e")},  # SciPy gives 0 for -0
    "sinc": "where(x == 0, 1.0, where(x == rint(x), 0.0, sin(pi * (x - rint(x))) * "
            "(1.0 - 2.0 * abs(fmod(rint(x), two))) / (pi * x)))",
    "deg2rad": "x * (pi / 180)",
    "rad2deg": "x * (180 / pi)",
    "sigmoid": _SIGMOID,
    "log_sigmoid": "-(log1p(exp(-abs(x))) - where(x < 0, x, 0.0))",
    "softplus": _SOFTPLUS,
    "softsign": "x / (1.0 + abs(x))",
    "silu": f"x * {_SIGMOID}",
    "gelu": "x * (erfc(x * -0.7071067811865476) * 0.5)",
    "mish": f"x * tanh({_SOFTPLUS})",
    "pow": "pow(x, y)",
    "div": "x / y",
    "mod": "mod(x, y)",
    "fmod": "fmod(x, y)",
    "atan2": "atan2(x, y)",
    "hypot": "hypot(x, y)",
}  # fmt: skip
"""Of x, or of x and y."""

_COMMON = ("exp exp2 expm1 log log1p log10 log2 sin cos tan sinh cosh tanh sqrt where hypot abs "
           "fmod").split()  # fmt: skip


@cache
def numpy_names() -> dict[str, Any]:
    """Return what the expressions call, in NumPy and SciPy."""
    import numpy as np
    from scipy import special

    found = {name: getattr(np, name) for name in _COMMON}
    inverse = {f"a{name}": getattr(np, f"arc{name}")
               for name in "sin cos tan sinh cosh tanh tan2".split()}  # fmt: skip
    others = {name: getattr(special, name) for name in "erf erfc erfinv erfcx i0e i1e".split()}

    def sin(x: Any) -> Any:
        """NumPy's own is several times slower than its tangent; this has the same digits."""
        half = np.tan(x * 0.5)
        return 2.0 * half / (1.0 + half * half)

    return {
        **found, **inverse, **others, "sin": sin, "cbrt": np.cbrt, "rint": np.rint, "pow": np.power,
        "mod": np.mod, "pi": math.pi, "two": np.float64(2),
    }  # fmt: skip


def torch_names(device: str) -> dict[str, Any]:
    """Return what the expressions call, in PyTorch."""
    import torch

    found = {name: getattr(torch, name) for name in _COMMON}
    inverse = {name: getattr(torch, name)
               for name in "asin acos atan asinh acosh atanh atan2".split()}  # fmt: skip
    others = {name: getattr(torch.special, name)
              for name in "erf erfc erfinv erfcx i0e i1e".split()}  # fmt: skip

    def cbrt(x: Any) -> Any:
        near = torch.copysign(torch.pow(torch.abs(x), 1 / 3), x)
        better = near - (near * near * near - x) / (3 * near * near)
        return torch.where((x == 0) | ~torch.isfinite(x), near, better)

    two = torch.tensor(2.0, dtype=torch.float64, device=device)
    return {
        **found, **inverse, **others, "cbrt": cbrt, "rint": torch.round, "pow": torch.pow,
        "mod": torch.remainder, "pi": math.pi, "two": two,
    }  # fmt: skip


@cache
def _code(name: str) -> Any:
    return compile(FORMULAS[name], f"<{name}>", "eval")


def evaluated(name: str, names: dict[str, Any], x: Any, y: Any = None) -> Any:
    """Return a function of float64 numbers.

    >>> import numpy as np
    >>> evaluated("cbrt", numpy_names(), np.array([27.0])).tolist()
    [3.0]
    """
    return eval(_code(name), {**names, "x": x, "y": y})
