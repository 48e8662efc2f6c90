"""Runs in PyTorch's interpreter: prints its operators, which compute nothing, and their parts.

The dispatcher is asked: an operator with a kernel for every backend (CompositeImplicitAutograd,
CompositeExplicitAutograd) is made of others, and one whose result shares the memory of its operand,
without writing to it, is a view. Functions in Python are made of operators, too. The parts are
those of one call, with PyTorch's decomposition into its core operators.
"""

import contextlib
import json
import warnings

import torch
from calls import ARGUMENTS, function_of, results
from torch._decomp import core_aten_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

warnings.simplefilter("ignore")

COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")


def kind(schema):
    """Return what an overload is: view, composed or kernel."""
    returned = [one.alias_info for one in schema.returns]
    if returned and all(alias is not None and not alias.is_write for alias in returned):
        return "view"
    name = f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    if has(name, "CompositeExplicitAutogradNonFunctional"):
        return "delegates"  # to the overload with out=, or to a view
    return "composed" if any(has(name, key) for key in COMPOSITE) else "kernel"


operators = {}
for schema in torch._C._jit_get_all_schemas():
    if schema.name.startswith("aten::") and any("Tensor" in str(x.type) for x in schema.returns):
        try:
            operators.setdefault(schema.name[6:], {})[schema.overload_name] = kind(schema)
        except RuntimeError:  # of TorchScript alone: the dispatcher does not know it
            continue
python = set()
for functions in torch.overrides.get_overridable_functions().values():
    python |= {getattr(one, "__name__", "") for one in functions}


def parts(function, table):
    """Return the operators that a call of a function consists of; None where none can be made."""
    for given in ARGUMENTS:
        if results(function, given) is None:
            continue
        with contextlib.suppress(Exception):
            fixed = given[0] if isinstance(given[0], list) else given
            tensors = [x for x in fixed if isinstance(x, torch.Tensor)]

            def call(*traced, fixed=fixed, given=given):
                left = iter(traced)
                made = [next(left) if isinstance(x, torch.Tensor) else x for x in fixed]
                return function(made) if isinstance(given[0], list) else function(*made)

            graph = make_fx(call, decomposition_table=table)(*tensors).graph
            calls = [node.target for node in graph.nodes if node.op == "call_function"]
            return sorted({getattr(c, "_opname", c.__name__) for c in calls} - {"getitem"})
    return None


table = core_aten_decompositions()
made_of = {}
for name in sorted({*operators, *python}):
    base = name[:-1] if name.endswith("_") else name
    function = function_of(base) if not base.startswith("__") else None
    if function is not None and "backward" not in base and base not in made_of:
        found = parts(function, table)
        if found is not None:
            made_of[base] = found
print(json.dumps({"version": torch.__version__, "aten": operators, "python": sorted(python),
                  "parts": made_of}))  # fmt: skip
