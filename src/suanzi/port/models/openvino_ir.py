"""OpenVINO IR: the `.xml` of a model has the type of every port, and is all that is read."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from os import PathLike

from suanzi.base.dtypes import DType, dtype
from suanzi.base.status import InvalidArgument
from suanzi.port.models.graph import Edge, Graph

_TYPES = {
    "FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16", "I64": "i64", "I32": "i32",
    "I16": "i16", "I8": "i8", "I4": "i4", "U64": "u64", "U32": "u32", "U16": "u16", "U8": "u8",
    "U4": "u4", "BOOL": "bool", "F8E4M3": "f8e4m3fn", "F8E5M2": "f8e5m2",
}  # fmt: skip
"""Types of OpenVINO that suanzi has."""
_NOT_COMPUTED = ("Parameter", "Const", "Constant", "Result", "Assign", "ReadValue")


def read_openvino(path: str | PathLike[str]) -> Graph:
    """Return the graph of a model; what is inside of loops and branches is not looked at."""
    try:
        net = xml.parse(path).getroot()
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except (xml.ParseError, UnicodeError, ValueError) as error:
        raise InvalidArgument(f"{str(path)!r} is not an OpenVINO model: {error}.") from None
    layers, edges = net.find("layers"), net.find("edges")
    if net.tag != "net" or layers is None:
        raise InvalidArgument(f"{str(path)!r} is not an OpenVINO model: it has no layers.")
    graph = Graph(str(path), "openvino", f"IR {net.get('version', '?')}")
    comes_from = {
        (edge.get("to-layer"), edge.get("to-port")): (edge.get("from-layer"), edge.get("from-port"))
        for edge in (edges if edges is not None else ())
    }
    made: dict[tuple[str | None, str | None], Edge] = {}
    for layer in layers:
        number, kind = layer.get("id"), layer.get("type", "?")
        ports = layer.findall("output/port")
        out = [Edge(_dtype(port.get("precision")), port.find("dim") is None) for port in ports]
        call = None
        if kind not in _NOT_COMPUTED:
            given = [
                made.get(comes_from.get((number, port.get("id")), (None, None)))
                for port in layer.findall("input/port")
            ]
            first = out[0] if out else Edge(None)
            call = graph.add(kind, layer.get("name", ""), given, first)
        for port, edge in zip(ports, out, strict=True):
            by = None if call is None else call.number
            made[number, port.get("id")] = Edge(edge.dtype, edge.zero_dim, by)
    return graph


def _dtype(name: str | None) -> DType | None:
    return dtype(_TYPES[name]) if name in _TYPES else None
