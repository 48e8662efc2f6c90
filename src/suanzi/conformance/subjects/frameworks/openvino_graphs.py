"""Graphs of OpenVINO: a tensor is a parameter, whose value `GIVEN` has; `run` gives the outputs."""

import os

os.environ.setdefault("OPENVINO_LOG_LEVEL", "0")

import numpy as np
import openvino as ov
from openvino import opset16 as o
from wire import Unsupported

GIVEN = {}
"""The values of the last parameters, by their names in the graph: those of a case, and more."""
_LAST = 64
CORE = ov.Core()
SETTINGS = {
    "INFERENCE_PRECISION_HINT": ov.Type.dynamic, "EXECUTION_MODE_HINT": "ACCURACY",
    "INFERENCE_NUM_THREADS": 1,
}  # fmt: skip


def tensor(values, dtype, shape):
    """Return numbers as a parameter of a graph."""
    return parameter(np.array(values, dtype.to_dtype()), dtype, shape)


def of_bits(text, dtype, shape):
    """Return numbers of a dtype that NumPy does not have, by their bytes in hexadecimal."""
    return parameter(np.frombuffer(bytes.fromhex(text), np.uint8), dtype, shape)


def parameter(array, dtype, shape):
    """Return an array as a parameter of a graph; its bytes count, in row-major order."""
    kind = np.dtype(f"u{dtype.size}") if dtype.to_dtype() != np.bool_ else np.dtype(bool)
    flat = np.frombuffer(np.ascontiguousarray(array).tobytes(), kind).copy()
    made = o.parameter(list(shape), dtype)
    while len(GIVEN) >= _LAST:
        del GIVEN[next(iter(GIVEN))]
    GIVEN[made.get_friendly_name()] = ov.Tensor(flat, ov.Shape(shape), dtype)
    return made


def laid(x, layout):
    """Return a parameter whose value has another memory layout."""
    if layout != "offset":
        raise Unsupported("OpenVINO takes tensors that are row-major")
    name, value = x.get_friendly_name(), GIVEN[x.get_friendly_name()]
    flat = np.concatenate([value.data.reshape(-1)[:1]] * 3 + [value.data.reshape(-1)])
    GIVEN[name] = ov.Tensor(flat[flat.size - value.size :], value.shape, value.element_type)
    return x


def run(found):
    """Compile a graph for the CPU, run it, and return it with nodes replaced by outputs."""
    nodes = outputs_of(found)
    parameters = parameters_of(nodes)
    model = ov.Model([o.result(x) for x in nodes], parameters, "call")
    request = CORE.compile_model(model, "CPU", SETTINGS).create_infer_request()
    for i, one in enumerate(parameters):
        request.set_input_tensor(i, GIVEN[one.get_friendly_name()])
    request.infer()
    values = [array_of(request.get_output_tensor(i)) for i in range(len(nodes))]
    return filled_in(found, iter(values))


def array_of(tensor):
    """Return a tensor as an array, unless NumPy does not have its dtype."""
    strange = tensor.element_type in (ov.Type.bf16, ov.Type.f8e4m3, ov.Type.f8e5m2)
    return tensor if strange else tensor.data.copy()


def outputs_of(found):
    """Return the nodes of an expression in a row."""
    if type(found) in (list, tuple):
        return [x for part in found for x in outputs_of(part)]
    return [found]


def filled_in(found, values):
    """Return the result of an expression with its nodes replaced by computed values."""
    if type(found) in (list, tuple):
        return type(found)(filled_in(x, values) for x in found)
    return next(values)


def parameters_of(nodes):
    """Return the parameters that nodes depend on."""
    found, seen = [], set()
    waiting = [x.get_node() if isinstance(x, ov.Output) else x for x in nodes]
    while waiting:
        node = waiting.pop()
        if node.get_friendly_name() not in seen:
            seen.add(node.get_friendly_name())
            if node.get_type_name() == "Parameter":
                found.append(node)
            waiting += [x.get_source_output().get_node() for x in node.inputs()]
    return found
