"""Asks an installed framework which dtypes its operators take, on the CPU, by calling them.

``suanzi live paddle --dtypes`` runs it, in the interpreter that has the framework; it needs that
and NumPy alone. All tensor arguments of a call have one dtype. An operator that takes none of them
is left out: it may have been called wrongly.
"""

import os
import re
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "standard"))
import other_names  # noqa: E402

sys.path.pop()

COLUMNS = ("aclnn", "paddle", "mindspore", "openvino")
NOT_INSTALLED = 3
DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
MORE = {"softmax": -1, "log_softmax": -1, "amax": -1, "amin": -1, "sort": -1, "argmax": -1}
"""Operators that are given an axis."""


def rows(target):
    """Yield the name in PyTorch, that of the target, and how many tensors are given.

    Asked are operators of which the list of some target speaks.
    """
    lists = (HERE.parent / "dtypes").glob("*.txt")
    lines = [line.split() for path in lists for line in path.read_text("utf-8").splitlines()]
    listed = {key(words[0]) for words in lines if ":" in words}
    for row in other_names.table():
        names = [row.names[column][0] for column in COLUMNS if column in row.names]
        if "torch" in row.names and target in row.names and listed & set(map(key, names)):
            tensors = set(re.findall(r"\b([xyz])\b", row.here))
            if tensors or not re.search(r"\bshape\b", row.here):  # a shape has no dtype to ask for
                yield row.names["torch"][0], row.names[target][0], len(tensors) or 1


def key(name):
    """Return what of a name counts: is_nan is also the operation type IsNaN."""
    return name.rpartition(".")[2].replace("_", "").lower()


def lookup(framework, modules, name):
    """Return a function of the first module that has it, and its name with the module."""
    for module in modules:
        home = framework
        for part in filter(None, module.split(".")):
            home = getattr(home, part)
        if hasattr(home, name):
            return getattr(home, name), ".".join(filter(None, (module, name)))
    raise LookupError("there is no {}".format(name))


def paddle():
    """Return the version of Paddle, its devices, and how an operator is called."""
    import paddle as framework

    framework.set_device("cpu")

    def call(function, torch_name, dtype, many):
        x = framework.ones([2, 2], "float32").astype(dtype)
        if x.dtype != getattr(framework, dtype):
            raise TypeError("uint16 is another name of bfloat16")
        more = (MORE[torch_name],) if torch_name in MORE else ()  # softmax has `axis` or `dim`
        found = function(*([x] * many), *more)
        found = found[0] if isinstance(found, list | tuple) else found
        str(found.shape), found.astype("float32").numpy()

    find = partial(lookup, framework, ("", "nn.functional"))
    return framework.__version__, find, call


def mindspore():
    """Return the version of MindSpore, and how an operator is called."""
    os.environ.setdefault("GLOG_v", "4")
    import mindspore as framework
    import numpy as np

    framework.set_context(mode=framework.PYNATIVE_MODE)
    framework.runtime.launch_blocking()  # an error would come up in a later call

    def call(function, torch_name, dtype, many):
        kind = getattr(framework, "bool_" if dtype == "bool" else dtype)
        ones = np.ones((2, 2), dtype if dtype.startswith("complex") else np.float32)
        x = framework.Tensor(ones).astype(kind)
        more = (MORE[torch_name],) if torch_name in MORE else ()
        found = function(*([x] * many), *more)
        found = found[0] if isinstance(found, list | tuple) else found
        (found.astype(framework.float32) if found.dtype == framework.bfloat16 else found).asnumpy()

    find = partial(lookup, framework, ("mint", "mint.nn.functional"))
    return framework.__version__, find, call


def openvino():
    """Return the version of OpenVINO, and how an operator is made and compiled."""
    import openvino as framework
    from openvino import Type, opset15

    kinds = {"bool": Type.boolean, "bfloat16": Type.bf16}
    core = framework.Core()

    def call(function, torch_name, dtype, many):
        if dtype.startswith("complex"):
            raise TypeError("there are no complex numbers")
        short = dtype.replace("uint", "u").replace("int", "i").replace("float", "f")
        kind = kinds.get(dtype) or getattr(Type, short)
        x = [opset15.parameter([2, 2], kind) for _ in range(many)]
        more = {"softmax": (-1,), "gelu": ("erf",)}.get(torch_name, ())
        node = function(*x, *more)
        core.compile_model(framework.Model([node], x, "asked"), "CPU")

    names = {name.replace("_", ""): name for name in dir(opset15)}

    def find(name):
        return lookup(opset15, ("",), names.get(name.lower(), name))

    return framework.__version__.partition("-")[0], find, call


def main(target):
    """Print what was found."""
    if find_spec(target) is None:
        return NOT_INSTALLED
    version, find, call = {"paddle": paddle, "mindspore": mindspore, "openvino": openvino}[target]()
    print(f"# Which dtypes operators of {target} take: written by suanzi live --dtypes.\n")
    print(f"target  {target}\nsource  {target} {version}, called on the CPU")
    print(f"asked   {' '.join(DTYPES)}\nchips   cpu\nothers  gpu, npu")
    print("note    All tensor arguments have one dtype; other devices have kernels of their own.")
    print("\n# operator, places of its arguments, chips: dtypes")
    for torch_name, name, many in rows(target):
        taken, why = [], ""
        try:
            function, name = find(name)
        except LookupError as error:
            sys.stderr.write(f"{error}\n")
            continue
        for short, dtype in DTYPES.items():
            try:
                call(function, torch_name, dtype, many)
                taken.append(short)
            except Exception as error:
                why = str(error)
        if not taken:
            sys.stderr.write(f"{name}: {why[-200:]}\n")
            continue
        places = ",".join(map(str, range(many)))
        print(f"{name:28} {places:4} cpu : {' '.join(taken)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
