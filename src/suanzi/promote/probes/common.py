"""What the probes share: every pair of operands, put to the framework, printed as JSON.

A probe runs as a script in any interpreter that has the framework, so nothing here imports
suanzi or needs a recent Python.
"""

import itertools
import json
import sys

MARK = "suanzi-probe "
NUMBERS = {"bool": True, "int": 2, "float": 2.5, "complex": 2j}
BINARY = ("true_divide", "equal", "bitwise_and", "logical_and", "max", "floordiv", "concat")
# Of these only unequal dtypes are asked, those of models: which have a kernel is another matter.
UNEQUAL = (
    "matmul dot linear bilinear stack where conv1d conv2d conv3d conv_transpose1d "
    "conv_transpose2d conv_transpose3d scaled_dot_product_attention addmm baddbmm lerp scatter "
    "scatter_add index_add index_copy index_put masked_scatter"
).split()
OF_MODELS = ("int32", "int64", "float16", "bfloat16", "float32", "float64")
# Python has a symbol for them, so every framework takes numbers there.
WITH_NUMBERS = ("true_divide", "equal")


class Missing(Exception):
    """The framework has no kernel for this case, which says nothing about promotion."""


def cells(dtypes, zero_dim_ops=True):
    """Yield (op, operands) for every case a probe asks; no op means promotion itself."""
    zeros = ["0d:" + name for name in dtypes]
    python = ["py:" + name for name in NUMBERS]
    for operands in itertools.chain(
        itertools.product(dtypes, dtypes),
        itertools.product(dtypes, zeros),
        itertools.product(zeros, zeros),
        itertools.product(dtypes, python),
        itertools.product(zeros, python),
    ):
        yield None, list(operands)
    for op in BINARY:
        # That max and floor division take no complex and no bool is not a matter of promotion.
        ordered = op in ("max", "floordiv")
        asked = [d for d in dtypes if not (ordered and (d == "bool" or d.startswith("complex")))]
        zeros = ["0d:" + name for name in asked]
        for operands in itertools.chain(
            itertools.product(asked, asked),
            itertools.product(asked, zeros if op != "concat" and zero_dim_ops else ()),
            itertools.product(zeros, zeros if op != "concat" and zero_dim_ops else ()),
            itertools.product(asked, python if op in WITH_NUMBERS else ()),
        ):
            yield op, list(operands)
    for op in UNEQUAL:
        for operands in itertools.permutations([d for d in OF_MODELS if d in dtypes], 2):
            yield op, list(operands)
    for name in dtypes:
        yield "sqrt", [name]
    for operands in itertools.combinations(dtypes, 3):
        yield "three", list(operands)


def run(framework, version, dtypes, tensor, ops, name_of, zero_dim_ops=True):
    """Ask every case that has an operator in `ops`, and print the answers.

    `tensor(dtype, ndim)` makes an operand, `ops[op](*operands)` computes, `name_of(result)` names
    the dtype. An exception is a refusal, `Missing` a case that could not be asked.
    """
    emit(framework, version, asked(dtypes, tensor, ops, name_of, zero_dim_ops))


def asked(dtypes, tensor, ops, name_of, zero_dim_ops=True, rules=None):
    """Return what `run` prints; `rules` names the rule set, if it is not that of the framework."""
    return asked_of(
        cells(dtypes, zero_dim_ops), lambda text: _operand(tensor, text), ops, name_of, rules
    )


def asked_of(cases, operand, ops, name_of, rules=None):
    """Return the answers to those of the cases that have an operator in `ops`."""
    answers = []
    for op, operands in cases:
        if op in ops:
            made = [operand(text) for text in operands]
            found = _ask(ops[op], name_of, made)
            answers.append([rules, None if op == "three" else op, list(operands), *found])
    return answers


def emit(framework, version, answers):
    """Print what was found, on a line of its own that the reader can find in any noise."""
    found = {"framework": framework, "version": version, "answers": answers}
    sys.stdout.write("\n" + MARK + json.dumps(found) + "\n")


def _operand(tensor, text):
    if text.startswith("py:"):
        return NUMBERS[text[3:]]
    return tensor(text[3:], 0) if text.startswith("0d:") else tensor(text, 1)


def _ask(op, name_of, operands):
    """Return the outcome ("answer", "refused" or "missing") and the dtype or the message."""
    try:
        return "answer", name_of(op(*operands))
    except Missing as error:
        return "missing", str(error)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip(" -")]
        return "refused", "{}: {}".format(type(error).__name__, lines[0] if lines else "")


def fail_if_missing(framework):
    """Exit with status 3 where the framework is not installed."""
    import importlib.util

    if importlib.util.find_spec(framework) is None:
        sys.stderr.write("{} is not installed in {}\n".format(framework, sys.executable))
        sys.exit(3)


def device():
    """Return the device to ask on, or None for the CPU."""
    return sys.argv[1] if len(sys.argv) > 1 else None


def fail_without(name, version, error):
    """Exit where the framework does not have the device that was asked for."""
    words = str(error).strip().split("\n")[0].split(". ")[0].strip(" !.")
    named = " ".join(one for one in (name, version) if one)
    which = " {!r}".format(device()) if device() else ""
    sys.stderr.write("{} has no device{} here: {}\n".format(named, which, words))
    sys.exit(4)


def raising(function, *marks):
    """Wrap an operator so that errors with one of `marks` count as a missing kernel."""

    def call(*operands):
        try:
            return function(*operands)
        except Exception as error:
            if any(mark in str(error) for mark in marks):
                raise Missing(str(error).splitlines()[0]) from None
            raise

    return call
