"""The tools that agents call: explain, judge and truth; data in, data and a short text out.

They know nothing of MCP: `suanzi.front.agents.server` serves them. An argument that is wrong raises
InvalidArgument, which says what is expected.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from suanzi.base.hints import nearest, shown
from suanzi.base.status import InvalidArgument
from suanzi.front.agents.schemas import schema

MOST_CASES = 10
"""Wrong cases of a verdict that are returned; the smallest ones."""
LONGEST_SCRIPT = 20_000
SECONDS = 120.0
"""How long a kernel is judged, unless more is asked for: a client does not wait forever."""

Arguments = Mapping[str, Any]


MOST_ITEMS = 1000
"""Items that a list among the arguments may have; those of a tensor are not counted."""


class Answer(NamedTuple):
    """What a tool returns."""

    data: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Tool:
    """A tool: its name, what it is for, and the schemas of what it takes and returns."""

    name: str
    title: str
    description: str
    takes: dict[str, Any]
    returns: dict[str, Any]
    call: Callable[[Arguments], Answer]
    apart: bool
    """Whether it runs in a process of its own: it takes long, or much memory."""


def check(tool: Tool, arguments: Any) -> None:
    """Raise InvalidArgument unless arguments fit the schema of a tool."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    known = tool.takes["properties"]
    strange = [name for name in arguments if name not in known]
    if strange:
        raise InvalidArgument(
            f"{tool.name}: there is no argument {strange[0]!r}; it takes {', '.join(known)}."
            + nearest(strange[0], known)
        )
    missing = [name for name in tool.takes["required"] if name not in arguments]
    if missing:
        raise InvalidArgument(
            f"{tool.name}: {missing[0]!r} is missing: {known[missing[0]]['description']}"
        )
    for name, x in arguments.items():  # each item is looked at below
        length = max([len(x), *(len(y) for y in x if isinstance(y, list))]) if x and isinstance(
            x, list | dict) else 0  # fmt: skip
        if length > MOST_ITEMS:
            raise InvalidArgument(
                f"{tool.name}: {name} has a list of {length:,} items; give at most {MOST_ITEMS:,}."
            )
    error = best_match(Draft202012Validator(tool.takes).iter_errors(arguments))
    if error is not None:
        name = next(iter(error.absolute_path), "")
        raise InvalidArgument(
            f"{tool.name}: {name} is {shown(arguments[name])}; expected: "
            f"{known[name]['description']}"
        )


# ---- explain -------------------------------------------------------------------------------------


def explain(arguments: Arguments) -> Answer:
    """Return what operands are promoted to, under one rule set or several."""
    from suanzi.promote.library import DEFAULT, rule_sets, rules_or_file
    from suanzi.promote.operands import typed_operand
    from suanzi.promote.questions import explain as one_of
    from suanzi.promote.questions import explain_all

    operands = [typed_operand(x) if isinstance(x, str) else x for x in arguments["operands"]]
    rules, op, like = (arguments.get(name) for name in ("rules", "op", "like"))
    names = rule_sets() if rules == "all" else (rules or DEFAULT).split(",")
    chosen = [rules_or_file(name) for name in dict.fromkeys(names) if name.strip()]
    if not chosen:
        raise InvalidArgument(f"explain: rules is {rules!r}; name one of {', '.join(rule_sets())}.")
    if like is None and len(chosen) > 1:
        several = explain_all(*operands, rules=chosen, op=op)
        return Answer({"explanations": several.to_dict()}, str(several))
    kept = None if like is None else rules_or_file(like)
    each = [one_of(*operands, rules=one, op=op, like=kept) for one in chosen]
    return Answer({"explanations": [e.to_dict() for e in each]}, "\n\n".join(map(str, each)))


# ---- judge ---------------------------------------------------------------------------------------


def judge(arguments: Arguments) -> Answer:
    """Return the verdict on a kernel, which runs in a process of its own."""
    from suanzi.conformance.running.children import children_ended
    from suanzi.validate.judge.arguments import request
    from suanzi.validate.judge.child import judge_in_child, kernel_backend

    given = dict(arguments)
    kernel, source, name = (given.pop(one, None) for one in ("kernel", "source", "name"))
    if (kernel is None) == (source is None):
        raise InvalidArgument(
            "judge: give either kernel, FILE::NAME of a file that exists, or source, the text of a "
            "Python module, and not both."
        )
    limits = {
        "timeout": given.pop("timeout", 30.0),
        "seconds": given.pop("seconds", SECONDS),
    }
    where = {one: given.pop(one, None) for one in ("device", "framework", "python")}
    wanted = request(given.pop("op"), **given)
    with ExitStack() as stack:
        stack.enter_context(children_ended())
        title = kernel
        if source is not None:
            name = name or _only_function(source)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            (folder / "kernel.py").write_text(source, "utf-8")
            kernel, title = f"{folder / 'kernel.py'}::{name}", f"kernel.py::{name}"
        found = judge_in_child(kernel_backend(kernel, **where), title, wanted, **limits)
    data = found.to_dict()
    wrong = {one.id for one in found.failures[:MOST_CASES]}
    data["cases"] = [one for one in data["cases"] if one["id"] in wrong]
    if len(data["script"]) > LONGEST_SCRIPT:
        data["script"] = ""
    return Answer(data, str(found))


def _only_function(source: str) -> str:
    """Return the name of the function of a module that has one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        at = f", line {line}," if line else ""
        raise InvalidArgument(
            f"judge: source{at} is not Python: {getattr(error, 'msg', error)}."
        ) from None
    names = [
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")
    ]
    if len(names) != 1:
        raise InvalidArgument(
            f"judge: source has {', '.join(names) or 'no function'}; give the one to judge as name."
        )
    return names[0]


# ---- truth ---------------------------------------------------------------------------------------


def truth(arguments: Arguments) -> Answer:
    """Return the correctly rounded answer of an operator."""
    from suanzi.front.agents.arrays import read_tensor, write_outputs
    from suanzi.truth import exact_function

    op, inputs, params = arguments["op"], arguments["inputs"], arguments.get("params", {})
    named = inputs if isinstance(inputs, Mapping) else {}
    tensors = {str(name): read_tensor(x, str(name)) for name, x in named.items()}
    in_order = [] if named else [read_tensor(x, str(i)) for i, x in enumerate(inputs)]
    twice = sorted({*tensors} & {*params})
    if twice:
        raise InvalidArgument(f"truth: {twice[0]} is in inputs and in params; give it once.")
    made = exact_function(op)(*in_order, **tensors, **params)
    outputs = made if isinstance(made, tuple) else (made,)
    data, text = write_outputs(op, outputs, arguments.get("output"))
    return Answer(data, text)


# ---- what they take ------------------------------------------------------------------------------


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object", "required": list(required), "additionalProperties": False,
        "properties": properties,
    }  # fmt: skip


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": description}


def _texts(description: str) -> dict[str, Any]:
    items = {"type": "string", "minLength": 1}
    return {"type": "array", "items": items, "minItems": 1, "description": description}


_OP = _text("The operator, such as 'softmax', 'add', 'nn:rms_norm'; `suanzi ops` lists them.")
_SECONDS = {"type": "number", "exclusiveMinimum": 0}
_TENSOR = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "values": {"type": ["array", "number", "boolean", "string"]},
        "npy": {"type": "string", "minLength": 1},
        "dtype": {"type": "string", "minLength": 1},
    },
    "oneOf": [{"required": ["values"]}, {"required": ["npy"]}],
}


def _explanations() -> dict[str, Any]:
    """Return the schema of several explanations; its definitions go to the top."""
    one = schema("explain")
    defs = one.pop("$defs")
    items = {name: x for name, x in one.items() if name not in ("$schema", "title")}
    several = {"type": "array", "minItems": 1, "items": items}
    return {**_object(("explanations",), explanations=several), "$defs": defs}


def tools() -> tuple[Tool, ...]:
    """Return the tools."""
    return (
        Tool(
            "explain", "Explain a dtype",
            "Explain which dtype operands are promoted to in CANN, MindSpore, Paddle, OpenVINO, "
            "PyTorch, NumPy or JAX: the dtype, why, what is lost, and the fix.",
            _object(
                ("operands",),
                operands={
                    "type": "array", "minItems": 1, "maxItems": MOST_ITEMS,
                    "items": {"type": ["string", "number", "boolean"]},
                    "description": "A list of dtypes ('int32', 'bf16'), 0-d tensors ('0d:f32'), "
                    "Python numbers (2.5) or 'py:int'.",
                },
                rules=_text("A rule set, such as 'torch', several joined by commas, or 'all'; "
                            "'cann' by default."),
                op=_text("An operator ('add', '==') or a class of them ('comparison')."),
                like=_text("The rule set of the original program; the fix keeps its dtype."),
            ),
            _explanations(), explain, apart=False,
        ),
        Tool(
            "judge", "Judge a kernel",
            "Decide whether a kernel computes an operator correctly: it is called with hard inputs "
            "in a process of its own and compared with the exact answer, within a bound that "
            "follows from operator, dtypes and data. Crashes and hangs are findings. Executes the "
            "kernel's code on this machine. Fix findings[0] first, then judge again.",
            _object(
                ("op",),
                op=_OP,
                kernel=_text("FILE::NAME of a Python file, as 'kernels.py::my_softmax', or a C "
                             "library, './libvendor.so'."),
                source=_text("The text of a Python module with the kernel, instead of a file."),
                name=_text("Which function of source; not needed if it has one."),
                dtypes=_texts("A list of dtypes that it must take, such as ['float32', "
                              "'bfloat16']; by default those of float32, float16, bfloat16 that "
                              "it takes."),
                shapes={
                    "type": "array", "minItems": 1,
                    "items": {"type": "array", "items": {"type": "integer", "minimum": 0}},
                    "description": "A list of shapes of the first operand, [[4, 1000]], instead of "
                    "the usual ones.",
                },
                params={"type": "object", "description": "An object of parameters that the kernel "
                        "has fixed, such as {\"eps\": 1e-6}."},
                device=_text("Where the tensors are: 'cuda', 'cuda:1', 'npu'; cpu by default."),
                framework=_text("The framework of its tensors, if the code does not show it: "
                                "'torch', 'jax', 'numpy'."),
                accumulate=_text("The arithmetic that the kernel declares: 'float32' (the "
                                 "default), 'float16', 'bfloat16', 'tfloat32', 'float64'."),
                standards=_texts("A list of accuracy standards of others whose verdicts are added: "
                                 "['ttk', 'assert-close'], ['all']."),
                backward={"type": "boolean", "description": "true to judge the gradients that "
                          "torch or jax derive, too."},
                python=_text("The path of the interpreter that has the framework."),
                timeout={**_SECONDS, "description": "Seconds that a call may take; 30 by default."},
                seconds={**_SECONDS, "description": "Seconds after which no more cases are put; "
                         f"{SECONDS:g} by default."},
            ),
            schema("judge"), judge, apart=True,
        ),
        Tool(
            "truth", "Compute the exact answer",
            "Compute the correctly rounded answer of an operator for given inputs: what a perfect "
            "kernel returns.",
            _object(
                ("op", "inputs"),
                op=_OP,
                inputs={
                    "anyOf": [
                        {"type": "array", "items": _TENSOR, "minItems": 1},
                        {"type": "object", "additionalProperties": _TENSOR, "minProperties": 1},
                    ],
                    "description": "A list of tensors in the order of the operator, or an object "
                    "of them by name; a tensor is {\"values\": [[1, 2]], \"dtype\": \"bfloat16\"} "
                    "or {\"npy\": \"x.npy\"}, float32 by default; 'nan' and 'inf' are strings.",
                },
                params={"type": "object", "description": "An object of the other parameters, such "
                        "as {\"axis\": -1}."},
                output=_text("A .npy file to write the answer to, for large ones."),
                seconds={**_SECONDS, "description": "Seconds that it may take; "
                         f"{SECONDS:g} by default."},
            ),
            schema("truth"), truth, apart=True,
        ),
    )  # fmt: skip
