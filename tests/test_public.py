"""What is public: the documented modules, names without misprints, and objects that pickle."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
import subprocess
import sys
import types

import pytest

import suanzi as sz
from docs_site import public
from rooms import HOME, public_paths
from suanzi.base.toml import tomllib
from suanzi.conformance import decision
from suanzi.front.cli.statuses import MEANINGS, Exit
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


def needs(module: str) -> None:
    """Skip without what a module needs."""
    for extra, package in {"torch": "torch", "cluster": "dask", "dask": "dask"}.items():
        if module == f"suanzi.{extra}":
            pytest.importorskip(package)


@pytest.mark.parametrize("module", public.modules())
def test_every_promised_module_exists_with_its_names(module: str) -> None:
    needs(module)
    found = importlib.import_module(module)
    assert found.__doc__
    for name in public.names_of(module):
        assert hasattr(found, name), f"{module}.{name}"
    if "__dir__" not in vars(found):
        assert {*public.names_of(module)} == {*found.__all__}


def test_the_list_says_nothing_that_code_says() -> None:
    said = public.written()
    assert not {*said["modules"], *said["shown"]} & {f"suanzi.{name}" for name in public_paths()}
    assert not {*said["modules"]} & {*said["shown"]}
    for name in said["shown"]:
        assert importlib.import_module(name)


def test_every_format_is_on_the_list_once() -> None:
    with_schema = {*public.schemas()}
    described = [*with_schema, *public.written()["formats"], *public.written()["internal"]]
    assert sorted(described) == [*public.formats()]


def test_a_schema_has_the_version_that_is_written() -> None:
    for name, schema in public.schemas().items():
        version = schema["title"].rpartition("/")[2]
        written = schema.get("properties", {}).get("schema", {})
        texts = {str(one) for one in [written.get("const"), *written.get("enum", [])] if one}
        assert not texts or {version, f"{name}/{version}"} & texts, name


def test_the_entry_points_of_suanzi_are_of_its_groups() -> None:
    project = tomllib.loads((HOME / "pyproject.toml").read_text("utf-8"))["project"]
    assert {*project["entry-points"]} <= {*public.groups()} == {*public.written()["groups"]}
    for entries in project["entry-points"].values():
        for value in entries.values():
            assert public.file_of(value.partition(":")[0]).exists()


def test_the_exit_statuses_are_those_of_the_kit_too() -> None:
    assert [*MEANINGS] == [*Exit]
    assert (decision.SUCCESS, decision.FAILURE, decision.INTERRUPTED) == (
        Exit.ANSWER, Exit.DIFFERENCE, Exit.FAILURE
    )  # fmt: skip


DOOR = re.compile(
    r'"""The public path of :mod:`suanzi\.([\w.]+)\.(\w+)`: the same module by this name\."""\n\n'
    r"import sys\n\nfrom suanzi\.\1 import \2 as module\n"
    r"from suanzi\.\1\.\2 import \*  # noqa: F403\n\nsys\.modules\[__name__\] = module\n"
    r'(\nif __name__ == "__main__":\n    sys\.exit\(module\.main\(\)\)\n)?'
)


@pytest.mark.parametrize("name", public_paths())
def test_a_public_path_holds_no_code_and_is_the_module_itself(name: str) -> None:
    shown = DOOR.fullmatch((HOME / "src" / "suanzi" / f"{name}.py").read_text("utf-8"))
    assert shown, f"suanzi/{name}.py is more than a public path"
    needs(f"suanzi.{name}")
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


@pytest.mark.parametrize("name", ["nn.softmaxes", "array_api.linalg", "interface.structures"])
def test_what_stands_below_a_public_path_is_no_second_copy(name: str) -> None:
    top, _, below = name.partition(".")
    room = importlib.import_module(f"suanzi.{top}")
    own = importlib.import_module(f"{room.__name__}.{below}")
    assert importlib.import_module(f"suanzi.{name}") is own
    assert own.__spec__ is not None
    assert own.__spec__.name == own.__name__ == f"{room.__name__}.{below}"
    assert getattr(room, below) is own
    with pytest.raises(ModuleNotFoundError, match=rf"{room.__name__}\.no_such"):
        importlib.import_module(f"suanzi.{top}.no_such")


@pytest.mark.parametrize("name", ["suanzi", "suanzi.cli"])
def test_the_command_runs_as_a_module(name: str) -> None:
    command = [sys.executable, "-m", name, "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(sz.__version__)
