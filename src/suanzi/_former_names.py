"""Modules that have moved and whose names stand in pickles: the old names lead to the new files."""

import sys

_MOVED = {
    "tensor": "tensors.tensor",
    "reducing": "ops.reduction_modes",
    "fourier": "libraries.fft",
    "ops.complex_numbers": "ops.complex",
    "ops.decompositions": "ops.linear_algebra_decompositions",
    "ops.indices": "ops.indexing",
    "ops.least_squares": "ops.linear_algebra_least_squares",
    "ops.norm": "ops.linear_algebra_norm",
    "ops.products": "ops.linear_algebra_products",
    "ops.products_backward": "ops.linear_algebra_products_backward",
    "ops.random": "ops.creation_random",
    "ops.solving": "ops.linear_algebra_solving",
}


def keep_former_names() -> None:
    """Let former names lead to the modules, all of which `import suanzi` has loaded by then."""
    for old, new in _MOVED.items():
        sys.modules[f"suanzi.{old}"] = sys.modules[f"suanzi.{new}"]
