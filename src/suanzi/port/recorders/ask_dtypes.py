"""Asks an installed framework which dtypes its operators take, on the CPU, by calling them.

``suanzi live paddle --dtypes`` runs it, in the interpreter that has the framework; it needs that
and NumPy alone. All tensor arguments of a call have one dtype. An operator that takes none of them
is left out: it may have been called wrongly.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "dtypes" / "names.txt"
NOT_INSTALLED = 3
DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "bf16": "bfloat16",
    "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}  # fmt: skip
TWO = set(
    "add sub mul div floor_divide remainder fmod pow maximum minimum fmax fmin eq ne lt le gt ge "
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_and "
    "logical_or logical_xor matmul atan2".split()
)
"""Operators of two tensors, by the first name of their row."""
MORE = {"softmax": -1, "log_softmax": -1, "amax": -1, "amin": -1, "sort": -1, "argmax": -1}
"""Operators that are given an axis."""


def rows(target):
    """Yield the name in PyTorch and that of the target."""
    lines = [line.partition("#")[0].split() for line in TABLE.read_text("utf-8").splitlines()]
    head, *rest = [words for words in lines if words]
    at = head.index(target)
    for words in rest:
        if words[at] != "-":
            yield words[0].partition("|")[0], words[at]


def paddle():
    """Return the version of Paddle, its devices, and how an operator is called."""
    import paddle as framework

    framework.set_device("cpu")

    def call(name, torch_name, dtype, many):
        x = framework.ones([2, 2], "float32").astype(dtype)
        if x.dtype != getattr(framework, dtype):
            raise TypeError("uint16 is another name of bfloat16")
        function = framework
        for part in name.split("."):
            function = getattr(function, part)
        more = {"axis": MORE[torch_name]} if torch_name in MORE else {}
        found = function(*([x] * many), **more)
        found = found[0] if isinstance(found, list | tuple) else found
        str(found.shape), found.astype("float32").numpy()

    return framework.__version__, call


def mindspore():
    """Return the version of MindSpore, and how an operator is called."""
    os.environ.setdefault("GLOG_v", "4")
    import mindspore as framework
    import numpy as np

    framework.set_context(mode=framework.PYNATIVE_MODE)
    framework.runtime.launch_blocking()  # an error would come up in a later call

    def call(name, torch_name, dtype, many):
        kind = getattr(framework, "bool_" if dtype == "bool" else dtype)
        ones = np.ones((2, 2), dtype if dtype.startswith("complex") else np.float32)
        x = framework.Tensor(ones).astype(kind)
        function = framework
        for part in name.split("."):
            function = getattr(function, part)
        more = (MORE[torch_name],) if torch_name in MORE else ()
        found = function(*([x] * many), *more)
        found = found[0] if isinstance(found, list | tuple) else found
        (found.astype(framework.float32) if found.dtype == framework.bfloat16 else found).asnumpy()

    return framework.__version__, call


def openvino():
    """Return the version of OpenVINO, and how an operator is made and compiled."""
    import openvino as framework
    from openvino import Type, opset15

    kinds = {"bool": Type.boolean, "bfloat16": Type.bf16}
    core = framework.Core()

    def call(name, torch_name, dtype, many):
        if dtype.startswith("complex"):
            raise TypeError("there are no complex numbers")
        short = dtype.replace("uint", "u").replace("int", "i").replace("float", "f")
        kind = kinds.get(dtype) or getattr(Type, short)
        x = [opset15.parameter([2, 2], kind) for _ in range(many)]
        more = {"softmax": (-1,), "gelu": ("erf",)}.get(torch_name, ())
        node = getattr(opset15, name)(*x, *more)
        core.compile_model(framework.Model([node], x, "asked"), "CPU")

    return framework.__version__.partition("-")[0], call


def main(target):
    """Print what was found."""
    if find_spec(target) is None:
        return NOT_INSTALLED
    version, call = {"paddle": paddle, "mindspore": mindspore, "openvino": openvino}[target]()
    print(f"# Which dtypes operators of {target} take: written by suanzi live --dtypes.\n")
    print(f"target  {target}\nsource  {target} {version}, called on the CPU")
    print(f"asked   {' '.join(DTYPES)}\nchips   cpu\nothers  gpu, npu")
    print("note    All tensor arguments have one dtype; other devices have kernels of their own.")
    print("\n# operator, places of its arguments, chips: dtypes")
    for torch_name, name in rows(target):
        many = 2 if torch_name in TWO else 1
        taken = []
        for short, dtype in DTYPES.items():
            try:
                call(name, torch_name, dtype, many)
                taken.append(short)
            except Exception as error:
                why = str(error)
        if not taken:
            sys.stderr.write(f"{name}: {why[-200:]}\n")
            continue
        print(f"{name:28} {'0,1' if many == 2 else '0':4} cpu : {' '.join(taken)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
