"""Asks an installed framework which dtype its operators give, by calling them on the CPU.

``suanzi live paddle --results`` runs it in the interpreter that has the framework; it needs nothing
else. A row is an operator by PyTorch's name, perhaps with the type of a Python number that it takes
(``clamp float``), or with the number of the tensor that it gives (``topk 1``: the indices).
"""

import os
import sys
import warnings
from functools import partial
from importlib.util import find_spec

NOT_INSTALLED = 3
DTYPES = {
    "bool": "bool", "u8": "uint8", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64",
    "c128": "complex128",
}  # fmt: skip
NUMBERS = {"bool": True, "int": 7, "float": 2.5}


def called(name, *more):
    """Return how an operator is asked that has no other arguments than these."""
    return lambda F, x: getattr(F, name)(x, *more)


ALONE = (
    "sum nansum prod mean amax amin max min median var std any all count_nonzero argmax argmin "
    "argsort bincount unique nonzero abs sign square floor ceil round trunc relu sigmoid exp "
    "reciprocal"
).split()
WITH_AXIS = "cumsum cumprod logsumexp softmax log_softmax".split()
# Each is written with the operators of `F`, a namespace; x is a vector of two ones.
TENSORS = {
    **{name: called(name) for name in ALONE},
    **{name: called(name, 0) for name in WITH_AXIS},
    "sort 1": lambda F, x: F.sort(x)[1],
    "topk 1": lambda F, x: F.topk(x, 1)[1],
    "max 1": lambda F, x: F.max_of_axis(x)[1],
    "min 1": lambda F, x: F.min_of_axis(x)[1],
    "one_hot": lambda F, x: F.one_hot(x, 4),
    "searchsorted": lambda F, x: F.searchsorted(x, x),
    "bucketize": lambda F, x: F.bucketize(x, x),
    "atan2": lambda F, x: F.atan2(x, x),
    "matmul": lambda F, x: F.matmul(x, x),
    "pow int": lambda F, x: F.pow(x, 2),
    "pow float": lambda F, x: F.pow(x, 0.5),
    "** float": lambda F, x: x**0.5,
    "clamp int": lambda F, x: F.clamp(x, 2),
    "clamp float": lambda F, x: F.clamp(x, 2.5),
    "full_like float": lambda F, x: F.full_like(x, 2.5),
}
# These are given Python numbers alone.
OF_NUMBERS = {
    "full": lambda F, n: F.full((2,), n),
    "tensor": lambda F, n: F.tensor(n),
    "arange": lambda F, n: F.arange(n),
}
OF_NOTHING = {
    "randint": lambda F: F.randint(0, 3, (2,)),
    "randperm": lambda F: F.randperm(3),
    "linspace": lambda F: F.linspace(0, 1, 3),
    "zeros": lambda F: F.zeros((2,)),
    "ones": lambda F: F.ones((2,)),
    "eye": lambda F: F.eye(2),
}


class Namespace:
    """Operators of a framework under PyTorch's names: its own, or those of the first module."""

    def __init__(self, modules, **own):
        self.modules, self.own = modules, own

    def __getattr__(self, name):
        if name in self.own:
            return self.own[name]
        for module in self.modules:
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(name)


class WithKernels(Namespace):
    """Operators of MindSpore: many of the first module have no kernel for the CPU."""

    def __getattr__(self, name):
        if name in self.own:
            return self.own[name]
        found = [getattr(module, name) for module in self.modules if hasattr(module, name)]

        def call(*given):
            for function in found[:-1]:
                try:
                    return function(*given)
                except RuntimeError as error:
                    if "unregistered" not in str(error):
                        raise
            return found[-1](*given)

        return call


def torch():
    """Return what asks PyTorch."""
    import torch as framework

    F = Namespace(
        (framework, framework.nn.functional),
        clamp=lambda x, n: framework.clamp(x, max=n),
        max_of_axis=lambda x: framework.max(x, 0),
        min_of_axis=lambda x: framework.min(x, 0),
    )
    return [(
        "torch", framework.__version__, F,
        lambda name: framework.ones(2).to(getattr(framework, name)),
        lambda x: str(x.dtype).replace("torch.", ""),
    )]  # fmt: skip


def numpy():
    """Return what asks NumPy."""
    import numpy as np

    F = Namespace(
        (np,),
        atan2=np.arctan2, bucketize=np.digitize, clamp=lambda x, n: np.clip(x, None, n),
        nonzero=np.argwhere, pow=np.power, tensor=np.array,
        sort=lambda x: (np.sort(x), np.argsort(x)),
        max_of_axis=lambda x: (x.max(0), np.asarray(x.argmax(0))),
        min_of_axis=lambda x: (x.min(0), np.asarray(x.argmin(0))),
        randint=lambda low, high, shape: np.random.default_rng(0).integers(low, high, shape),
        randperm=np.random.default_rng(0).permutation,
    )  # fmt: skip
    return [("numpy", np.__version__, F, lambda name: np.ones(2, name), lambda x: x.dtype.name)]


def jax():
    """Return what asks JAX, with 64-bit types and without."""
    import jax as framework
    from jax import numpy as jnp

    framework.config.update("jax_platforms", "cpu")
    lax, nn, key = framework.lax, framework.nn, framework.random.key(0)
    F = Namespace(
        (jnp, nn),
        atan2=jnp.arctan2, bucketize=jnp.digitize, clamp=lambda x, n: jnp.clip(x, max=n),
        bincount=lambda x: jnp.bincount(x, length=4), nonzero=jnp.argwhere, pow=jnp.power,
        logsumexp=nn.logsumexp, one_hot=nn.one_hot, topk=lax.top_k, tensor=jnp.array,
        sort=lambda x: (jnp.sort(x), jnp.argsort(x)),
        max_of_axis=lambda x: (x.max(0), x.argmax(0)),
        min_of_axis=lambda x: (x.min(0), x.argmin(0)),
        randint=lambda low, high, shape: framework.random.randint(key, shape, low, high),
        randperm=lambda n: framework.random.permutation(key, n),
    )  # fmt: skip

    def asking(rules, x64):
        def tensor(name):
            framework.config.update("jax_enable_x64", x64)
            found = jnp.ones(2, name)
            if found.dtype.name != name:
                raise TypeError("there are no 64 bits")
            return found

        return rules, framework.__version__, F, tensor, lambda x: x.dtype.name

    return [asking("jax", True), asking("jax_x32", False)]


def paddle():
    """Return what asks Paddle."""
    os.environ.setdefault("GLOG_minloglevel", "3")
    import paddle as framework

    framework.set_device("cpu")
    F = Namespace(
        (framework, framework.nn.functional),
        clamp=lambda x, n: framework.clip(x, max=n),
        tensor=framework.to_tensor,
        sort=lambda x: (framework.sort(x), framework.argsort(x)),
        max_of_axis=lambda x: (x.max(0), x.argmax(0)),
        min_of_axis=lambda x: (x.min(0), x.argmin(0)),
    )

    def tensor(name):
        found = framework.ones([2], "float32").astype(name)
        if found.dtype != getattr(framework, name):
            raise TypeError("there is no {}".format(name))
        return found

    return [(
        "paddle", framework.__version__, F, tensor,
        lambda x: (x.astype("float32").numpy(), str(x.dtype).rpartition(".")[2])[1],
    )]  # fmt: skip


def mindspore():
    """Return what asks MindSpore."""
    os.environ.setdefault("GLOG_v", "4")
    import mindspore as framework
    import numpy as np
    from mindspore import mint, ops

    framework.set_context(mode=framework.PYNATIVE_MODE)
    if hasattr(framework.runtime, "launch_blocking"):
        framework.runtime.launch_blocking()
    kinds = {
        name: getattr(framework, "bool_" if name == "bool" else name) for name in DTYPES.values()
    }
    names = {kind: name for name, kind in kinds.items()}
    F = WithKernels(
        (mint, mint.nn.functional, ops),
        tensor=framework.tensor,
        clamp=lambda x, n: ops.clamp(x, max=n),
        max_of_axis=lambda x: ops.max(x, 0),
        min_of_axis=lambda x: ops.min(x, 0),
    )

    def tensor(name):
        if name.startswith("complex"):
            return framework.Tensor(np.ones(2, name))
        return framework.Tensor(np.ones(2, np.float32)).astype(kinds[name])

    def name_of(x):
        (x.astype(framework.float32) if x.dtype == framework.bfloat16 else x).asnumpy()
        return names[x.dtype]

    return [("mindspore", framework.__version__, F, tensor, name_of)]


def openvino():
    """Return what asks OpenVINO's PyTorch frontend: programs are traced and converted."""
    sys.modules["openvino_telemetry"] = None  # it starts a process at every conversion
    import openvino as framework
    import torch as source

    ((_, _, F, tensor, _),) = torch()
    words = (("u", "uint"), ("i", "int"), ("f", "float"))
    names = {kind + bits: word + bits for kind, word in words for bits in ("8", "16", "32", "64")}
    names.update(boolean="bool", bf16="bfloat16")

    def asked(ask):
        def converted(F, *given):
            of_tensor = bool(given) and isinstance(given[0], source.Tensor)

            class Asked(source.nn.Module):
                def forward(self, x):
                    return ask(F, x) if of_tensor else ask(F, *given)

            x = given[0] if of_tensor else source.ones(2)
            model = framework.convert_model(Asked(), example_input=x)
            return model.output(0).get_element_type().to_string()

        return converted

    version = framework.__version__.partition("-")[0]
    return [("openvino+torch", version, F, tensor, lambda name: names[name], asked)]


TITLES = {
    "torch": "PyTorch", "numpy": "NumPy", "jax": "JAX with 64-bit types", "jax_x32": "JAX",
    "paddle": "Paddle", "mindspore": "MindSpore: mint, or ops where mint has no kernel for the CPU",
    "openvino+torch": "OpenVINO's PyTorch frontend",
}  # fmt: skip


def tables(rules, version, F, tensor, name_of, asked=lambda ask: ask):
    """Return the text of what was found."""
    short = {name: word for word, name in DTYPES.items()}
    # What else comes out: unsigned integers of JAX and NumPy.
    short.update({"uint16": "u16", "uint32": "u32", "uint64": "u64", "complex32": "c32"})

    def cell(ask, *given):
        try:
            return short[name_of(asked(ask)(F, *(one() for one in given)))]
        except Exception as error:
            if os.environ.get("SUANZI_WHY"):
                sys.stderr.write("{}: {}\n".format(type(error).__name__, str(error)[-300:]))
            return "-"

    lines = [
        "# Which dtype operators give: written by suanzi live --results.", "",
        "target  {}".format(rules),
        "version {}".format(version),
        "source  {}, operators called on the CPU".format(TITLES[rules]), "",
        "# By the dtype of the tensor; a dash: it gives none.", "[tensors]", row("", DTYPES),
    ]  # fmt: skip
    makes = [partial(tensor, name) for name in DTYPES.values()]
    found = {op: [cell(ask, make) for make in makes] for op, ask in TENSORS.items()}
    lines += [row(op, one) for op, one in found.items() if set(one) != {"-"}]
    lines += ["", "# By the type of a Python number.", "[numbers]", row("", NUMBERS)]
    makes = [partial(type(n), n) for n in NUMBERS.values()]
    found = {op: [cell(ask, make) for make in makes] for op, ask in OF_NUMBERS.items()}
    lines += [row(op, one) for op, one in found.items() if set(one) != {"-"}]
    lines += ["", "# Without either.", "[none]"]
    found = {op: [cell(ask)] for op, ask in OF_NOTHING.items()}
    lines += [row(op, one) for op, one in found.items() if one != ["-"]]
    return "\n".join(lines) + "\n"


def row(head, cells):
    """Return a row of a table."""
    return "".join(["{:17}".format(head), *("{:6}".format(word) for word in cells)]).rstrip()


def main(framework):
    """Print what was found, each table between lines that name it."""
    if find_spec(framework) is None:
        return NOT_INSTALLED
    warnings.simplefilter("ignore")
    asking = {
        one.__name__: one for one in (torch, numpy, jax, paddle, mindspore, openvino)
    }[framework]()  # fmt: skip
    for one in asking:
        print("suanzi-results {}".format(one[0]))
        print(tables(*one))
    print("suanzi-results end", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
