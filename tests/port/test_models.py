"""Models in files: ONNX and OpenVINO IR. What needs onnx skips where it is not installed."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import suanzi as sz
from suanzi.base.status import InvalidArgument
from suanzi.front.cli import main
from suanzi.port.models import onnx_files
from suanzi.port.models.graph import Edge, Graph, audit, in_torch, judge_graph
from suanzi.port.models.onnx_model import fix_onnx
from suanzi.port.models.onnx_types import type_node
from suanzi.port.models.openvino_ir import read_openvino
from suanzi.port.operators import known
from suanzi.port.report import targets
from suanzi.promote.live import NotInstalled

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "examples" / "port" / "scaled.xml"


def dtypes(text: str) -> list[sz.DType | None]:
    return [None if word == "-" else sz.dtype(word) for word in text.split()]


def fill_the_disk(source: Path, target: Path) -> None:
    target.write_bytes(source.read_bytes()[:3])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class TestTypes:
    """One node against a schema, both made by hand."""

    @staticmethod
    def schema(inputs: str, outputs: str, **allowed: str) -> Any:
        def formal(word: str) -> Any:
            many = "Variadic" if word.endswith("*") else "Single"
            return SimpleNamespace(type_str=word.strip("*"), option=many, is_homogeneous=True)

        return SimpleNamespace(
            inputs=[formal(word) for word in inputs.split()],
            outputs=[formal(word) for word in outputs.split()],
            type_constraints=[
                SimpleNamespace(
                    type_param_str=name, allowed_type_strs=[f"tensor({w})" for w in words.split()]
                )
                for name, words in allowed.items()
            ],
        )

    @staticmethod
    def node(operator: str, outputs: int = 1) -> Any:
        return SimpleNamespace(op_type=operator, output=["y"] * outputs, attribute=[])

    @staticmethod
    def torch(operator: str, given: Sequence[sz.DType]) -> sz.DType | None:
        return sz.result_type(*given, rules="torch")

    def test_a_variable_ties_outputs_to_inputs(self) -> None:
        where = self.schema("B T T", "T", B="bool", T="float float16")
        found = type_node(self.node("Where"), where, dtypes("bool f16 f16"), self.torch)
        assert (found.outputs, found.wrong) == ([sz.float16], [])

    def test_several_dtypes_of_one_variable(self) -> None:
        add = self.schema("T T", "T", T="float float16 int64")
        found = type_node(self.node("Add"), add, dtypes("f16 i64"), self.torch)
        (wrong,) = found.wrong
        assert (wrong.code, wrong.to, wrong.places) == ("SZ002", sz.float16, (0, 1))
        assert found.outputs == [sz.float16]

    def test_what_the_rules_choose_has_to_be_taken(self) -> None:
        add = self.schema("T T", "T", T="float double")
        found = type_node(self.node("Add"), add, dtypes("u8 i8"), self.torch)
        assert found.wrong[0].to is sz.float32, "int16 is not taken, and float32 holds both"

    def test_a_dtype_that_is_not_taken_goes_there_and_back(self) -> None:
        relu = self.schema("T", "T", T="float double")
        found = type_node(self.node("Relu"), relu, dtypes("i32"), self.torch)
        (wrong,) = found.wrong
        assert (wrong.code, wrong.to, wrong.back) == ("SZ004", sz.float64, sz.int32)
        assert (wrong.given_out, found.outputs) == ((0,), [sz.int32])

    def test_where_nothing_holds_the_values_nothing_is_cast(self) -> None:
        relu = self.schema("T", "T", T="float double")
        (wrong,) = type_node(self.node("Relu"), relu, dtypes("i64"), self.torch).wrong
        assert wrong.to is None

    def test_lists_and_fixed_types(self) -> None:
        concat = self.schema("T*", "T tensor(int64)", T="float float16")
        found = type_node(self.node("C", 2), concat, dtypes("f16 f16 f32"), self.torch)
        assert (found.wrong[0].to, found.wrong[0].places) == (sz.float32, (0, 1, 2))
        assert found.outputs == [sz.float32, sz.int64]

    def test_an_operator_that_is_not_known_says_nothing(self) -> None:
        found = type_node(self.node("Mystery", 2), None, dtypes("f16"), self.torch)
        assert (found.outputs, found.wrong, found.known) == ([None, None], [], False)


class TestCasts:
    """A Cast that gives an operand the dtype of its partner is held against the target's rules."""

    @staticmethod
    def product(source: str, partner: str, *, both: bool = False, zero_dim: bool = False) -> Graph:
        graph = Graph("m.onnx", "onnx", "opset 21")
        dt = sz.dtype(partner)
        cast = graph.add("Cast", "c", [Edge(sz.dtype(source), zero_dim)], Edge(dt, zero_dim))
        other = Edge(dt)
        if both:
            again = graph.add("Cast", "d", [Edge(sz.float64)], Edge(dt))
            other = Edge(dt, made_by=again.number)
        graph.add("Mul", "m", [Edge(dt, zero_dim, cast.number), other], Edge(dt))
        return graph

    @pytest.mark.parametrize(
        ("source", "partner", "rules", "codes"),
        [
            ("i64", "f16", "cann", []),
            ("i64", "f16", "numpy", ["SZ001"]),
            ("i32", "f32", "numpy", ["SZ003"]),
            ("i64", "f32", "paddle", []),
            # Nobody's rules make float16 of the two: the author of the model wanted it.
            ("f32", "f16", "cann", []),
            ("f32", "bf16", "jax", []),
        ],
    )
    def test_what_a_target_would_choose(
        self, source: str, partner: str, rules: str, codes: list[str]
    ) -> None:
        found = audit(self.product(source, partner).calls, sz.rule_set(rules))
        assert [verdict.code for _, verdict in found] == codes

    def test_a_0d_operand_counts_as_one(self) -> None:
        graph = self.product("f32", "f16", zero_dim=True)
        assert [v.code for _, v in audit(graph.calls, sz.rule_set("torch"))] == []
        assert [v.code for _, v in audit(graph.calls, sz.rule_set("cann"))] == ["SZ003"]

    def test_where_both_are_cast_it_is_the_authors_choice(self) -> None:
        graph = self.product("i64", "f16", both=True)
        assert list(audit(graph.calls, sz.rule_set("numpy"))) == []
        assert judge_graph(graph, ["numpy"]).notes() == [
            "2 Casts, 2 of which lose values: float64 to float16 (1), int64 to float16 (1)"
        ]


class TestOpenVINO:
    def test_a_model_is_read(self) -> None:
        graph = read_openvino(MODEL)
        assert [(c.operator, c.result) for c in graph.calls if c.operator in ("mul", "erf")] == [
            ("erf", sz.int64), ("mul", sz.float16), ("mul", sz.float16),
        ]  # fmt: skip
        (found,) = judge_graph(graph, ["cann"]).findings
        assert (found.code, found.place) == ("SZ003", f"{MODEL} scale as f16")

    @pytest.mark.parametrize("text", ["", "no xml", "<net/>", "<other><layers/></other>"])
    def test_what_is_no_model_is_refused_in_a_sentence(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str
    ) -> None:
        path = tmp_path / "m.xml"
        path.write_text(text)
        assert main(["port", str(path)]) == 2
        assert "is not an OpenVINO model" in capsys.readouterr().err

    def test_the_command(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        sarif, known_file = tmp_path / "s.sarif", tmp_path / "known.json"
        assert main(["port", str(MODEL), "--to", "cann", "--json", "--sarif", str(sarif)]) == 1
        known_file.write_text(capsys.readouterr().out)
        (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
        (location,) = result["locations"]
        assert "region" not in location["physicalLocation"], "a node has no line"
        assert location["logicalLocations"] == [{"name": "scale as f16"}]
        assert main(["port", str(MODEL), "--to", "cann", "--baseline", str(known_file)]) == 0
        capsys.readouterr()
        assert main(["port", str(MODEL), "--to", "cann", "--fix", str(tmp_path / "x.onnx")]) == 2
        assert "--fix writes ONNX models" in capsys.readouterr().err


def test_operators_have_names_that_are_known() -> None:
    everything = {*known().promotes, *known().follows, *known().chosen}
    assert set(in_torch("onnx").values()) <= everything


def test_without_onnx_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    from suanzi.port.models.onnx_model import read_onnx

    with pytest.raises(NotInstalled, match=r"suanzi\[onnx\]"):
        read_onnx("model.onnx")


class TestONNX:
    """With onnx."""

    @pytest.fixture
    def onnx(self) -> Any:
        return pytest.importorskip("onnx", reason="onnx is not installed")

    @staticmethod
    def save(onnx: Any, path: Path, nodes: list[Any], ins: Any, outs: Any, opset: int) -> str:
        def info(pairs: Any) -> list[Any]:
            kinds = {"f16": 10, "f32": 1, "f64": 11, "i32": 6, "i64": 7, "bool": 9}
            return [onnx.helper.make_tensor_value_info(n, kinds[t], [2]) for n, t in pairs.items()]

        graph = onnx.helper.make_graph(nodes, "g", info(ins), info(outs))
        imports = [onnx.helper.make_opsetid("", opset)]
        model = onnx.helper.make_model(graph, opset_imports=imports, ir_version=8)
        onnx.save(model, path)
        return str(path)

    def test_a_model_is_mended_and_computes(
        self, onnx: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        node = onnx.helper.make_node
        nodes = [
            node("Add", ["x", "y"], ["z"], name="sum"),
            node("Relu", ["i"], ["r"], name="rectified"),
            node("Cast", ["r"], ["s"], to=1),
            node("Mul", ["z", "s"], ["w"], name="product"),
        ]
        given = {"x": "f16", "y": "f32", "i": "i32"}
        path = self.save(onnx, tmp_path / "m.onnx", nodes, given, {"w": "f32"}, 13)
        out = tmp_path / "out.onnx"
        assert main(["port", path, "--to", "cann", "--json", "--fix", str(out)]) == 1
        said = capsys.readouterr()
        findings = json.loads(said.out)["findings"]
        found = [(f["code"], f["function"]) for f in findings]
        assert found == [("SZ002", "sum"), ("SZ004", "rectified")]
        assert findings[1]["fix"]["text"].startswith(
            "convert the model to opset 14, which takes it"
        )
        assert "3 Casts put in; it passes ONNX's checker" in said.err
        assert main(["port", str(out), "--to", "cann"]) == 0
        reference = pytest.importorskip("onnx.reference").ReferenceEvaluator(str(out))
        np = pytest.importorskip("numpy")
        feeds = {
            "x": np.array([1.5, -2], "f2"), "y": np.array([0.25, 4], "f4"),
            "i": np.array([-3, 5], "i4"),
        }  # fmt: skip
        (w,) = reference.run(None, feeds)
        assert (w.dtype, w.tolist()) == (np.float32, [0.0, 10.0])

    def test_a_0d_operand_does_not_widen_in_the_fix(self, onnx: Any, tmp_path: Path) -> None:
        """PyTorch gives float16 for float16 * 0-d float32: one Cast, of the 0-d operand."""
        helper, path, out = onnx.helper, tmp_path / "m.onnx", tmp_path / "out.onnx"
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            [helper.make_node("Mul", ["x", "s"], ["y"], name="scaled")], "g",
            [info("x", 10, [2]), info("s", 1, [])], [info("y", 10, [2])],
        )  # fmt: skip
        imports = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=8), path)
        assert fix_onnx(str(path), str(out))[0] == 1
        cast = next(node for node in onnx.load(out).graph.node if node.op_type == "Cast")
        assert (cast.input[0], cast.attribute[0].i) == ("s", 10)

    def test_weights_in_a_file_of_their_own(
        self, onnx: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        np = pytest.importorskip("numpy")
        nodes = [onnx.helper.make_node("Add", ["x", "w"], ["z"], name="sum")]
        path = self.save(onnx, tmp_path / "m.onnx", nodes, {"x": "f16"}, {"z": "f32"}, 21)
        model = onnx.load(path)
        weights = onnx.numpy_helper.from_array(np.array([1, 2], "f4"), "w")
        model.graph.initializer.append(weights)
        onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
        again = tmp_path / "other" / "o.onnx"
        for out in (tmp_path / "o.onnx", again, again):
            out.parent.mkdir(exist_ok=True)
            assert main(["port", path, "--to", "cann", "--fix", str(out)]) == 1
            assert "it passes ONNX's checker" in capsys.readouterr().out
            found = pytest.importorskip("onnx.reference").ReferenceEvaluator(str(out))
            (z,) = found.run(None, {"x": np.array([0.5, 1], "f2")})
            assert (z.dtype, z.tolist()) == (np.float32, [1.5, 3.0])
        kept = (tmp_path / "w.bin").read_bytes()
        for out in (tmp_path / "w.bin", tmp_path / "other" / "w.bin"):
            assert main(["port", path, "--to", "cann", "--fix", str(out)]) == 2
            assert "is where the weights of the model are" in capsys.readouterr().err
            assert out.read_bytes() == kept
        taken = tmp_path / "taken"
        taken.mkdir()
        (taken / "w.bin").write_bytes(b"mine")
        assert main(["port", path, "--to", "cann", "--fix", str(taken / "o.onnx")]) == 2
        assert "w.bin' exists" in capsys.readouterr().err
        assert [one.name for one in taken.iterdir()] == ["w.bin"]
        assert (taken / "w.bin").read_bytes() == b"mine"

    def test_a_file_that_cannot_be_written(
        self, onnx: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """A name that is none, one that is too long, and a folder that is a file."""
        nodes = [onnx.helper.make_node("Add", ["x", "y"], ["z"], name="sum")]
        given = {"x": "f16", "y": "f32"}
        path = self.save(onnx, tmp_path / "m.onnx", nodes, given, {"z": "f32"}, 13)
        wrong = {
            ".": "names no file", "/": "names no file", "": "names no file",
            f"{path}/o.onnx": "cannot be written", str(tmp_path / ("n" * 260)): "cannot be written",
        }  # fmt: skip
        for out, words in wrong.items():
            assert main(["port", path, "--to", "cann", "--fix", out]) == 2
            said = " ".join(capsys.readouterr().err.split())
            assert said.startswith("suanzi: ")
            assert words in said
        with pytest.raises(InvalidArgument, match=r"'a\\x00' names no file"):
            onnx_files.write(onnx.load(path), path, "a\0", None)
        assert [one.name for one in tmp_path.iterdir()] == ["m.onnx"]

    def test_nothing_is_left_of_what_is_not_written(
        self, onnx: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither weights nor their folder: the checker refuses the model, or a disk is full."""
        np = pytest.importorskip("numpy")
        nodes = [onnx.helper.make_node("Add", ["x", "w"], ["z"], name="sum")]
        path = self.save(onnx, tmp_path / "m.onnx", nodes, {"x": "f32"}, {"z": "f32"}, 21)
        model = onnx.load(path)
        weights = onnx.numpy_helper.from_array(np.array([1, 2], "f4"), "w")
        model.graph.initializer.append(weights)
        (tmp_path / "in").mkdir()
        onnx.save(model, path, save_as_external_data=True, location="in/w.bin", size_threshold=0)
        model = onnx.load(path, load_external_data=False)
        other = tmp_path / "other"
        other.mkdir()
        (other / "kept").write_bytes(b"mine")
        wrong = onnx.ModelProto.FromString(model.SerializeToString())
        wrong.graph.node[0].op_type = "NoSuchOperator"
        with pytest.raises(InvalidArgument, match="refused: "):
            onnx_files.write(wrong, path, other / "o.onnx", "refused")
        monkeypatch.setattr(onnx_files.shutil, "copyfile", fill_the_disk)
        with pytest.raises(InvalidArgument, match=r"cannot be written: No space left on device\."):
            onnx_files.write(model, path, other / "o.onnx", "refused")
        assert [one.name for one in other.iterdir()] == ["kept"]
        monkeypatch.undo()
        onnx_files.write(model, path, other / "o.onnx", "refused")
        assert sorted(one.name for one in other.iterdir()) == ["in", "kept", "o.onnx"]
        (tmp_path / "in" / "w.bin").unlink()
        with pytest.raises(InvalidArgument, match="weights in 'in/w.bin', which does not exist"):
            onnx_files.write(model, path, other / "o.onnx", "refused")

    def test_what_cannot_be_mended_is_said(
        self, onnx: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        nodes = [onnx.helper.make_node("Relu", ["x"], ["y"], name="relu0")]
        path = self.save(onnx, tmp_path / "m.onnx", nodes, {"x": "i64"}, {"y": "i64"}, 13)
        assert main(["port", path, "--to", "cann", "--fix", str(tmp_path / "o.onnx")]) == 1
        assert "no type holds the values of what is left: relu0" in capsys.readouterr().out

    def test_an_output_of_another_type(self, onnx: Any, tmp_path: Path) -> None:
        nodes = [
            onnx.helper.make_node("Add", ["x", "x"], ["y"]),
            onnx.helper.make_node("Neg", ["y"], ["z"]),
        ]
        outs = {"y": "f32", "z": "f16"}
        path = self.save(onnx, tmp_path / "m.onnx", nodes, {"x": "f16"}, outs, 21)
        out = tmp_path / "o.onnx"
        assert main(["port", path, "--to", "cann", "--fix", str(out)]) == 1
        mended = onnx.load(out)
        assert [n.op_type for n in mended.graph.node] == ["Add", "Neg", "Cast"]
        assert mended.graph.node[1].input[0] == mended.graph.node[0].output[0], "it took float16"

    def test_branches_are_read(self, onnx: Any, tmp_path: Path) -> None:
        node, helper = onnx.helper.make_node, onnx.helper
        result = [helper.make_tensor_value_info("a", 1, [2])]
        mixed = helper.make_graph([node("Add", ["x", "y"], ["a"], name="inside")], "b", [], result)
        result = [helper.make_tensor_value_info("b", 1, [2])]
        plain = helper.make_graph([node("Identity", ["y"], ["b"])], "b", [], result)
        nodes = [node("If", ["c"], ["z"], then_branch=mixed, else_branch=plain)]
        given = {"x": "f16", "y": "f32", "c": "bool"}
        path = self.save(onnx, tmp_path / "m.onnx", nodes, given, {"z": "f32"}, 21)
        model = onnx.load(path)
        del model.graph.input[2].type.tensor_type.shape.dim[:]
        onnx.save(model, path)
        out = tmp_path / "o.onnx"
        assert main(["port", path, "--to", "cann", "--fix", str(out)]) == 1
        assert main(["port", str(out), "--to", "cann"]) == 0

    @pytest.mark.parametrize("data", [b"", b"no model", b"\x08"])
    def test_what_is_no_model_is_refused_in_a_sentence(
        self, onnx: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, data: bytes
    ) -> None:
        path = tmp_path / "m.onnx"
        path.write_bytes(data)
        assert main(["port", str(path)]) == 2
        assert "is not an ONNX model" in capsys.readouterr().err

    @pytest.mark.parametrize(
        "calls", [[[1], [2], [0]], [[1, 1], *([[i, i] for i in range(2, 30)])]]
    )
    def test_functions_that_expand_without_end(
        self, onnx: Any, calls: list[list[int]], capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """A cycle of three functions; and thirty that each call the next twice, 2^30 nodes."""
        make = onnx.helper.make_node
        imports = [onnx.helper.make_opsetid("", 18), onnx.helper.make_opsetid("own", 1)]
        functions = []
        for i, called in enumerate([*calls, []][: 31 if len(calls) > 3 else 3]):
            names = ["x", *(f"t{k}" for k in range(len(called) - 1)), "y"]
            nodes = [
                make(f"f{j}", [names[k]], [names[k + 1]], domain="own")
                for k, j in enumerate(called)
            ] or [make("Neg", ["x"], ["y"])]
            functions.append(
                onnx.helper.make_function("own", f"f{i}", ["x"], ["y"], nodes, imports)
            )
        kind = onnx.TensorProto.FLOAT
        x, y = (onnx.helper.make_tensor_value_info(name, kind, [2]) for name in "xy")
        graph = onnx.helper.make_graph([make("f0", ["x"], ["y"], domain="own")], "g", [x], [y])
        model = onnx.helper.make_model(graph, opset_imports=imports, functions=functions)
        onnx.save(model, tmp_path / "m.onnx")
        assert main(["port", str(tmp_path / "m.onnx"), "--to", "cann"]) == 2
        assert re.search("calls itself|nodes once its functions", "".join(capsys.readouterr()))

    def test_weights_behind_a_link(self, onnx: Any, tmp_path: Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "secret").write_bytes(bytes(8))
        folder = tmp_path / "model"
        folder.mkdir()
        (folder / "dir").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
        weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], bytes(8), raw=True)
        weight.ClearField("raw_data")
        weight.data_location = onnx.TensorProto.EXTERNAL
        weight.external_data.add(key="location", value="dir/secret")
        graph = onnx.helper.make_graph([], "g", [], [], [weight])
        with pytest.raises(InvalidArgument, match="outside of its folder"):
            onnx_files.write(
                onnx.helper.make_model(graph), folder / "m.onnx", tmp_path / "out.onnx", None
            )
        assert not (tmp_path / "dir").exists()


def test_what_targets_mean_to_a_model() -> None:
    """OpenVINO reads ONNX with a frontend of its own, and JAX comes without 64-bit types."""
    onnx, jax = targets(["openvino", "jax"], "onnx")
    assert (onnx.name, jax.name) == ("openvino+onnx", "jax_x32")
    for op in ("add", "matmul", "where", "concat", "less", "max", "conv2d"):
        assert sz.explain("f16", sz.ZeroDim("f32"), rules=onnx, op=op).refused
        assert sz.explain("f16", "f16", rules=onnx, op=op).dtype is sz.float16
    assert sz.explain("f16", "f32", rules=onnx, op="pow").dtype is sz.float16
