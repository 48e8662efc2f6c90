"""What is public: the documented modules, names without misprints, and objects that pickle."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
import types

import pytest

import suanzi as sz
from rooms import HOME, public_paths
from suanzi.standard import interfaces

X = sz.tensor([[1.5, -2.0], [3.0, 0.0]], sz.bfloat16)
PICKLED = {
    "a dtype": sz.bfloat16,
    "a device": sz.Device("cpu"),
    "a layout": X.layout,
    "a status": sz.Status.TYPE_MISMATCH,
    "a rule set": sz.rule_set("cann"),
    "a 0-d operand": sz.ZeroDim(sz.int8),
    "an error": sz.TypeMismatch("why"),
    "a mode of reduce": sz.ReduceMode.MEAN,
    "a norm of fft": sz.FFTNormMode.by_n,
    "the type": sz.Tensor,
    "an explanation": sz.explain(sz.int32, sz.bfloat16, rules="torch"),
    "a tensor": X,
    "a column-major tensor": sz.transpose(X),
    "a quantised tensor": sz.quantize(sz.tensor([1.0, -2.0]), sz.QT_SYM_INT8),
    "a sparse tensor": sz.to_sparse(sz.tensor([[0.0, 1.5], [0.0, 0.0]])),
    "operators": [sz.add, sz.svd, sz.rand_normal, sz.fft_c2c],
}
MODULES = """
    conformance conformance.check conformance.header conformance.plugin conformance.subjects
    conformance.subjects.wire conformance.suite cli device dtypes errata interface layout mindspore
    registry saving standard status""".split()


@pytest.mark.parametrize("name", MODULES)
def test_every_documented_module_exists(name: str) -> None:
    assert importlib.import_module(f"suanzi.{name}").__doc__


DOOR = re.compile(
    r'"""The public path of :mod:`suanzi\.([\w.]+)\.(\w+)`: the same module by this name\."""\n\n'
    r"import sys\n\nfrom suanzi\.\1 import \2 as module\n"
    r"from suanzi\.\1\.\2 import \*  # noqa: F403\n\nsys\.modules\[__name__\] = module\n"
)


@pytest.mark.parametrize("name", public_paths())
def test_a_public_path_holds_no_code_and_is_the_module_itself(name: str) -> None:
    shown = DOOR.fullmatch((HOME / "src" / "suanzi" / f"{name}.py").read_text("utf-8"))
    assert shown, f"suanzi/{name}.py is more than a public path"
    for extra in {"torch", "cluster", "dask"} & {name}:
        pytest.importorskip(extra.replace("cluster", "dask"))
    room = importlib.import_module(f"suanzi.{shown[1]}.{shown[2]}")
    assert importlib.import_module(f"suanzi.{name}") is room


def test_nothing_else_stands_at_the_top() -> None:
    top = {path.name for path in (HOME / "src" / "suanzi").glob("*.py*")}
    assert top - {f"{name}.py" for name in public_paths()} <= {
        "__init__.py", "__main__.py", "_core.pyi", "py.typed", "__pycache__"
    }  # fmt: skip


MODULES_SHOWN = {
    "suanzi": {*public_paths(), "conformance", "port", "truth"},
    "suanzi.nn": set(),
    "suanzi.array_api": {"fft", "linalg"},
}


@pytest.mark.parametrize("name", MODULES_SHOWN)
def test_dir_lists_what_is_public_and_no_other_modules(name: str) -> None:
    module = importlib.import_module(name)
    for info in pkgutil.iter_modules(module.__path__):  # an import makes each an attribute
        if not info.name.startswith("_") and name != "suanzi":
            importlib.import_module(f"{module.__name__}.{info.name}")
    shown = dir(module)
    modules = {n for n in shown if isinstance(getattr(module, n), types.ModuleType)}
    assert modules <= MODULES_SHOWN[name]
    assert set(module.__all__) <= set(shown)


@pytest.mark.parametrize("title", PICKLED)
def test_pickles(title: str) -> None:
    before = PICKLED[title]
    after = pickle.loads(pickle.dumps(before))
    assert type(after) is type(before)
    assert repr(after) == repr(before)


def test_misprints_are_names_of_the_interface_alone() -> None:
    right = set(interfaces())
    misprints = {name for one in interfaces().values() for name in one.printed}
    assert misprints
    for printed in misprints:
        assert hasattr(sz.interface, printed)
        name = printed.removeprefix("op_")
        if name not in right:
            with pytest.raises(AttributeError, match=r"sz\.\w+"):
                getattr(sz, name)
