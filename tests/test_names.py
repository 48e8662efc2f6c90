"""By number in ten seconds: files are named by category, and first lines name their clauses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import mutate_native
from suanzi.base.status import InvalidArgument
from suanzi.standard import categories, interface, interfaces
from suanzi.standard.catalogues import STANDARD, catalogues
from where import CLAUSES, ROOT, clauses_in, find, head, main, meant, meets, number, spans_of

CATEGORIES = {
    i.category.replace(" ", "_"): number(i.category_clause) for i in interfaces().values()
}
FOLDERS = (
    "src/suanzi/ops",
    "src/suanzi/conformance/cases",
    "src/suanzi/conformance/truth",
    "native/ops",
    "tests/ops",
    "docs/en/guides/operators",
)
BY_CATEGORY = ("native/ops", "native/kernels")
"""Where a category with several files has a folder of its name."""
FOLDERS_OF_MODELS = (
    "src/suanzi/ops/nn",
    "src/suanzi/conformance/nn",
    "src/suanzi/truth/nn",
    "native/ops/nn",
    "native/kernels/nn",
    "tests/ops/nn",
    "docs/en/guides/nn",
    "benchmarks/nn",
)
KEYS = [one.key for of in catalogues() for one in interfaces(of).values()]
KIT = "src/suanzi/conformance"
NOT_ON_BLOCKS = {"create_tensor", "wrap_tensor", "create_sparse_tensor", "destroy"}
SHARED = {
    "src/suanzi/ops/quantized.py": "tensors of quantized dtypes, by operators of any category",
    "src/suanzi/ops/subscripts.py": "x[key], which views, gathers or selects",
    "native/kernels/linear_algebra/products_rows_of_bytes.inc": "of the model operators",
    "src/suanzi/ops/openvino.py": "OpenVINO's operation, no interface of the standard",
    "tests/ops/test_openvino.py": "its test",
    "src/suanzi/conformance/cases/statuses.py": "made of every interface's statuses",
    "src/suanzi/conformance/cases/calls.py": "several calls, of all interfaces",
    "src/suanzi/conformance/cases/moderate.py": "moderate numbers, of all interfaces",
    "src/suanzi/conformance/cases/refusals.py": "conditions of any interface",
    "src/suanzi/conformance/cases/promotion.py": "every operator that promotes",
    "src/suanzi/conformance/cases/examples.py": "the worked examples of all",
    "src/suanzi/conformance/cases/frozen.py": "cases of all, as files",
    "src/suanzi/conformance/cases/catalogues.py": "what every operator of a catalogue has",
    "src/suanzi/conformance/truth/functions.py": "functions of four categories",
    "src/suanzi/conformance/truth/bounds.py": "how near, of all element-wise operators",
    "src/suanzi/conformance/truth/sums.py": "reductions, products, transforms and samples",
    "src/suanzi/conformance/truth/lines.py": "elements along an axis: reduction, indexing, norms",
    "src/suanzi/conformance/truth/arrays.py": "exact arrays: products, matrices and transforms",
    "docs/en/guides/operators/index.md": "what all operators have in common",
    "docs/en/guides/nn/index.md": "what all model operators have in common",
    "native/ops/nn/lanes.h": "how every model operator reads and writes rows",
    "tests/ops/nn/test_limits.py": "every model operator at the limits",
    "tests/ops/nn/test_operands.py": "operands of every kind for every model operator",
    "tests/ops/nn/test_rules.py": "rule sets, for every model operator",
}
"""Files that several categories share, and why."""


def of_a_category() -> list[Path]:
    """Return the files that must have the name, or be in the folder, of a category."""
    found = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("*.*"))]
    found += [
        path
        for folder in BY_CATEGORY
        for category in CATEGORIES
        for path in sorted((ROOT / folder / category).glob("*.*"))
    ]
    return [path for path in found if not is_shared(path)]


def of_models() -> list[Path]:
    """Return the files of model operators that must be about some of their clauses."""
    found = [path for folder in FOLDERS_OF_MODELS for path in sorted((ROOT / folder).glob("*.*"))]
    return [path for path in found if path.suffix not in (".toml", ".txt") and not is_shared(path)]


def is_shared(path: Path) -> bool:
    is_made = head(path).startswith("made by ")
    return is_made or path.name.startswith("_") or path.relative_to(ROOT).as_posix() in SHARED


def category_of(path: Path) -> str | None:
    """Return the category that a file, or its folder, is named after, if it is."""
    if path.parent.name in CATEGORIES:
        return path.parent.name
    stem = path.stem.removeprefix("test_")
    return next((c for c in CATEGORIES if stem == c or stem.startswith(f"{c}_")), None)


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_folder_is_looked_at() -> None:
    folders = {shown(path.parent) for path in of_a_category()}
    nested = {
        folder for folder in folders if folder.startswith(tuple(f"{f}/" for f in BY_CATEGORY))
    }
    assert folders - nested == set(FOLDERS)
    assert {folder.rpartition("/")[0] for folder in nested} == set(BY_CATEGORY)
    assert {shown(path.parent) for path in of_models()} == set(FOLDERS_OF_MODELS)
    inside = {shown(p) for p in (ROOT / "native" / "ops").iterdir() if p.is_dir()}
    assert inside <= nested | set(FOLDERS_OF_MODELS)


@pytest.mark.parametrize("path", SHARED)
def test_what_is_shared_is_there_and_needs_to_be_listed(path: str) -> None:
    assert (ROOT / path).exists()
    assert "/nn/" not in path or not spans_of(ROOT / path, "nn")
    assert category_of(ROOT / path) is None or path.startswith(BY_CATEGORY)


@pytest.mark.parametrize("path", of_a_category(), ids=shown)
def test_a_file_has_the_name_of_its_category_and_says_its_clauses(path: Path) -> None:
    category = category_of(path)
    assert category, (
        f"{shown(path)}: name it <category>[_part], or begin it with _ if many share it"
    )
    first = head(path)
    if path.suffix != ".md":  # in which the clauses are part of a sentence
        assert re.match(f"{CLAUSES}: ", first), f"{shown(path)} begins with {first!r}, not a clause"
    spans = clauses_in(first)
    assert any(meets(span, CATEGORIES[category]) for span in spans), (
        f"{shown(path)} says {first!r}, which names no clause of {category}"
    )


@pytest.mark.parametrize("path", of_models(), ids=shown)
def test_a_file_of_models_has_the_name_of_its_category_or_says_its_clauses(path: Path) -> None:
    assert spans_of(path, "nn"), (
        f'{shown(path)}: name it <category>[_part], or begin its first line with "nn <clause>: "'
    )


def test_heads_name_clauses_that_exist() -> None:
    for of, files in ((STANDARD, of_a_category()), ("nn", of_models())):
        known = {number(i.clause) for i in interfaces(of).values()}
        known |= {number(clause) for clause in categories(of)}
        for path in files:
            for span in spans_of(path, of):
                assert set(span) <= known, f"{shown(path)}: {span}"


def test_clauses_are_read_as_people_write_them() -> None:
    def read(text: str) -> list[str]:
        return ["-".join(".".join(map(str, n)) for n in span) for span in clauses_in(text)]

    assert read("7.2.17.3 to .6 and .10: LU") == ["7.2.17.3-7.2.17.6", "7.2.17.10-7.2.17.10"]
    assert read("7.2.13: sums, 2 of them.") == ["7.2.13-7.2.13"]
    assert read("of 7.2.8 and 7.2.10 to 7.2.12.") == ["7.2.8-7.2.8", "7.2.10-7.2.12"]
    assert read("7.2.16.1.4 and .2.4: x") == ["7.2.16.1.4-7.2.16.1.4", "7.2.16.2.4-7.2.16.2.4"]
    assert read("7.2.3.2 to 7.2.3.6, .9 and 7.2.4.1") == [
        "7.2.3.2-7.2.3.6", "7.2.3.9-7.2.3.9", "7.2.4.1-7.2.4.1"
    ]  # fmt: skip
    assert read("clause 6.4, and version 7.2") == []
    assert clauses_in("nn 11.2, 11.3: 2 of 5", "nn") == (((11, 2), (11, 2)), ((11, 3), (11, 3)))
    assert clauses_in("nn 7.11 to .17, 9: x", "nn") == (((7, 11), (7, 17)), ((9,), (9,)))
    assert clauses_in("nn 8.1.1: x", "standard") == clauses_in("7.2.13: x", "nn") == ()


@pytest.mark.parametrize(
    ("text", "clause", "expected"),
    [
        ("7.2.13", "7.2.13.2", True),
        ("7.2.13.2", "7.2.13", True),
        ("7.2.1", "7.2.13", False),
        ("7.2.13", "7.2.1", False),
        ("7.2.17.3 to .6", "7.2.17.6.4", True),
        ("7.2.17.3 to .6", "7.2.17.7", False),
        ("7.2.17.3 to .6", "7.2.17.10", False),
        ("7.2.17.9 to .11", "7.2.17.10", True),
        ("7.2.8 to 7.2.12", "7.2.10.1", True),
        ("7.2.13.1.4", "7.2.13.2", False),
    ],
)
def test_which_clauses_meet(text: str, clause: str, expected: bool) -> None:
    (span,) = clauses_in(text)
    assert meets(span, number(clause)) is expected


@pytest.mark.parametrize("key", KEYS)
def test_every_interface_is_found(key: str) -> None:
    found = find(key)
    facts = interface(key)
    models = facts.catalogue != STANDARD
    for kind in (
        "standard",
        "code",
        "devices" if models else "C form",
        "truth",
        "cases",
        "tests",
        "guide",
    ):
        assert found[kind], f"where.py finds no {kind} of {key}"
    for kind in ("standard", "code"):
        assert all(("/nn/" in place) == models for place in found[kind]), kind
    if not models:
        assert f"def {facts.c_name}(" in text_at(found["C form"][0])
        assert key in NOT_ON_BLOCKS or found["cluster"], f"where.py finds no {key} on blocks"
    for kind, written in (
        ("standard", f'clause = "{facts.clause}"'),
        ("code", f'"{facts.clause}"'),
    ):
        assert any(written in text_at(place) for place in found[kind]), found[kind]


@pytest.mark.parametrize("key", KEYS)
def test_every_other_key_finds_the_same(key: str) -> None:
    facts = interface(key)
    clause = f"{facts.catalogue} {facts.clause}".removeprefix(f"{STANDARD} ")
    for other in (clause, clause.replace(" ", ":"), facts.c_name):
        assert meant(other) == meant(key), other


@pytest.mark.parametrize("of", catalogues())
def test_every_category_is_found(of: str) -> None:
    prefix = "" if of == STANDARD else f"{of}:"
    for clause, title in categories(of).items():
        found = find(prefix + clause)
        if title not in interfaces():  # complex is an interface, too
            other = meant(title.replace(" ", "_"))
            assert meant(prefix + clause)[:2] == meant(prefix + title)[:2] == other[:2]
        for kind in ("standard", "code", "devices", "truth", "cases", "tests", "guide"):
            assert found[kind], f"where.py finds no {kind} of {title}"


def text_at(place: str) -> str:
    path, _, line = place.partition(":")
    return (ROOT / path).read_text(encoding="utf-8").splitlines()[int(line) - 1] if line else ""


def without_lines(key: str) -> dict[str, list[str]]:
    return {kind: [p.partition(":")[0] for p in places] for kind, places in find(key).items()}


@pytest.mark.parametrize("key", ["7.2.13.2", "cumsum", "op_cumsum"])
def test_cumsum(key: str) -> None:
    found = without_lines(key)
    assert found["standard"] == ["src/suanzi/standard/7.2.13-reduction.toml"]
    assert found["code"] == ["src/suanzi/ops/reduction.py"]
    for kind, path in (
        ("kernel", "native/kernels/reduction/cumsum.cpp"),  # next to what all reductions share
        ("driver", "native/ops/reduction/scan.cpp"),
        ("cluster", "src/suanzi/runtimes/cluster/reductions.py"),
        ("tensors", "src/suanzi/tensors/methods.py"),
        ("array API", "src/suanzi/faces/array_api/numpy_functions.py"),
        ("truth", f"{KIT}/truth/lines.py"),
        ("cases", f"{KIT}/cases/reduction_cumsum.py"),
        ("tests", "tests/ops/test_reduction_cumsum.py"),
        ("guide", "docs/en/guides/operators/reduction.md"),
        ("benchmark", "benchmarks/reduction.py"),
    ):
        assert path in found[kind], kind
        assert not any("reduction_norm" in one or "linear_algebra" in one for one in found[kind])


def test_exp() -> None:
    found = find("7.2.12.1")
    assert found == find("exp")
    assert text_at(found["kernel"][0]).startswith("UNARY(exp, FLOATS, SAME")
    assert text_at(found["truth"][0]).strip().startswith('"exp": ')
    assert text_at(found["code"][0]).startswith('@operator("7.2.12.1"')
    assert [place.partition(":")[0] for place in found["driver"]] == [
        "native/loops/elementwise.cpp"
    ]
    assert {place.partition(":")[0] for place in found["benchmark"]} == {
        "benchmarks/elementwise.py"
    }


@pytest.mark.parametrize(
    "key", ["nn:softmax", "softmax", "op_nn_softmax", "nn:2.1", "nn 2.1", "2.1"]
)
def test_softmax(key: str) -> None:
    found = without_lines(key)
    assert found["standard"] == ["src/suanzi/ops/nn/2-softmaxes.toml"]
    assert found["code"] == ["src/suanzi/ops/nn/softmaxes.py"]
    for kind, path in (
        ("driver", "native/ops/nn/softmaxes.cpp"),
        ("kernel", "native/kernels/nn/rows.cpp"),
        ("devices", "src/suanzi/runtimes/torch/triton/softmaxes.py"),
        ("truth", "src/suanzi/truth/nn/softmaxes.py"),
        ("cases", f"{KIT}/nn/softmaxes.py"),
        ("blame", "src/suanzi/validate/blame/functions.py"),
        ("accuracy", "src/suanzi/validate/accuracy/samples.py"),
        ("port", "src/suanzi/port/replay/meaning.py"),
        ("tests", "tests/ops/nn/test_softmaxes.py"),
        ("guide", "docs/en/guides/nn/softmaxes.md"),
        ("benchmark", "benchmarks/nn/rows.py"),
    ):
        assert path in found[kind], kind


@pytest.mark.parametrize("key", ["7.2.17", "linear algebra", "linear_algebra"])
def test_a_category(key: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([key]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "code       src/suanzi/ops/linear_algebra_decompositions.py" in lines
    assert "           src/suanzi/ops/linear_algebra_solving.py" in lines
    assert not any("suanzi/ops/reduction" in line for line in lines)


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("7.2.13.9", "7.2.13.9 is not a clause of an interface. Did you mean 7.2.13.2, cumsum?"),
        ("7.2.17.3.4", "Did you mean 7.2.17.3, lu?"),
        ("7.2.13.2.1", "Did you mean 7.2.13.2, cumsum?"),
        ("99", "Did you mean 7.2."),
        ("nn:99.1", "Did you mean 13.1, nn:adamw?"),
        ("nn:softmix", "Did you mean 'softmax'?"),
        ("cumsun", "Did you mean 'cumsum'?"),
    ],
)
def test_what_is_not_there(key: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(said)):
        find(key)
    assert main([key]) == 2
    assert said in capsys.readouterr().err


SCRIPTS = [
    *(ROOT / name for name in ("CMakeLists.txt", "pyproject.toml", "tools/planted_faults.py")),
    *(path for path in sorted((ROOT / ".ci").iterdir()) if path.is_file()),
    *sorted((ROOT / ".github").rglob("*.yml")),
]
NATIVE = [
    p for p in sorted((ROOT / "native").rglob("*")) if p.suffix in (".h", ".cpp", ".inc", ".def")
]


def spelled_out(pattern: str) -> list[str]:
    """Return the paths that braces of a shell stand for."""
    braces = re.search(r"\{([^{}]*,[^{}]*)\}", pattern)
    if not braces:
        return [pattern]
    start, end = braces.span()
    parts = braces[1].split(",")
    return [p for part in parts for p in spelled_out(pattern[:start] + part + pattern[end:])]


def missing(text: str, folders: str, root: Path) -> list[str]:
    """Return the files and folders below `root` that a text names and that do not exist."""
    named = re.findall(rf"(?<![-\w./{{}}$])((?:{folders})/[-\w./*{{}},]*[\w*}}])", text)
    return [p for pattern in named for p in spelled_out(pattern) if not any(root.glob(p))]


@pytest.mark.parametrize("file", SCRIPTS, ids=shown)
def test_files_named_in_scripts_exist(file: Path) -> None:
    folders = "src|native|tests|tools|benchmarks|examples|docs|[.]ci|[.]github"
    assert not missing(file.read_text("utf-8"), folders, ROOT)


@pytest.mark.parametrize("folder", ["tools", "benchmarks"])
def test_paths_that_scripts_join_exist(folder: str) -> None:
    for file in sorted((ROOT / folder).rglob("*.py")):
        for joined in re.findall(r'((?:"[-\w./]+" / )+"[-\w./]+")', file.read_text("utf-8")):
            path = ROOT.joinpath(*re.findall(r'"([^"]+)"', joined))
            in_tree = path.relative_to(ROOT).parts[0] in ("src", "native", "tests", "tools", "docs")
            assert not in_tree or path.exists(), f"{shown(file)}: {joined}"


def test_files_named_in_native_code_exist() -> None:
    names = {path.name for path in NATIVE}
    for path in NATIVE:
        text = path.read_text("utf-8")
        assert not missing(text, "native", ROOT), shown(path)
        assert not missing(text, "core|kernels|loops|calls|ops|python", ROOT / "native"), shown(
            path
        )
        comments = re.findall(r"//.*", text)
        for name in re.findall(r"(?<![.\w/])\w+\.(?:h|cpp|inc|def)\b", "\n".join(comments)):
            assert name in names, f"{shown(path)}: {name}"


@pytest.mark.parametrize("file", [".gitattributes", ".clang-format-ignore"])
def test_patterns_of_files_match_some(file: str) -> None:
    lines = (ROOT / file).read_text("utf-8").splitlines()
    for pattern in (line.split()[0] for line in lines if line and not line.startswith("#")):
        assert any(ROOT.glob(pattern if "/" in pattern else f"**/{pattern}")), pattern


def test_tests_of_changed_native_code_exist() -> None:
    for tests in mutate_native.CONCERNED.values():
        assert all((ROOT / "tests" / test).is_file() for test in tests), tests
    concerned = mutate_native.Mutant(1, "native/ops/nn/norms.cpp", 1, 1, 2, "", "").concerned()
    assert concerned[0] == "ops/nn/test_norms.py"
    concerned = mutate_native.Mutant(
        1, "native/ops/reduction/scan.cpp", 1, 1, 2, "", ""
    ).concerned()
    assert concerned[0] == "ops/test_reduction.py"


def test_a_missing_file_is_found() -> None:
    assert missing("tests/{native,nowhere}/*.py native/ops/nn_rows.h", "tests|native", ROOT) == [
        "tests/nowhere/*.py", "native/ops/nn_rows.h"
    ]  # fmt: skip
