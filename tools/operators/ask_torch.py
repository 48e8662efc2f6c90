"""Runs in PyTorch's interpreter: prints its operators, and which compute nothing or are composed.

The dispatcher is asked: an operator with a kernel for every backend (CompositeImplicitAutograd,
CompositeExplicitAutograd) is made of others, and one whose result shares the memory of its operand,
without writing to it, is a view. Functions in Python are made of operators, too.
"""

import json

import torch

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
print(json.dumps({"version": torch.__version__, "aten": operators, "python": sorted(python)}))
