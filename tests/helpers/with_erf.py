"""What test_new_operator.py runs first in every Python of its copy of the tree, as sitecustomize.

It finds suanzi in that copy, wherever else it may be installed, and gives the core, which was built
before there was an `erf`, the loop of it that was compiled alone.
"""

import ctypes
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).parent


class InTheCopy:
    """Finds the modules of suanzi."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return where a module is; the core gets the loop as soon as it is loaded."""
        if name.partition(".")[0] != "suanzi":
            return None
        spec = PathFinder.find_spec(name, path or [str(SOURCE)])
        if name == "suanzi._core" and spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(core: Any) -> None:
                load(core)
                _add_loop(core)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _add_loop(core: Any) -> None:
    library = ctypes.CDLL(str(SOURCE.parent / "erf.so"))
    loops = {"float32": library.erf_f32, "float64": library.erf_f64}
    declare, run = core.declare_operator, core.run_operator

    def declare_operator(name: str, kernel: str, *facts: Any) -> Any:
        function = facts[5]
        return function if kernel == "erf" else declare(name, kernel, *facts)

    def run_operator(kernel: str, operands: list[Any], dtype: Any) -> Any:
        if kernel != "erf":
            return run(kernel, operands, dtype)
        x, _ = run("max", [*operands, *operands], dtype)  # a copy in the dtype
        lane = "float32" if dtype.name == "float32" else "float64"  # 16 bits are rounded once
        y = core.cast(x, next(d for d in core.DTYPES if d.name == lane), False)
        values = y.numpy()
        dense, made = values.copy(), values.copy()
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (dense, made)]
        loops[lane](*pointers, ctypes.c_size_t(dense.size))
        values[...] = made
        return core.cast(y, dtype, False), 0

    core.declare_operator, core.run_operator = declare_operator, run_operator


sys.meta_path.insert(0, InTheCopy)  # type: ignore[arg-type]
