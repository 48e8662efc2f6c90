"""Runs in a framework's interpreter: answers the questions of differences.txt, and prints them.

It imports nothing of suanzi, which imports its reader.
"""

import json
import math
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FRAMEWORKS = ("torch", "paddle", "mindspore", "jax", "openvino")
NEEDS = {"openvino": ("openvino", "torch")}
NOT_INSTALLED = 3
FILE = Path(__file__).resolve().parent.parent / "differences.txt"


def read(text: str) -> "list[dict[str, Any]]":
    """Return the questions: dictionaries of name, title, operators, when, x, y, z, and frameworks.

    The entry of a framework is its expression and its answer, which is empty where none is kept.
    """
    questions: "list[dict[str, Any]]" = []
    for line in text.splitlines():
        if line.startswith("["):
            name, _, title = line[1:].partition("] ")
            questions.append({"name": name, "title": title})
        elif questions and line.strip() and not line.startswith("#"):
            key, _, rest = line.partition(" ")
            if key in FRAMEWORKS:
                expression, _, answer = rest.strip().partition(" -> ")
                questions[-1][key] = (expression.strip(), answer.strip())
            else:
                questions[-1][key] = rest.strip()
    return questions


def shown(values):
    """Return numbers as a person writes them."""
    found = []
    for value in values:
        if isinstance(value, float) and math.isfinite(value) and not value.is_integer():
            found.append(f"{value:.4g}")
        elif isinstance(value, float) and (not math.isfinite(value) or str(value) == "-0.0"):
            found.append(str(value).replace(".0", ""))
        else:
            found.append(str(int(value)))
    return " ".join(found)


def spaces(framework):
    """Return the version of a framework, the names of its expressions, and how arrays get in."""
    import numpy

    if framework in ("torch", "openvino"):
        import torch

        names = {"torch": torch, "F": torch.nn.functional}
        version = torch.__version__.partition("+")[0]
        if framework == "openvino":
            import openvino

            version = openvino.__version__.partition("-")[0]
        return version, names, torch.from_numpy, lambda y: y.numpy()
    if framework == "paddle":
        import paddle

        names = {"paddle": paddle, "F": paddle.nn.functional}
        return paddle.__version__, names, paddle.to_tensor, lambda y: y.numpy()
    if framework == "mindspore":
        import mindspore
        from mindspore import mint, ops

        names = {"mindspore": mindspore, "mint": mint, "ops": ops, "F": mint.nn.functional}
        return mindspore.__version__, names, mindspore.Tensor, lambda y: y.asnumpy()
    import jax

    return jax.__version__, {"jax": jax, "jnp": jax.numpy}, jax.numpy.asarray, numpy.asarray


def converted(expression, names, arrays):
    """Return what OpenVINO computes for an expression of PyTorch."""
    import openvino
    import torch

    class Model(torch.nn.Module):
        def forward(self, *tensors):
            return eval(expression, {**names, **dict(zip(arrays, tensors))})

    given = tuple(torch.from_numpy(one) for one in arrays.values())
    model = openvino.convert_model(Model(), example_input=given)
    compiled = openvino.compile_model(model, "CPU")
    return compiled(list(arrays.values())[: len(model.inputs)])[0]


def main(framework):
    """Return the answers of a framework by question, with its version."""
    import numpy

    version, names, into, out = spaces(framework)
    answers = {}
    for question in read(FILE.read_text("utf-8")):
        expression = question.get(framework, ("-",))[0]
        expression = question["torch"][0] if expression == "as torch" else expression
        if expression == "-":
            continue
        arrays = {}
        for name in ("x", "y", "z"):
            if name in question:
                dtype, *values = question[name].split()
                arrays[name] = numpy.array([float(v) for v in values]).astype(dtype)
        try:
            if framework == "openvino":
                result = converted(expression, names, arrays)
            else:
                given = {name: into(one) for name, one in arrays.items()}
                result = out(eval(expression, {**names, **given}))
            answers[question["name"]] = shown(numpy.asarray(result).ravel().tolist())
        except (IndexError, ValueError):
            answers[question["name"]] = "an error"
        except Exception:  # no such kernel here: no answer
            continue
    return {"version": version, "answers": answers}


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if any(find_spec(module) is None for module in NEEDS.get(sys.argv[1], (sys.argv[1],))):
        raise SystemExit(NOT_INSTALLED)
    print(json.dumps(main(sys.argv[1])))
