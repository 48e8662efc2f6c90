"""ONNX files: types every edge, checks every node against its opset, writes missing Casts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from os import PathLike
from typing import Any

from suanzi.base.dtypes import DType
from suanzi.base.status import InvalidArgument
from suanzi.port.findings import Finding, Verdict
from suanzi.port.models.graph import Edge, Graph, in_torch
from suanzi.port.models.onnx_files import check, write
from suanzi.port.models.onnx_types import WORDS, Typed, Wrong, of_code, type_node
from suanzi.port.operators import known
from suanzi.promote.engine import answer
from suanzi.promote.fixes import Fix
from suanzi.promote.library import rule_set
from suanzi.promote.live import NotInstalled
from suanzi.promote.operands import Operand, Role
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Call, Where

_MOST_NODES = 1_000_000
"""How many nodes a model may have once its functions are inlined."""
_CASTS_SINCE = 13
"""The opset whose Cast has all types that older runtimes know, for models that import none."""


def load(path: str | PathLike[str]) -> Any:
    """Return the model of a file, its own functions put in place."""
    try:
        import onnx
        import onnx.inliner
    except ImportError:
        raise NotInstalled(
            "port: onnx is not installed here; `pip install 'suanzi[onnx]'` has it."
        ) from None
    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise InvalidArgument(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    except Exception as error:  # protobuf's own, which is not public
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InvalidArgument(f"{str(path)!r} is not an ONNX model: {said[0]}") from None
    if not model.graph.node and not model.graph.output:
        raise InvalidArgument(f"{str(path)!r} is not an ONNX model: it has no graph.")
    if model.functions:
        _check_expansion(model, str(path))
        try:
            model = onnx.inliner.inline_local_functions(model)
        except Exception as error:  # of several classes
            said = str(error).strip().splitlines() or [type(error).__name__]
            raise InvalidArgument(f"{str(path)!r} is not an ONNX model: {said[0]}") from None
    return model


def _check_expansion(model: Any, path: str) -> None:
    """Raise InvalidArgument if a function calls itself, or if inlining makes too many nodes."""
    functions = {(one.domain, one.name): one for one in model.functions}
    nodes: dict[tuple[str, str], int] = {}

    def expanded(body: Any, callers: tuple[tuple[str, str], ...]) -> int:
        count = 0
        for node in body.node:
            key = (node.domain, node.op_type)
            if key in callers:
                raise InvalidArgument(
                    f"{path!r} is not an ONNX model: its function {node.op_type!r} calls itself."
                )
            if key in functions and key not in nodes:
                nodes[key] = expanded(functions[key], (*callers, key))
            inner = [g for a in node.attribute for g in (a.g, *a.graphs) if g.node]
            count += nodes.get(key, 1) + sum(expanded(g, callers) for g in inner)
        return count

    try:
        count = expanded(model.graph, ())
    except RecursionError:
        raise InvalidArgument(f"{path!r} has functions or graphs nested too deeply.") from None
    if count > _MOST_NODES:
        raise InvalidArgument(
            f"{path!r} has {count} nodes once its functions are inlined; at most {_MOST_NODES} are "
            "read."
        )


def read_onnx(path: str | PathLike[str], like: str | RuleSet = "torch") -> Graph:
    """Return the graph of a model; what its operators do not take is among its own findings.

    `like` are the rules that say which dtype operands of several dtypes should have got.
    """
    return Walk(load(path), str(path), rule_set(like)).read()


def fix_onnx(
    path: str | PathLike[str], out: str | PathLike[str], like: str | RuleSet = "torch"
) -> tuple[int, list[Finding]]:
    """Write a model with the Casts that it lacks; return how many, and what they do not fix.

    The file is read again, and checked against its opset and by ONNX's checker.
    """
    import onnx

    model = load(path)
    check(path, f"{str(path)!r} is not a valid ONNX model")
    walk = Walk(model, str(path), rule_set(like), mend=True)
    walk.read()
    if walk.added and "ai.onnx" not in walk.opsets:
        model.opset_import.append(onnx.helper.make_opsetid("", _CASTS_SINCE))
    left = Walk(model, str(out), rule_set(like)).read().own
    sentence = f"port: the Casts do not make a valid model of {str(path)!r}"
    write(model, path, out, None if left else sentence)
    return walk.added, left


@dataclass
class Walk:
    """One way through a model, in the order of its nodes."""

    model: Any
    file: str
    like: RuleSet
    mend: bool = False
    added: int = 0
    """Casts that were put in."""
    declared: dict[str, Edge] = field(default_factory=dict)
    """The types that ONNX's shape inference gives, where this reader finds none."""

    def __post_init__(self) -> None:
        opsets = {one.domain or "ai.onnx": one.version for one in self.model.opset_import}
        self.opsets = opsets
        version = f"opset {opsets.get('ai.onnx', '?')}"
        self.graph = Graph(self.file, "onnx", version)

    def read(self) -> Graph:
        """Go through the model and return what was found."""
        import onnx

        try:
            inferred = onnx.shape_inference.infer_shapes(self.model)
        except Exception:  # of a model that is wrong it says less, or nothing
            inferred = self.model
        for value in inferred.graph.value_info:
            self.declared[value.name] = _edge(value)
        self.walk(self.model.graph, {})
        return self.graph

    def walk(self, graph: Any, outer: dict[str, Edge]) -> list[DType | None]:
        """Type the nodes of a graph, and return the types of its outputs."""
        edges = dict(outer)
        for value in graph.input:
            edges[value.name] = _edge(value)
        for tensor in graph.initializer:
            edges[tensor.name] = Edge(of_code(tensor.data_type), not tensor.dims)
        nodes: list[Any] = []
        for node in list(graph.node):
            before, after = self.node(node, edges)
            nodes += [*before, node, *after]
        for value in graph.output:
            nodes += self.output(value, edges, nodes)
        if self.mend:
            del graph.node[:]
            graph.node.extend(nodes)
            del graph.value_info[:]  # types of what was there before
        return [edges[v.name].dtype if v.name in edges else None for v in graph.output]

    def node(self, node: Any, edges: dict[str, Edge]) -> tuple[list[Any], list[Any]]:
        """Type one node; return the Casts before and after it, if it is to be fixed."""
        given = [edges.get(name) if name else None for name in node.input]
        inputs = [None if edge is None else edge.dtype for edge in given]
        there = [edge for edge in given if edge is not None]
        with_axes = {edge.dtype for edge in there if not edge.zero_dim}
        zeros = {edge.dtype for edge in there} - with_axes if with_axes else set()
        typed = type_node(node, self.schema(node), inputs, partial(self.choose, zeros=zeros))
        inner = [one.g for one in node.attribute if one.HasField("g")]
        inside = [self.walk(graph, edges) for graph in inner]
        if inside and node.op_type in ("If", "Loop", "Scan"):
            typed.outputs = _given(node, inside)
        for one in typed.wrong:
            self.graph.own.append(self.wrong(node, one, inputs))
        outputs = []
        for name, dt in zip(node.output, typed.outputs, strict=True):
            guess = self.declared.get(name, Edge(None))
            outputs.append(Edge(dt or guess.dtype, guess.zero_dim))
        first = outputs[0] if outputs else Edge(None)
        call = self.graph.add(node.op_type, node.name, given, first)
        for name, edge in zip(node.output, outputs, strict=True):
            edges[name] = Edge(edge.dtype, edge.zero_dim, call.number)
        return self.casts(node, typed, inputs) if self.mend else ([], [])

    def schema(self, node: Any) -> Any:
        """Return what the opset says of an operator; None for one that it does not have."""
        from onnx import defs

        domain = node.domain or "ai.onnx"
        version = self.opsets.get(domain)
        if version is None:  # the opset is not imported
            return None
        try:
            return defs.get_schema(node.op_type, version, "" if domain == "ai.onnx" else domain)
        except Exception:  # SchemaError
            return None

    def choose(
        self, operator: str, given: Sequence[DType], zeros: Collection[DType | None] = ()
    ) -> DType | None:
        """Return what the rules make of operands of several dtypes, those of `zeros` 0-d."""
        promotion = known().promotes.get(in_torch("onnx").get(operator, ""))
        roles = {True: Role.ZERO_DIM, False: Role.TENSOR}
        operands = [Operand(roles[dt in zeros], dt) for dt in given]
        op = promotion.operator if promotion and self.like.knows(promotion.operator) else None
        # Where the rules refuse, as for unequal matrices, the Casts are those of other operators.
        return answer(operands, self.like, op).dtype or answer(operands, self.like).dtype

    def wrong(self, node: Any, one: Wrong, inputs: Sequence[DType | None]) -> Finding:
        """Return what is wrong with a node as a finding."""
        fix = None
        if one.to is not None:
            back = f", and what comes out back to {one.back}" if one.back and one.given_out else ""
            like = f", as {self.like.name} does" if one.code == "SZ002" else ""
            fix = Fix(f"cast to {one.to}{like}{back}", f"Cast(to={_code(one.to)[1]})")
        later = self.later(node, one) if one.code == "SZ004" else None
        if later is not None:
            said = "" if fix is None else f"; or {fix.text}"
            fix = Fix(
                f"convert the model to opset {later}, which takes it{said}", fix.code if fix else ""
            )
        shown = ", ".join("?" if dt is None else dt.name for dt in inputs)
        return self.own(one.code, node.op_type, node.name, f"({shown})", one.text, fix)

    def later(self, node: Any, one: Wrong) -> int | None:
        """Return the first later opset that takes what this one does not."""
        from onnx import defs

        domain = "" if node.domain == "ai.onnx" else node.domain
        for schema in sorted(
            (s for s in _history() if (s.name, s.domain) == (node.op_type, domain)),
            key=lambda s: int(s.since_version),
        ):
            words = [t for t in schema.type_constraints if t.type_param_str == one.variable]
            since = int(schema.since_version)
            if since > self.opsets.get(node.domain or "ai.onnx", defs.onnx_opset_version()) and any(
                WORDS[one.given[0]] in t.allowed_type_strs for t in words
            ):
                return since
        return None

    def own(
        self, code: Any, operator: str, name: str, given: str, text: str, fix: Fix | None
    ) -> Finding:
        """Return a finding that is about the model itself."""
        number = len(self.graph.calls)
        where = Where(self.file, 0, name or f"{operator} {number}")
        verdict = Verdict(code, None, None, text, fix, operator + given)
        return Finding(Call(number, operator, (), where=where), verdict, "onnx")

    def casts(
        self, node: Any, typed: Typed, inputs: Sequence[DType | None]
    ) -> tuple[list[Any], list[Any]]:
        """Put Casts around a node; return those before it and those after it."""
        before, after = [], []
        for one in typed.wrong:
            if one.to is None:
                continue
            for place in one.places:
                if inputs[place] is not one.to:
                    name = self.fresh(node.input[place])
                    before.append(self.cast(node.input[place], name, one.to))
                    node.input[place] = name
            for place in one.given_out if one.back is not None else ():
                name, node.output[place] = node.output[place], self.fresh(node.output[place])
                assert one.back is not None
                after.append(self.cast(node.output[place], name, one.back))
        return before, after

    def output(self, value: Any, edges: dict[str, Edge], nodes: list[Any]) -> list[Any]:
        """Compare an output with its declared type; return the Cast that fixes it."""
        found, said = edges.get(value.name, Edge(None)), _edge(value)
        if None in (found.dtype, said.dtype) or found.dtype is said.dtype:
            return []
        assert said.dtype is not None
        text = f"the model says {said.dtype}, and its nodes give {found.dtype}"
        fix = Fix(f"cast to {said.dtype}", f"Cast(to={_code(said.dtype)[1]})")
        self.graph.own.append(
            self.own("SZ001", "output", value.name, f"({found.dtype})", text, fix)
        )
        made = [node for node in nodes if value.name in node.output]
        if not self.mend or not made:
            return []
        name = self.fresh(value.name)
        for node in nodes:
            _rename(node, value.name, name)
        edges[value.name] = Edge(said.dtype, found.zero_dim)
        return [self.cast(name, value.name, said.dtype)]

    def fresh(self, name: str) -> str:
        """Return a name that no edge has."""
        self.added += 1
        return f"{name}/suanzi_cast_{self.added}"

    def cast(self, name: str, to_name: str, to: DType) -> Any:
        """Return a Cast."""
        from onnx import helper

        label = f"suanzi_cast_{self.added}"
        return helper.make_node("Cast", [name], [to_name], name=label, to=_code(to)[0])


@cache
def _history() -> list[Any]:
    """Return every operator of every opset."""
    from onnx import defs

    return list(defs.get_all_schemas_with_history())


def _edge(value: Any) -> Edge:
    """Return what is declared of a value."""
    if not value.type.HasField("tensor_type"):
        return Edge(None)
    tensor = value.type.tensor_type
    return Edge(of_code(tensor.elem_type), tensor.HasField("shape") and not tensor.shape.dim)


def _code(dt: DType) -> tuple[int, str]:
    """Return the element type of a dtype, and its name."""
    from onnx import TensorProto

    name = WORDS[dt].removeprefix("tensor(").removesuffix(")").upper()
    return TensorProto.DataType.Value(name), name


def _given(node: Any, inside: list[list[DType | None]]) -> list[DType | None]:
    """Return the output types of a node with graphs, from those of its graphs."""
    found = inside[0]
    if node.op_type == "Loop":
        found = found[1:]  # whether to continue
    missing: list[DType | None] = [None] * len(node.output)
    return (found + missing)[: len(node.output)]


def _rename(node: Any, old: str, new: str) -> None:
    """Let a node, and the graphs in it, call an edge otherwise."""
    for names in (node.input, node.output):
        for place, name in enumerate(names):
            if name == old:
                names[place] = new
    for one in node.attribute:
        for graph in [one.g] if one.HasField("g") else []:
            for inner in graph.node:
                _rename(inner, old, new)
