"""Asks Inductor's lowerings, the dtypes that compiled code has; nothing is compiled.

All cases of an operator are traced as one graph: what raises is refused, the rest is lowered.
"""

from common import NUMBERS, cells, emit, fail_if_missing

fail_if_missing("torch")

import logging  # noqa: E402
import warnings  # noqa: E402

import torch  # noqa: E402
from torch._inductor.decomposition import select_decomp_table  # noqa: E402
from torch._inductor.graph import GraphLowering  # noqa: E402
from torch._inductor.virtualized import V  # noqa: E402
from torch._subclasses import FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
OPS = {
    None: torch.add,
    "true_divide": torch.true_divide,
    "equal": torch.eq,
    "logical_and": torch.logical_and,
    "max": torch.maximum,
    "floordiv": torch.floor_divide,
    "concat": lambda x, y: torch.cat([x, y]),
    "sqrt": torch.sqrt,
}


def lowered(op, cases):
    """Return the dtypes of Inductor's lowering of an operator, or what it raised."""
    names = sorted({text for case in cases for text in case if not text.startswith("py:")})
    refused = {}

    def every(*given):
        tensors, found = dict(zip(names, given, strict=True)), {}
        for case in cases:
            operands = [NUMBERS[t[3:]] if t.startswith("py:") else tensors[t] for t in case]
            try:
                found[case] = OPS[op](*operands)
            except Exception as error:
                refused[case] = error
        every.order = list(found)
        return list(found.values())

    mode = FakeTensorMode()
    with mode:
        tensors = [
            torch.ones(
                () if text.startswith("0d:") else (2,), dtype=getattr(torch, text.split(":")[-1])
            )
            for text in names
        ]
        graph = make_fx(every, decomposition_table=select_decomp_table())(*tensors)
    graph.graph.set_codegen(torch.fx.graph.CodeGen())
    lowering = GraphLowering(graph)
    with V.set_graph_handler(lowering), V.set_fake_mode(mode):
        lowering.run(*tensors)
    dtypes = [str(out.get_dtype()).replace("torch.", "") for out in lowering.graph_outputs]
    return dict(zip(every.order, dtypes, strict=True)), refused


def answers():
    by_op = {}
    for op, operands in cells(DTYPES):
        if op in OPS and "py:complex" not in operands:  # a complex number has few lowerings
            by_op.setdefault(op, []).append(tuple(operands))
    for op, cases in by_op.items():
        found, refused = lowered(op, cases)
        for case in cases:
            if case in found:
                yield [None, op, list(case), "answer", found[case]]
            else:
                text = str(refused[case]).splitlines() or [""]
                kind = "missing" if "not implemented for" in text[0] else "refused"
                yield [None, op, list(case), kind, type(refused[case]).__name__ + ": " + text[0]]


emit("inductor", torch.__version__, list(answers()))
