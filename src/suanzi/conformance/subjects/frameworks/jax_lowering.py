"""JAX's way to a program, without what it does anew for every one of thousands."""


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
