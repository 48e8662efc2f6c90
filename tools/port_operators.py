"""Writes which operators of PyTorch a target has: the texts in src/suanzi/port/available.

    python tools/port_operators.py torch_npu --torch PYTHON op-plugin npu_native_functions.yaml

`PYTHON` is an interpreter with PyTorch, which is asked for its operators. The other arguments are
the public sources of the target, at the commits that `--source` names.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import textwrap
from pathlib import Path
from typing import Any

from operators import npu

HERE = Path(__file__).parent
DEVICE = re.compile(
    "cudnn|miopen|mkldnn|mps|_for_cpu|quantized|cslt|triton|_efficient_attention|_flash_attention"
    "|_philox|semi_structured|^_nested|^_test_|_foobar|^_cuda"
)
"""Operators that PyTorch chooses for one device, or tests itself with."""
VIEWS = "T mT H mH data tensor as_tensor asarray from_numpy frombuffer scalar_tensor".split()
"""Attributes, and what takes the data of the program as it is."""
MADE_OF = {
    "linear": "aclnnMatmul 0,1", "conv1d": "aclnnConvolution 0,1,2",
    "conv2d": "aclnnConvolution 0,1,2", "conv3d": "aclnnConvolution 0,1,2",
    "scaled_dot_product_attention": "aclnnMatmul 0,1,2=1", "addbmm": "aclnnBaddbmm 0,1,2",
    "cross_entropy": "aclnnLogSoftmax 0", "cross_entropy_loss": "aclnnLogSoftmax 0",
    "zeros_like": "aclnnInplaceZero", "zeros": "aclnnInplaceZero", "new_zeros": "aclnnInplaceZero",
    "ones_like": "aclnnInplaceOne", "ones": "aclnnInplaceOne", "new_ones": "aclnnInplaceOne",
    "full": "aclnnInplaceFillScalar", "full_like": "aclnnInplaceFillScalar",
    "fill": "aclnnInplaceFillScalar 0", "zero": "aclnnInplaceZero 0",
    "copy": "aclnnInplaceCopy 0,1",
    "clone": "aclnnInplaceCopy 0=1", "randn": "aclnnInplaceNormal", "rand": "aclnnInplaceUniform",
    "mm": "aclnnMm 0,1", "bmm": "aclnnBatchMatMul 0,1", "addmm": "aclnnAddmm 0,1,2",
    "convolution": "aclnnConvolution 0,1,2", "gelu_backward": "aclnnGeluBackward 0,1",
    "nll_loss_forward": "aclnnNLLLoss 0,1,2", "index_put": "aclnnIndexPutImpl 0,2",
    "native_layer_norm_backward": "aclnnLayerNormBackward 0,1,5=5",
    "convolution_backward": "aclnnConvolutionBackward 0,1,2",
}  # fmt: skip
"""What the kernels of op-plugin call that are written by hand, by reading them. Without places: the
dtype of the result counts."""


def ask(python: str, script: str, *arguments: str) -> Any:
    """Return what a script prints as JSON in an interpreter."""
    done = subprocess.run(
        [python, str(HERE / "operators" / script), *arguments],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def base(overload: str) -> str:
    """Return the name under which a recording has an operator: `__iand__.Scalar` is `iand`."""
    name = overload.partition(".")[0]
    if name.startswith("__") and name.endswith("__"):
        return name[2:-2]
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def own(torch: dict[str, Any]) -> dict[str, str]:
    """Return PyTorch's operators: view, composed, or kernel if a backend has to have one."""
    kinds: dict[str, set[str]] = {}
    for name, overloads in torch["aten"].items():
        kinds.setdefault(base(name), set()).update(overloads.values())
    found = {
        name: "device" if DEVICE.search(name)
        else "view" if name in VIEWS or set(torch["aten"].get(name, {}).values()) == {"view"}
        else "kernel" if "kernel" in here
        else "composed"
        for name, here in kinds.items()
    }  # fmt: skip
    python = {base(name): "composed" for name in torch["python"]}
    return python | found | dict.fromkeys(VIEWS, "view")


def section(title: str, said: str, names: list[str]) -> str:
    """Return a list of names under a title."""
    return f"\n# {said}\n[{title}]\n" + textwrap.fill(" ".join(names), 110)


def head(target: str, about: str, sources: list[str]) -> str:
    """Return the lines above the lists."""
    lines = [f"# {about}: written by tools/port_operators.py.", "", f"target  {target}"]
    return "\n".join([*lines, *(f"source  {one}" for one in sources)])


def torch_npu(given: argparse.Namespace) -> None:
    """Write the table of torch_npu."""
    torch = ask(given.torch, "ask_torch.py")
    version = "v" + ".".join(torch["version"].split(".")[:2])
    plugin, native = map(Path, given.public)
    schemas = npu.kernels(plugin, native, version)
    called = npu.aclnn(plugin)
    have = {base(name) for name in schemas}
    kinds = own(torch)
    lines = {n: n for n in sorted(have & kinds.keys()) if kinds[n] not in ("view", "device")}
    for overload, schema in schemas.items():
        name = base(overload)
        functions = {f for f, _ in called.get(name, [])} | {
            f for f, _ in called.get(name + "_", [])
        }
        if name in lines and len(functions) == 1 and schema and lines[name] == name:
            function, arguments = (called.get(name) or called[name + "_"])[0]
            at = npu.places(schema, arguments)
            if at and "." not in overload and not overload.endswith("_"):
                pairs = ",".join(f"{a}" if a == b else f"{a}={b}" for a, b in sorted(at.items()))
                lines[name] = f"{name} {function} {pairs}"
    rest = {name: kind for name, kind in sorted(kinds.items()) if name not in lines}
    for name, function in MADE_OF.items():
        if name in lines:
            lines[name] = f"{name} {function}"
    print(head("torch_npu", "Which operators of PyTorch torch_npu has", given.source))
    print(f"source  PyTorch {torch['version']}, asked for views and composed operators")
    print(
        "\n# An NPU kernel; if it calls a single aclnn function, that function and which argument"
    )
    print("# of the operator is which of the function.")
    print("[available]")
    print("\n".join(lines.values()))
    composed = [n for n, kind in rest.items() if kind == "composed"]
    print(section("composed", "Made of other operators; or of aclnn functions, as above.",
                  [n for n in composed if n not in MADE_OF]))  # fmt: skip
    print("\n".join(f"{n} {MADE_OF[n]}" for n in composed if n in MADE_OF))
    for title, said, kind in (
        ("view", "A view of its operand: nothing is computed.", "view"),
        ("cpu", "No NPU kernel: torch_npu copies the operands to the CPU and computes there.",
         "kernel"),
        ("device", "PyTorch chooses these for one device; another one has its own.", "device"),
    ):  # fmt: skip
        print(section(title, said, [n for n, k in rest.items() if k == kind]))


WRITERS = {"torch_npu": torch_npu}


def main() -> None:
    """Print the table of a target."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("target", choices=WRITERS)
    reader.add_argument("public", nargs="*")
    reader.add_argument("--torch", required=True)
    reader.add_argument("--python", help="an interpreter with the target")
    reader.add_argument("--source", action="append", default=[])
    given = reader.parse_intermixed_args()
    WRITERS[given.target](given)


if __name__ == "__main__":
    main()
