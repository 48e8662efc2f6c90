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
    """Let the former names lead to the modules, which are all loaded: suanzi's names come from them."""
    for old, new in _MOVED.items():
        sys.modules[f"suanzi.{old}"] = sys.modules[f"suanzi.{new}"]
