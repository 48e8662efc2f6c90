"""JAX's way to a program, without what it does anew for every one of thousands."""

import jax


class Programs:
    """Expressions of many steps, each of which JAX would compile for itself, as one program.

    Tensors are arguments of the program, so that calls of equal shapes and dtypes share it;
    whatever else a call says is part of it.
    """

    def __init__(self, evaluate):
        self._evaluate = evaluate
        self._made = {}

    def of(self, op, bound):
        """Return what the expression of an interface gives for arguments."""
        tensors = {name: x for name, x in bound.items() if _is_tensors(x)}
        rest = {name: x for name, x in bound.items() if name not in tensors}
        key = op, repr(sorted(rest.items()))
        if key not in self._made:
            self._made[key] = jax.jit(lambda given: self._evaluate(op, {**rest, **given}))
        return self._made[key](tensors)


def _is_tensors(x):
    """Tell whether an argument is an array of JAX's, or several."""
    if isinstance(x, list):
        return bool(x) and all(map(_is_tensors, x))
    return isinstance(x, jax.Array)


def share_contexts():
    """Let all programs be written in one context of MLIR.

    JAX makes one for each, loads its dialects into it and keeps it as long as the program: a tenth
    of the time, and four fifths of the memory that a program takes. The programs are the same to
    the byte, so that those that were kept are found. It is no public function: where JAX has it no
    more, or says with arguments what context it wants, nothing is shared.
    """
    try:
        from jax._src.interpreters import mlir

        make = mlir.make_ir_context
    except (ImportError, AttributeError):
        return
    made = []

    def shared(*args, **kwargs):
        if args or kwargs:
            return make(*args, **kwargs)
        if not made:
            made.append(make())
        return made[0]

    mlir.make_ir_context = shared
