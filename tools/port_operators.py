"""Writes which operators of PyTorch a target has: the texts in src/suanzi/port/available.

    python tools/port_operators.py torch_npu --torch PYTHON op-plugin npu_native_functions.yaml
    python tools/port_operators.py openvino --torch PYTHON --python PYTHON op_table.cpp
    python tools/port_operators.py paddle --torch PYTHON --python PYTHON api_mapping.json mapping.md
    python tools/port_operators.py mindspore --torch PYTHON --python PYTHON pytorch_api_mapping.md
    python tools/port_operators.py jax --torch PYTHON --python PYTHON jaten.py jtorch.py

`--torch` is an interpreter with PyTorch, which is asked for its operators, `--python` one with the
target (OpenVINO's needs PyTorch, too), which is asked whether it has what the sources name. The
sources are op-plugin and torch_npu; OpenVINO's PyTorch frontend; PaConvert and Paddle's guide;
MindSpore's mapping of PyTorch's API; torchax. `--source` names their commits.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from operators import npu, others
from operators.others import base
from suanzi.standard.other_names import by_name

HERE = Path(__file__).parent
DEVICE = re.compile(
    "cudnn|miopen|mkldnn|mps|_for_cpu|quantized|cslt|triton|_efficient_attention|_flash_attention"
    "|_philox|semi_structured|^_nested|^_test_|_foobar|^_cuda"
)
"""Operators that PyTorch chooses for one device, or tests itself with."""
VIEWS = (
    "T mT H mH data getitem setitem tensor as_tensor asarray from_numpy frombuffer scalar_tensor "
    "empty empty_like empty_strided new_empty lift_fresh lift_fresh_copy"
).split()
"""Attributes, allocations, and what takes the data of the program as it is."""
EQUAL = {
    "fill": ["full_like"], "zero": ["zeros_like"], "copy": ["clone"], "rsub": ["sub"],
    "new_zeros": ["zeros"], "new_ones": ["ones"], "new_full": ["full"], "_to_copy": ["to"],
    "nll_loss_forward": ["nll_loss"], "dropout": ["bernoulli", "div", "mul"], "float": ["to"],
    "half": ["to"], "double": ["to"], "long": ["to"], "int": ["to"], "bool": ["to"],
    "bfloat16": ["to"], "batch_norm": ["_native_batch_norm_legit"], "_log_softmax": ["log_softmax"],
    "_softmax": ["softmax"], "normal": ["randn", "mul", "add"], "uniform": ["rand", "mul", "add"],
    "randint": ["rand", "mul", "floor"], "type_as": ["to"],
}  # fmt: skip
"""What is the same, or made of these, where one call does not show it."""
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


def asked_of_torch(given: argparse.Namespace) -> Any:
    """Return what ask_torch.py prints, or printed."""
    if given.torch.endswith(".json"):
        return json.loads(Path(given.torch).read_text().splitlines()[-1])
    return ask(given.torch, "ask_torch.py")


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
    torch = asked_of_torch(given)
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


def ask_names(given: argparse.Namespace, target: str, names: set[str]) -> tuple[str, set[str]]:
    """Return the version of the installed target, and which of the names it has."""
    asked = {"framework": target, "modules": MODULES.get(target, []), "names": sorted(names)}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(asked, file)
        file.flush()
        found = ask(given.python, "ask_names.py", file.name)
    return found["version"], set(found["names"])


def compose(
    torch: dict[str, Any], states: dict[str, tuple[str, str]], has: set[str]
) -> dict[str, tuple[str, str]]:
    """Return the states, with operators whose parts the target has, in turn, as composed."""
    kinds = own(torch)
    parts = torch["parts"] | EQUAL
    parts |= {n: [n[len("_foreach_") :]] for n in kinds if n.startswith("_foreach_")}
    found = dict(states)
    while True:
        there = {*found, *has, *(name for name, kind in kinds.items() if kind == "view")}
        there -= {name for name, (state, _) in found.items() if state == "missing"}
        new = [
            name for name in counted(kinds)
            if name not in there and parts.get(name) and {*map(base, parts[name])} <= there
        ]  # fmt: skip
        if not new:
            return found
        found |= dict.fromkeys(new, ("composed", ""))


def write(target: str, sources: list[str], states: dict[str, tuple[str, str]]) -> None:
    """Print a table of states, with the names of the target where these are known."""
    print(head(target, f"Which operators of PyTorch {TITLES[target]} has", sources))
    for title, said in STATES.items():
        here = {name: there for name, (state, there) in sorted(states.items()) if state == title}
        named = [f"{name} is {there}" for name, there in here.items() if there]
        rest = [name for name, there in here.items() if not there]
        if here:
            print(section(title, said, rest) if rest else f"\n# {said}\n[{title}]")
            print("\n".join(named), end="\n" * bool(named))


def counted(kinds: dict[str, str]) -> dict[str, str]:
    """Return the operators that a program calls, views apart; gradients are the target's matter."""
    return {
        name: kind for name, kind in kinds.items()
        if kind not in ("view", "device") and not re.search("backward|^sym_|_copy$", name)
    }  # fmt: skip


def openvino(given: argparse.Namespace) -> None:
    """Write the table of OpenVINO's PyTorch frontend."""
    torch = asked_of_torch(given)
    kinds = counted(own(torch))
    (file,) = given.public
    listed = others.openvino(Path(file))
    if given.answers:
        asked = json.loads(Path(given.answers).read_text().splitlines()[-1])
    else:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as names:
            json.dump([name for name in kinds if not name.startswith("_")], names)
            names.flush()
            asked = ask(given.python, "ask_openvino.py", names.name)
    states = {}
    for name in kinds:
        answer = asked["answers"].get(name, "")
        if name in listed:
            states[name] = "available", ""
        elif answer == "converted":
            states[name] = "composed", ""
        elif answer.startswith("aten::"):
            states[name] = "missing", ""
    live = f"OpenVINO {asked['version'].partition('-')[0]}, asked to convert a call of each"
    write("openvino", [*given.source, live], states)


def paddle(given: argparse.Namespace) -> None:
    """Write the table of Paddle."""
    torch = asked_of_torch(given)
    kinds = counted(own(torch))
    renamed, rewritten, missing = others.paddle(*map(Path, given.public))
    rows = by_name("torch")
    mine = {
        name: [f"paddle.{m}{x}" for x in rows[name].names.get("paddle", ())
               for m in ("", "Tensor.", "nn.functional.", "linalg.")]
        for name in kinds if name in rows
    }  # fmt: skip
    places = ("", "Tensor.", "nn.functional.", "linalg.", "compat.", "special.", "fft.")
    same = {f"paddle.{m}{n}" for n in kinds for m in places}
    asked = same | set(renamed.values()) | {x for some in mine.values() for x in some}
    version, has = ask_names(given, "paddle", asked)
    states = {}
    for name in kinds:
        there = next((x for x in [renamed.get(name, ""), *mine.get(name, [])] if x in has), "")
        if there:
            states[name] = "available", there
        elif name in rewritten:
            states[name] = "composed", ""
        elif name in missing and not any(f"paddle.{m}{name}" in has for m in places):
            states[name] = "missing", ""
    states = compose(torch, states, set())
    write("paddle", [*given.source, f"Paddle {version}, asked for these names"], states)


def mindspore(given: argparse.Namespace) -> None:
    """Write the table of MindSpore."""
    torch = asked_of_torch(given)
    kinds = counted(own(torch))
    (file,) = given.public
    mapped, rows = others.mindspore(Path(file)), by_name("torch")
    mine = {
        name: [f"mindspore.{m}.{x}" for x in rows[name].names.get("mindspore", ())
               for m in ("mint", "mint.nn.functional", "ops", "Tensor")]
        for name in kinds if name in rows
    }  # fmt: skip
    asked = set(mapped.values()) | {x for some in mine.values() for x in some}
    version, has = ask_names(given, "mindspore", asked)
    states = {}
    for name in kinds:
        there = next((x for x in [mapped.get(name, ""), *mine.get(name, [])] if x in has), "")
        if there:
            states[name] = "available", there
    states = compose(torch, states, set())
    write("mindspore", [*given.source, f"MindSpore {version}, asked for these names"], states)


def jax(given: argparse.Namespace) -> None:
    """Write the table of JAX."""
    torch = asked_of_torch(given)
    kinds = counted(own(torch))
    written, rows = others.torchax(*map(Path, given.public)), by_name("torch")
    places = ("jax.numpy.", "jax.lax.", "jax.nn.", "jax.numpy.linalg.", "jax.numpy.fft.",
              "jax.scipy.special.", "jax.random.")  # fmt: skip
    mine = {}
    for name in kinds.keys() & rows.keys():
        row = rows[name]
        names = [*row.names.get("jax", ()), *row.names.get("numpy", ())]
        names += [name] * (row.operator == name)  # the table leaves out names that are suanzi's
        mine[name] = [f"{place}{one}" for one in names for place in places]
    version, has = ask_names(given, "jax", {x for some in mine.values() for x in some})
    states = {}
    for name in kinds:
        there = next((x for x in mine.get(name, []) if x in has), "")
        if there:
            states[name] = "available", there
        elif name in written:
            states[name] = "composed", ""
    states = compose(torch, states, written)
    write("jax", [*given.source, f"JAX {version}, asked for these names"], states)


TITLES = {"openvino": "OpenVINO's PyTorch frontend", "paddle": "Paddle", "mindspore": "MindSpore",
          "jax": "JAX"}  # fmt: skip
MODULES = {
    "jax": ["jax.numpy", "jax.scipy.special", "jax.nn", "jax.lax"],
    "mindspore": ["mindspore.mint", "mindspore.ops"],
}
STATES = {
    "available": "One operator, with its name there.",
    "composed": "Several operators: a composition that is converted, or written down.",
    "missing": "Neither.",
}
WRITERS = {
    "torch_npu": torch_npu, "openvino": openvino, "paddle": paddle, "mindspore": mindspore,
    "jax": jax,
}  # fmt: skip


def main() -> None:
    """Print the table of a target."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("target", choices=WRITERS)
    reader.add_argument("public", nargs="*")
    reader.add_argument("--torch", required=True, help="or what ask_torch.py printed, *.json")
    reader.add_argument("--python", help="an interpreter with the target")
    reader.add_argument("--answers", help="what ask_openvino.py printed, to save its minutes")
    reader.add_argument("--source", action="append", default=[])
    given = reader.parse_intermixed_args()
    WRITERS[given.target](given)


if __name__ == "__main__":
    main()
