"""Makes calls in a live framework and prints the dtypes that come out; needs nothing of suanzi.

Standard input has a list of calls, as tools/confirm_port.py writes it. An answer is a dtype,
"refused", or "?" with the reason why the call cannot be made there at all.
"""

import json
import operator
import sys
import warnings

SYMBOLS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul,
    "true_divide": operator.truediv, "floordiv": operator.floordiv, "mod": operator.mod,
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "bitwise_left_shift": operator.lshift, "bitwise_right_shift": operator.rshift,
    "matmul": operator.matmul,
}  # fmt: skip
IN_PLACE = {"add": operator.iadd, "sub": operator.isub, "mul": operator.imul,
            "true_divide": operator.itruediv}  # fmt: skip
NO_KERNEL = (
    "not implemented", "unsupported", "not support", "no kernel", "not registered", "kernel",
)  # fmt: skip


class Unasked(Exception):
    """The call cannot be made there."""


def symbol(name, given, way=None):
    """Return what a symbol of Python gives."""
    table = IN_PLACE if way == "in-place" else SYMBOLS
    if name not in table:
        raise Unasked(f"no symbol for {name}")
    return table[name](*given)


def jax_asker():
    """Return what makes an operand, what calls, and what names a dtype, in JAX as it comes."""
    import jax.numpy as jnp

    functions = {
        "max": jnp.maximum, "min": jnp.minimum, "where": None, "logical_and": jnp.logical_and,
        "logical_or": jnp.logical_or, "logical_xor": jnp.logical_xor, "clip": jnp.clip,
    }  # fmt: skip

    def make(dtype, zero_dim):
        return jnp.ones((() if zero_dim else (2, 2)), dtype)

    def call(one, given):
        if one["way"] == "in-place method":
            raise Unasked("no methods in place")
        name = one["suanzi"]
        if name == "where":
            return jnp.where(jnp.ones((2, 2), bool), *given)
        if name in ("concat", "stack"):
            return getattr(jnp, "concatenate" if name == "concat" else "stack")(given)
        if one["op"] in ("pow", "rpow", "ipow"):
            return operator.pow(*given)
        if name in functions:
            return functions[name](*given)
        return symbol(name, given, one["way"])

    return make, call, lambda x: str(x.dtype)


def paddle_asker():
    """The same in Paddle."""
    import paddle

    functions = {
        "max": paddle.maximum, "min": paddle.minimum, "logical_and": paddle.logical_and,
        "logical_or": paddle.logical_or, "logical_xor": paddle.logical_xor,
    }  # fmt: skip

    def make(dtype, zero_dim):
        return paddle.ones([] if zero_dim else [2, 2], "float32").astype(dtype)

    def call(one, given):
        name = one["suanzi"]
        if one["way"] == "in-place method":
            raise Unasked("methods in place are not in the rules")
        if name == "where":
            return paddle.where(paddle.ones([2, 2]).astype("bool"), *given)
        if name == "clip":
            return paddle.clip(*given)
        if name in ("concat", "stack"):
            return getattr(paddle, name)(given)
        if one["op"] in ("pow", "rpow", "ipow"):
            return operator.pow(*given)
        if name in functions:
            return functions[name](*given)
        return symbol(name, given, one["way"])

    return make, call, lambda x: str(x.dtype).replace("paddle.", "")


def mindspore_asker():
    """The same in MindSpore."""
    import mindspore as ms
    from mindspore import ops

    functions = {
        "max": ops.maximum, "min": ops.minimum, "logical_and": ops.logical_and,
        "logical_or": ops.logical_or, "logical_xor": ops.logical_xor, "clip": ops.clamp,
    }  # fmt: skip

    def make(dtype, zero_dim):
        kind = getattr(ms, "bool_" if dtype == "bool" else dtype)
        return ms.Tensor(1, kind) if zero_dim else ms.Tensor([[1, 1], [1, 1]], kind)

    def call(one, given):
        name = one["suanzi"]
        if one["way"] == "in-place method":
            raise Unasked("methods in place are not in the rules")
        if name == "where":
            return ops.where(ms.Tensor([[True, True], [True, True]]), *given)
        if name in ("concat", "stack"):
            return getattr(ops, name)(given)
        if one["op"] in ("pow", "rpow", "ipow"):
            return operator.pow(*given)
        if name in functions:
            return functions[name](*given)
        return symbol(name, given, one["way"])

    def named(x):
        x.asnumpy() if "bfloat16" not in str(x.dtype).lower() else x.float().asnumpy()
        return str(x.dtype).lower().replace("bool_", "bool")

    return make, call, named


def openvino_asker():
    """What OpenVINO's PyTorch frontend makes of the call; torch has to be there."""
    import openvino as ov
    import torch

    def make(dtype, zero_dim):
        return torch.ones(() if zero_dim else (2, 2)).to(getattr(torch, dtype))

    def call(one, given):
        name, way = one["suanzi"], one["way"]
        tensors = tuple(x for x in given if isinstance(x, torch.Tensor))

        class Program(torch.nn.Module):
            def forward(self, *inputs):
                rest = iter(inputs)
                all_ = [next(rest) if isinstance(x, torch.Tensor) else x for x in given]
                if way == "in-place method":
                    return getattr(all_[0], one["op"] + "_")(*all_[1:])
                if name == "where":
                    return torch.where(torch.ones(2, 2, dtype=torch.bool), *all_)
                if name in ("concat", "stack"):
                    return (torch.cat if name == "concat" else torch.stack)(all_)
                if name == "clip":
                    return torch.clamp(*all_)
                if one["op"] in ("pow", "rpow", "ipow"):
                    return operator.pow(*all_)
                if name in ("max", "min", "logical_and", "logical_or", "logical_xor"):
                    longer = {"max": "maximum", "min": "minimum"}.get(name, name)
                    return getattr(torch, longer)(*all_)
                return symbol(name, all_, way)

        model = ov.convert_model(Program(), example_input=tensors)
        return model.outputs[0].get_element_type().get_type_name()

    names = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64",
             "boolean": "bool", "i64": "int64", "i32": "int32", "i16": "int16", "i8": "int8",
             "u8": "uint8"}  # fmt: skip
    return make, call, lambda x: names.get(x, x)


def answer(one, make, call, named):
    """Return what one call gives."""
    try:
        given = [x["value"] if "number" in x else make(x["dtype"], x["zero_dim"])
                 for x in one["operands"]]  # fmt: skip
    except Exception as error:
        return "? " + str(error)[:80]
    if one["op"] in ("rsub", "rdiv", "rtruediv", "rpow"):
        given = given[::-1]
    try:
        return named(call(one, given))
    except Unasked as error:
        return "? " + str(error)
    except Exception as error:
        words = str(error).lower()
        if any(text in words for text in NO_KERNEL) and one["expected"] is not None:
            return "? " + str(error)[:160].replace("\n", " ")
        return "refused"


def main(framework):
    """Answer all questions of standard input."""
    warnings.simplefilter("ignore")
    asked = json.load(sys.stdin)
    asker = {"jax": jax_asker, "paddle": paddle_asker, "mindspore": mindspore_asker,
             "openvino": openvino_asker}[framework]()  # fmt: skip
    print(json.dumps([answer(one, *asker) for one in asked]))


if __name__ == "__main__":
    main(sys.argv[1])
