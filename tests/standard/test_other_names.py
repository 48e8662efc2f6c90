"""The table of other libraries' names: what it writes runs, and gives what NumPy gives."""

import ast
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import suanzi as sz
from suanzi.standard import interface, interfaces, other_names
from suanzi.standard.other_names import LIBRARIES, Meaning, explained, meanings, read, table

SQUARE = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
OPERANDS = {
    "x": SQUARE,
    "y": np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 1.0], [3.0, 1.0, 2.0]]),
    "z": SQUARE + 1,
}
NUMBERS = {
    "n": 3,
    "k": 2,
    "axis": 1,
    "axes": [1],
    "shape": (3, 3),
    "dtype": sz.float64,
    "start": 1,
    "stop": 4,
    "limit": 4,
    "step": 1,
    "num": 4,
    "perm": (1, 0),
    "repeats": (1, 2),
    "low": 1,
    "high": 2,
    "split_sizes": (1, 2),
    "pad_width": ((1, 1), (0, 0)),
    "begin": (0, 0),
    "sizes": (6, 6),
    "last_dim_size": 4,
    "mask": np.array([[True, False, True]] * 3),
    "condition": np.array([[True, False, True]] * 3),
    "index": np.array([[0, 1], [2, 2]]),
    "updates": np.array([7.0, 8.0]),
    "weight": SQUARE,
    "bias": np.zeros(3),
    "p": 0.5,
    "row": np.arange(3).reshape(3, 1),
    "column": np.arange(3),
    "end": 2,
}
# What takes other operands than a square matrix of ordinary numbers.
OTHERS = {
    "atanh": {"x": SQUARE / 8},
    "asin": {"x": SQUARE / 8},
    "acos": {"x": SQUARE / 8},
    "acosh": {"x": SQUARE + 1},
    "array_api.linalg.outer": {"x": SQUARE[0], "y": SQUARE[1]},
    "x.item": {"x": SQUARE[:1, :1]},
    "bitwise": {"x": np.arange(3), "y": np.arange(3)},
    "logical_and": {"x": SQUARE > 1, "y": SQUARE > 2},
    "logical_or": {"x": SQUARE > 1, "y": SQUARE > 2},
    "logical_xor": {"x": SQUARE > 1, "y": SQUARE > 2},
    "dot": {"x": SQUARE[0], "y": SQUARE[1]},
    "diag": {"x": SQUARE[0]},
    "rand_bernoulli": {"x": SQUARE / 8},
    "interpolate": {"x": SQUARE.reshape(1, 1, 3, 3)},
    "fft_c2c": {"x": SQUARE + 0j},
    "fft_c2r": {"x": SQUARE + 0j},
    "slice": {"sizes": (2, 2), "step": (1, 1)},
    "mul(x.reshape": {"x": SQUARE[0], "y": SQUARE[1]},
    "nn.prelu": {"weight": SQUARE[0]},
    "nn.scaled_linear": {name: np.ones((3, 3), np.int8) for name in ("x", "weight")}
    | {"x_scale": np.ones((3, 1)), "weight_scale": np.ones((3, 1))},
    "nn.grouped_matmul": {"weight": SQUARE[None], "sizes": [3]},
    "nn.glu": {"x": SQUARE[:, :2]},
    "nn.layer_norm": {"weight": SQUARE[0], "bias": SQUARE[0]},
    "nn.rms_norm": {"weight": SQUARE[0]},
    "nn.group_norm": {"x": SQUARE},
    "nn.batch_norm": {"mean": SQUARE[0], "variance": SQUARE[0]},
    "nn.instance_norm": {"x": SQUARE[None]},
    "nn.embedding": {"index": np.array([0, 2])},
    "nn.one_hot": {"index": np.array([0, 2])},
    **{
        f"nn.conv{t}{n}d": {"x": np.ones((1, 2, *[4] * n)), "weight": np.ones((2, 2, *[2] * n))}
        for n in (1, 2, 3)
        for t in ("", "_transpose")
    },
    **{
        f"nn.{kind}_pool{n}d": {"x": np.ones((1, 2, *[6] * n))}
        for n in (1, 2, 3)
        for kind in ("max", "avg", "adaptive_avg", "adaptive_max")
    },
    "nn.unfold": {"x": np.ones((1, 2, 6, 6))},
    "nn.fold": {"x": np.ones((1, 9, 1))},
    "nn.pixel_shuffle": {"x": np.ones((1, 9, 2, 2))},
    "nn.pixel_unshuffle": {"x": np.ones((1, 1, 6, 6))},
    "nn.grid_sample": {"x": np.ones((1, 1, 6, 6)), "grid": np.zeros((1, 2, 2, 2))},
    "nn.causal_conv1d": {"x": np.ones((1, 2, 4)), "weight": np.ones((2, 2))},
    "nn.gated_delta_rule": {
        **dict.fromkeys("qkv", np.ones((1, 2, 1, 3))),
        **dict.fromkeys(("g", "beta"), np.ones((1, 2, 1))),
    },
    "nn.rotary_embedding": {
        "x": np.ones((1, 3, 4)),
        "cos": np.ones((3, 2)),
        "sin": np.ones((3, 2)),
    },
    "nn.ctc_loss": {
        "x": np.full((3, 1, 2), -0.7),
        "targets": [[1]],
        "lengths": [3],
        "target_lengths": [1],
    },
    "nn.bce": {"p": SQUARE / 8, "y": SQUARE / 8},
}


# Answered with something near, or gone from newer versions.
NEARLY = {"median", "row_stack", "in1d", "matrix"}


def call_in(meaning: Meaning) -> str | None:
    """Return the call in front of words, or None where there is none."""
    text = meaning.here
    while text:
        try:
            ast.parse(text, mode="eval")
        except SyntaxError:
            text = text.rpartition(",")[0]
        else:
            return text
    return None


def values(call: str) -> dict[str, object]:
    found = NUMBERS | OPERANDS
    for start, others in OTHERS.items():
        if re.match(rf"(sz\.)?{re.escape(start)}", call):
            found = found | others
    return found


def ours(call: str) -> object:
    given = {k: sz.tensor(v) if isinstance(v, np.ndarray) else v for k, v in values(call).items()}
    with sz.promotion("numpy"):
        return eval(call, {"sz": sz} | given)


@pytest.mark.parametrize("meaning", [m for m in table() if m.exists], ids=lambda m: m.here)
def test_what_is_written_runs(meaning, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sz.save("model.sz", sz.tensor(1))
    call = call_in(meaning)
    assert call, f"{meaning.here} begins with no call"
    ours(call)


def test_numpys_functions_give_the_same():
    compared = []
    for meaning in table():
        call = call_in(meaning)
        for name in meaning.names.get("numpy", ()):
            function = getattr(np, name, getattr(np.linalg, name, None))
            if call is None or name in NEARLY or not callable(function):
                continue
            if "rand" in call or "empty" in call:
                continue
            used = {n.id for n in ast.walk(ast.parse(call)) if isinstance(n, ast.Name)}
            given = values(call)
            operands = [given[n] for n in ("condition", "x", "y") if n in used]
            if not operands or used & (NUMBERS.keys() | {"z"}) - {"axis", "condition"}:
                continue
            keywords = {"axis": given["axis"]} if "axis" in used else {}
            arrays = [operands] if "[x, y]" in call else operands
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # names that NumPy is about to remove
                    due = function(*arrays, **keywords)
            except (TypeError, ValueError):
                continue  # another signature
            found = ours(call)
            if isinstance(found, tuple | list):
                found, due = found[0], due[0]
            np.testing.assert_allclose(np.asarray(found), due, rtol=1e-12, err_msg=call)
            compared.append(name)
    assert len(compared) >= 100, compared


def test_names_are_said_once_and_shadow_no_other_meaning():
    for library in LIBRARIES:
        names = [name for meaning in table() for name in meaning.names.get(library, ())]
        assert not {n for n in names if names.count(n) > 1}, library


def test_a_second_catalogue_adds_rows_from_its_own_folder(tmp_path):
    header = "here | dtype | " + " | ".join(LIBRARIES)
    (tmp_path / "nn").mkdir()
    path = tmp_path / "nn" / "other-names.txt"
    path.write_text(f"{header}\n\nsz.nn.gelu(x) | follows | - | gelu | - | - | - | - | - | Gelu\n")
    (row,) = read(path)
    assert (row.catalogue, row.operator, row.names["aclnn"]) == ("nn", "gelu", ("aclnnGelu",))
    assert {one.catalogue for one in table()} >= {"standard"}
    operators = {one.operator for one in table()} - {""}
    assert operators <= {*interfaces(), *interfaces("nn"), "tensor", "load", "save"}


def test_sentences():
    assert explained("np.sum") == 'Use sz.reduce(x, "SUM", axis).'
    assert explained("aclnnErfinv") == "suanzi has no operator for it."
    assert explained("aclnnErf") == "Use sz.nn.erf(x)."
    assert explained("nothing at all") is None
    assert [m.here for m in meanings("torch.nn.functional.relu")] == ["sz.nn.relu(x)"]


def test_a_missing_name_of_the_package_says_what_to_use():
    for name in ("sum", "cat", "arange", "softmax", "ones", "maximum"):
        with pytest.raises(AttributeError, match=rf"suanzi has no '{name}'\. Use .*sz\."):
            getattr(sz, name)
    with pytest.raises(AttributeError, match="Did you mean 'tensor'"):
        sz.tensr  # noqa: B018
    assert not hasattr(sz, "__wrapped__")
    with pytest.raises(sz.InvalidArgument, match=r'sz.reduce\(x, "MEAN", axis\)'):
        interface("mean")


def test_dir_shows_what_is_public():
    shown = set(dir(sz))
    assert {"add", "tensor", "interface", "conformance"} <= shown
    assert not shown & {"loglp", "expml", "resolve", "registry"}
    assert {one.name for one in interfaces().values()} <= shown


def test_a_recorder_without_suanzi_reads_the_tables_of_all_catalogues() -> None:
    """It finds them by their place; without that of models, `conv1d` would be unknown."""
    folder = str(Path(other_names.__file__).parent)
    program = "import other_names; print(*(one.here for one in other_names.table()), sep='\\n')"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": folder},
    )  # fmt: skip
    assert done.stdout.splitlines() == [str(one.here) for one in other_names.table()]
