"""What is written down is true: docstrings, README and docs are executed."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from textwrap import dedent

import pytest
from cyclopts import MissingArgumentError

import suanzi as sz
from docs_site import public
from rooms import public_paths
from suanzi.base.lang.choosing import split
from suanzi.front.cli import app, main

ROOT = Path(__file__).parent.parent
# They run alone, in the interpreter of a framework, and import what is not here.
ALONE = (
    "suanzi.promote.probes.",
    "suanzi.recording.recorders.",
    "suanzi.conformance.subjects.frameworks.",
)
PATHS = {"suanzi._core", *(f"suanzi.{name}" for name in public_paths())}
"""What is compiled, and modules of rooms under their public paths."""
MODULES = [
    info.name
    for info in pkgutil.walk_packages(sz.__path__, "suanzi.")
    if not info.name.startswith(ALONE) and info.name not in PATHS
]
PAGES = [
    page
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/en/**/*.md")]
    if page.name != "CHANGELOG.md"
]
"""The reference, which the tree lacks, has the examples of docstrings; Chinese pages have the same
code."""
CHINESE = [*ROOT.glob("docs/zh/**/*.md")]


FILES = {
    "cluster": ("zarr", "h5py"),
    "suanzi.runtimes.cluster.files": ("zarr", "h5py"),
}
"""What examples need beside Dask."""


def needs_dask(what: str) -> None:
    """Skip without Dask; register the provider, which only an installed package announces."""
    pytest.importorskip("dask", reason=f"{what} is about tensors of blocks, which are Dask's")
    for other in FILES.get(what, ()):
        pytest.importorskip(other, reason=f"{what} has examples with files of {other}")
    sz.register_device(
        "cluster", importlib.import_module("suanzi.runtimes.cluster.provider").Provider()
    )


def needs_torch(what: str) -> None:
    """Skip without PyTorch; register its devices, which only an installed package announces."""
    pytest.importorskip("torch", reason=f"{what} is about devices of PyTorch")
    importlib.import_module("suanzi.runtimes.torch.provider").register()


@pytest.mark.parametrize("name", ["suanzi", *MODULES])
def test_docstrings(name: str) -> None:
    if name.startswith("suanzi.runtimes.cluster") or name.endswith(".cluster_adapter"):
        needs_dask(name)
    if name.startswith("suanzi.runtimes.torch") or name.endswith(".device_adapter"):
        needs_torch(name)
    if name.startswith("suanzi.runtimes.torch.triton"):
        pytest.importorskip("triton", reason=f"{name} has kernels of Triton")
    if name in ("suanzi.front.agents.server", "suanzi.front.agents.wire"):
        pytest.importorskip("mcp", reason="the extra mcp is not installed")
    module = importlib.import_module(name)
    assert module.__doc__, "every file says what it is about"
    # Examples of functions assume `import suanzi as sz`, and `xp = sz.array_api`.
    found = doctest.testmod(module, extraglobs={"sz": sz, "xp": sz.array_api})
    assert found.failed == 0


def test_the_examples_of_native_functions_are_found() -> None:
    finder = doctest.DocTestFinder()
    module = importlib.import_module("suanzi.promote.questions")
    examples = {test.name: len(test.examples) for test in finder.find(module)}
    assert examples["suanzi.promote.questions.promote_types"] == 3
    assert examples["suanzi.promote.questions.result_type"] == 4


@pytest.mark.parametrize("name", [n for n in dir(sz) if callable(getattr(sz, n))])
def test_public_functions_have_docstrings(name: str) -> None:
    assert (getattr(sz, name).__doc__ or "").strip()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_python_on_pages(page: Path) -> None:
    if page.stem in ("cluster", "dask"):
        needs_dask(page.stem)
    if page.stem == "devices":
        needs_torch(page.stem)
    found = doctest.testfile(str(page), module_relative=False)
    assert found.failed == 0


def sessions() -> list[tuple[str, str, str]]:
    """The ```console blocks of all pages: a command after `$ suanzi`, and what it prints."""
    found = []
    for page in [*PAGES, *CHINESE]:
        for block in re.findall(r"^( *```console\n.*?)```", page.read_text("utf-8"), re.S | re.M):
            for part in re.split(r"^\$ ", dedent(block), flags=re.M)[1:]:
                line, _, output = part.partition("\n")
                again = page in CHINESE and "--lang zh" not in line
                if line.startswith("suanzi ") and output.strip() and not again:
                    found.append((page.name, line, output.rstrip()))
    return found


@pytest.mark.parametrize(("page", "line", "output"), sessions())
def test_terminal_sessions_on_pages(
    capsys: pytest.CaptureFixture[str], page: str, line: str, output: str
) -> None:
    main(shlex.split(line)[1:])
    captured = capsys.readouterr()
    printed = (captured.err + captured.out).rstrip()
    if output.endswith("..."):
        output = output.removesuffix("...").rstrip()
        printed = "\n".join(printed.splitlines()[: len(output.splitlines())])
    assert printed == output


def commands() -> list[str]:
    """Return every `suanzi` command on a page, of a terminal or of a sentence."""
    found = []
    for page in [*PAGES, *CHINESE, *ROOT.glob("examples/**/*.md")]:
        text = page.read_text("utf-8")
        for block in re.findall(r"^ *```(?:console|sh)\n(.*?)```", text, re.S | re.M):
            found += re.findall(r"^ *(?:\$ )?(suanzi .*)$", block, re.M)
        prose = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.S | re.M)
        found += [" ".join(x.split()) for x in re.findall(r"`(suanzi [a-z][^`]*)`", prose)]
    return found


def unparsed(lines: Iterable[str]) -> dict[str, str]:
    """Return the commands that do not parse; a sentence names some without their arguments."""
    wrong = {}
    for line in lines:
        words = shlex.split(re.split(r"#|>|&&|\|", line)[0])[1:]
        try:
            app.parse_args(split(words)[0], exit_on_error=False, print_error=False)
        except MissingArgumentError:
            continue
        except Exception as error:
            wrong[line] = type(error).__name__
    return wrong


def test_commands_on_pages_have_their_options() -> None:
    """They parse; nothing is run."""
    lines = commands()
    assert len(lines) > 400
    assert not unparsed(lines)
    assert {*unparsed(["suanzi prot", "suanzi judge --bogus", "suanzi standards bogus"])} == {
        "suanzi prot", "suanzi judge --bogus", "suanzi standards bogus"
    }  # fmt: skip


def test_the_action_calls_a_command_by_its_options() -> None:
    text = (ROOT / "action.yml").read_text("utf-8")
    given = re.findall(r"^ +(?:command=|.*command\+=)\((.*)\)$", text, re.M)
    words = shlex.split(" ".join(given).replace('"$RUNNER_TEMP/suanzi/bin/suanzi"', "suanzi"))
    assert words[:2] == ["suanzi", "port"]
    assert not unparsed([" ".join("x" if w[0] == "$" else w for w in words).partition(" -- ")[0]])


NAMING = [
    *(*PAGES, ROOT / "CHANGELOG.md", *CHINESE, ROOT / "action.yml"),
    *(path for path in ROOT.glob("examples/**/*") if path.suffix in (".md", ".py", ".toml")),
    *(ROOT / "src" / "suanzi").rglob("*.md"),
]
"""What names modules to users."""
DOTTED = re.compile(r"(?<![\w./-])suanzi(?:\.[a-zA-Z_]\w*)+")
REFUSED = re.compile(r"^ *>>> .*\n *Traceback .*\n(?: .*\n)* *AttributeError.*$", re.M)
IMPORT = re.compile(r"^[> .]*(from suanzi[\w.]* import [\w, ]+|import .*\bsuanzi\b[\w., ]*)", re.M)


def named(text: str) -> set[str]:
    """Return the dotted paths that a text names, `sz.NAME` and imported names among them.

    NAME stands for any; what an example shows to raise AttributeError is not there on purpose.
    """
    text = re.sub(r"\.\w*NAME\b[\w.]*", "", REFUSED.sub("", text))
    found = {*DOTTED.findall(text)}
    found |= {f"suanzi{path}" for path in re.findall(r"\bsz((?:\.[a-zA-Z_]\w*)+)", text)}
    for line in IMPORT.findall(text):
        for module, names in re.findall(r"from (suanzi[\w.]*) import ([\w, ]+)", line):
            found |= {f"{module}.{name.split()[0]}" for name in names.split(",") if name.strip()}
    return found


def lacking(path: str) -> str:
    """Return what is wrong with a dotted path; nothing if it exists and is on the list."""
    if not public.is_listed(path):
        return f"{path} is not on the list of the public API"
    module = public.module_of(path)
    if path in public.groups():
        return ""
    if module.partition(".")[2].partition(".")[0] in ("torch", "cluster", "dask"):
        return ""  # by their names alone: what they need may not be installed
    found: object = importlib.import_module(module)
    for name in path[len(module) + 1 :].split("."):
        if name and not hasattr(found, name):
            return f"{path}: {module} has no {name}"
        found = getattr(found, name) if name else found
    return ""


@pytest.mark.parametrize("page", NAMING, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_pages_name_exists_and_is_public(page: Path) -> None:
    assert not [said for path in named(page.read_text("utf-8")) if (said := lacking(path))]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("`suanzi.base.text`", "suanzi.base.text"),
        ("`sz.clamp(x)`", "suanzi.clamp"),
        ("`sz.port.no_such`", "suanzi.port.no_such"),
        (">>> from suanzi.port import judge, lost", "suanzi.port.lost"),
        ("import numpy as np, suanzi.prot", "suanzi.prot"),
        ("`suanzi.Tensor.no_such`", "suanzi.Tensor.no_such"),
        ("`suanzi.judging`", "suanzi.judging"),
    ],
)
def test_what_does_not_exist_is_found(text: str, path: str) -> None:
    assert [one for one in named(text) if lacking(one)] == [path]


TORCH_BLOCKS = [
    (page, block)
    for page in PAGES
    for block in re.findall(r"```python\n(import torch\n.*?)```", page.read_text("utf-8"), re.S)
]


@pytest.mark.parametrize(
    ("page", "block"), TORCH_BLOCKS, ids=[str(page.relative_to(ROOT)) for page, _ in TORCH_BLOCKS]
)
def test_pytorch_on_pages(
    page: Path, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    monkeypatch.chdir(tmp_path)  # a block may write a file
    exec(compile(block, str(page), "exec"), {"sz": sz})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_on_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: page.name)
def test_files_named_on_pages_are_there(page: Path) -> None:
    """NAME stands for any."""
    folders = "src|native|tests|tools|benchmarks|examples|docs|[.]ci"
    for named in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text("utf-8")):
        assert any(ROOT.glob(named.replace("NAME", "*"))), named


def test_nothing_is_too_long_to_read() -> None:
    """A file is one idea; the dtype list and the registry of names are tables."""
    long = {
        str(file.relative_to(ROOT)): count
        for folder in ("src", "native", "tests")
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".cpp", ".h", ".inc", ".def") and os.path.isfile(file)
        if (count := len(file.read_text("utf-8").splitlines())) > 500
    }
    assert not long
