"""Functions whose accuracy is measured and that no catalogue has, as frameworks name them.

This file is read by the kit and, alone, by the interpreter of a subject.
"""

from __future__ import annotations

from typing import Any

MORE = "more:"
"""What the keys of such functions begin with."""


def _of(module: str, names: str, form: str = "x") -> dict[str, str]:
    """Return expressions: `exp2`, or `atan2=arctan2` where the framework has another name."""
    pairs = (name.partition("=") for name in names.split())
    return {ours: f"{module}.{theirs or ours}({form})" for ours, _, theirs in pairs}


EXPRESSIONS = {
    "numpy": {
        **_of("np", "exp2 cbrt sinc deg2rad rad2deg"),
        **_of("np", "fmod hypot atan2=arctan2", "x, y"),
        "var": "np.var(x, axis=-1)",
    },
    "torch": {
        **_of("torch", "exp2 sinc deg2rad rad2deg"),
        **_of("torch.special", "erfcx erfinv i0e i1e"),
        **_of("torch", "fmod hypot atan2", "x, y"),
        "var": "torch.var(x, -1, correction=0)",
    },
    "jax": {
        **_of("jax.lax", "exp2 cbrt erfinv=erf_inv i0e=bessel_i0e i1e=bessel_i1e"),
        **_of("jnp", "sinc deg2rad rad2deg"),
        "erfcx": "jax.scipy.special.erfcx(x)",
        "atan2": "jax.lax.atan2(x, y)",
        **_of("jnp", "fmod hypot", "x, y"),
        "var": "jnp.var(x, axis=-1)",
    },
    "paddle": {
        **_of("paddle", "erfinv i0e i1e sinc deg2rad rad2deg"),
        **_of("paddle", "hypot atan2", "x, y"),
        "var": "paddle.var(x, -1, unbiased=False)",
    },
    "mindspore": {
        **_of("ops", "exp2 erfinv sinc deg2rad rad2deg i0e=bessel_i0e i1e=bessel_i1e"),
        **_of("ops", "fmod hypot atan2", "x, y"),
        "var": "ops.var(x, -1, 0)",
    },
    "openvino": {"fmod": "run(o.mod(*promoted(x, y)))"},
}  # fmt: skip


def added(adapter: Any) -> Any:
    """Return an adapter that also has these functions, if it is one of a framework."""
    code = getattr(adapter, "_code", None)
    if isinstance(code, dict):
        for name, text in EXPRESSIONS.get(adapter.name, {}).items():
            code[MORE + name] = compile(text, f"<{name}>", "eval")
    return adapter


def missing(adapter: Any, op: str) -> str:
    """Return why an adapter does not have such a function; nothing if it has it.

    An adapter of anybody's has those that its `mapping` lists by their keys.
    """
    if not op.startswith(MORE):
        return ""
    known = getattr(adapter, "_code", None) or getattr(adapter, "mapping", None) or {}
    name = getattr(adapter, "title", "") or getattr(adapter, "name", "it")
    return "" if op in known else f"{name} has no {op[len(MORE) :]}"
