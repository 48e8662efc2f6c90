"""A new operator is five edits: `erf` is added to a copy of the tree, and then it is everywhere.

A package of another catalogue adds another `erf` by the same edits, and the two are kept apart.

The core of the copy is the one that is built; only its loop is compiled, from the functor in the
copy, and put in its place by `helpers/with_erf.py`. All else is as it would be.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.c_compiler import compiler
from suanzi import _core

ROOT = Path(__file__).parents[1]

# A file, what the edit comes before (the end, if nothing), and what it says.
EDITS = [
    (
        "src/suanzi/standard/7.2.12-exponential.toml",
        "",
        """

[[interface]]
clause = "7.2.12.7"
table = 113
name = "erf"
form = "elementwise"
parameters = [{ name = "x" }]
outputs = ["y"]
dtypes = "FR"
statuses = ["SUCCESS", "TYPE_MISMATCH", "ALLOC_FAILED"]
minimal = false
prototype = "op_erf(const Tensor x, Tensor *y)"

[[interface.example]]
ours = true
arguments.x = { dtype = "FLOAT32", values = [0, 1] }
outputs.y = { dtype = "FLOAT32", values = [0, 0.84270] }
digits = 5
""",
    ),
    ("native/kernels/ops.def", "", "UNARY(erf, FLOATS, SAME)\n"),
    (
        "native/kernels/functions/exponential.inc",
        "}  // namespace\n}  // namespace suanzi",
        """struct erf {
  template <class T>
  static T apply(T x) noexcept { return std::erf(x); }
};

""",
    ),
    (
        "src/suanzi/ops/exponential.py",
        "",
        '''

@operator("7.2.12.7", dtypes=FLOATS, kernel="erf", ulp=2, promotes=REAL_FUNCTION)
def erf(x: TensorLike) -> Tensor:
    """Return the error function of x.

    >>> sz.erf(sz.tensor([0, 1], sz.float16))
    Tensor([    0, 0.843], dtype=float16)
    """
''',
    ),
    (
        "src/suanzi/conformance/truth/functions.py",
        '}\n"""Every function of one operand',
        '    "erf": Function(_bounded("erf"), _odd(1.0), near=(0.5, 1, 3), ulp=3),\n',
    ),
]

# The new catalogue's page in Chinese: its title.
EDITS.append(("tools/docs_site/zh/labels.toml", "", '"Functions" = "函数"\n'))

RECORD = EDITS[0][2].replace("7.2.12.7", "1.1").replace("table = 113\n", "")

# The catalogue `more`: the kernel is the same, all else is its own.
PACKAGE = {
    "more/1-functions.toml": RECORD,
    "more/__init__.py": EDITS[3][2]
    .replace("7.2.12.7", "1.1")
    .replace("promotes=REAL_FUNCTION", 'promotes=REAL_FUNCTION, catalogue="more"')
    .replace("sz.erf(", "sz.more.erf("),
    "more/cases.py": """
from suanzi.conformance.cases import cases_of
from suanzi.conformance.cases._functions import function_cases
from suanzi.conformance.truth.functions import FUNCTIONS

FUNCTIONS["more:erf"] = FUNCTIONS["erf"]
cases_of("more:erf")(function_cases)
""",
    "more/catalogue.py": """
from pathlib import Path
from suanzi.standard.catalogues import Catalogue

MORE = Catalogue("more", str(Path(__file__).parent), "more", "more operators", "more.cases")
""",
    "more-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: more\nVersion: 1\n",
    "more-1.dist-info/entry_points.txt": "[suanzi.catalogues]\nmore = more.catalogue:MORE\n",
}
IMPORTS = """
from suanzi.registry import FLOATS, REAL_FUNCTION
from suanzi.ops.calling.declare import operator
from suanzi.tensors.tensor import Tensor, TensorLike
"""

LOOP = """
#include "kernels/common.inc"
#include "kernels/formats.inc"
#include "kernels/convert.inc"
#include "kernels/functions/magnitude.inc"
#include "kernels/arithmetic/arithmetic.inc"
#define xsimd SUANZI_XSIMD
#include "kernels/vectors/vectors.inc"
#include "kernels/functions/logarithm.inc"
#include "kernels/functions/exponential.inc"
#undef xsimd
using namespace suanzi;
static_assert(UnaryOp::erf < UnaryOp::count);
extern "C" {
void erf_f32(const void* x, void* y, std::size_t n) { unary_loop<suanzi::erf, f32>(x, y, n); }
void erf_f64(const void* x, void* y, std::size_t n) { unary_loop<suanzi::erf, f64>(x, y, n); }
}
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with the edits, the loop and what the tools write."""
    cxx = compiler("c++", "g++", "clang++")
    pythran = importlib.util.find_spec("pythran")
    if pythran is None or pythran.origin is None:
        pytest.skip("needs the headers of xsimd, which the package pythran brings")
    copy = tmp_path_factory.mktemp("tree")
    for folder in ("benchmarks", "docs", "native", "src", "tests", "tools"):
        unwanted = shutil.ignore_patterns("__pycache__", "test_new_operator.py")
        shutil.copytree(ROOT / folder, copy / folder, ignore=unwanted)
    shutil.copy(ROOT / "pyproject.toml", copy)
    shutil.copy(_core.__file__, copy / "src" / "suanzi")
    for file, before, said in EDITS:
        text = (copy / file).read_text("utf-8")
        place = text.rindex(before) if before else len(text)
        (copy / file).write_text(text[:place] + said + text[place:], "utf-8")
    for file, said in PACKAGE.items():
        (copy / "src" / file).parent.mkdir(exist_ok=True)
        imports = IMPORTS if file == "more/__init__.py" else ""
        (copy / "src" / file).write_text(imports + said, "utf-8")
    (copy / "loop.cpp").write_text(LOOP)
    command = f"{cxx} -std=c++20 -O1 -w -fPIC -shared -Inative -DSUANZI_LEVEL=baseline -o erf.so"
    headers = ["-isystem", str(Path(pythran.origin).parent), "loop.cpp"]
    subprocess.run([*command.split(), *headers], cwd=copy, check=True, capture_output=True)
    shutil.copy(copy / "tests" / "helpers" / "with_erf.py", copy / "src" / "sitecustomize.py")
    for tool in (["write_names.py"], ["write_docs.py"], ["write_docs.py", "site"]):
        run(copy, f"tools/{tool[0]}", *tool[1:])
    return copy


def run(tree: Path, *arguments: str) -> str:
    """Return what a Python that knows the copy prints."""
    path = os.pathsep.join(str(tree / folder) for folder in ("src", "tools"))
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_in_every_form(tree: Path) -> None:
    assert "7.2.12.7" in run(tree, "-m", "suanzi", "op", "erf")
    said = run(
        tree,
        "-c",
        "import suanzi as sz; from suanzi import interface, ops\n"
        "from docs_site.operators import page_of, pages\n"
        "x = sz.tensor([0, 1], sz.float16)\n"
        "print(interface.op_erf(x=x), ops.erf is sz.erf, 'erf' in dir(sz))\n"
        "print(sz.erf(sz.to_sparse(x)).to_dense().tolist())\n"
        "print('## erf' in pages()[page_of('exponential')])",
    )
    assert "SUCCESS" in said
    assert "[0.0, 0.8427734375]" in said
    assert "False" not in said
    for page in ("explanations/judging.md", "reference/accuracy.md"):
        assert "erf" in (tree / "site" / "en" / page).read_text("utf-8")


def test_so_is_that_of_another_catalogue(tree: Path) -> None:
    pages = run(
        tree,
        "-c",
        "from suanzi.cli import main\n"
        "for words in ('op more:erf', 'op erf', 'ops --catalogue more'):\n"
        "    print('####', main(words.split()))",
    ).split("####")
    for page, words in zip(pages, ("sz.more.erf(x)", "sz.erf(x)", "1.1"), strict=False):
        assert words in page
    assert [page.split()[0] for page in pages[1:]] == ["0", "0", "0"]
    said = run(
        tree,
        "-c",
        "import pickle\n"
        "import suanzi as sz; from suanzi import interface\n"
        "from suanzi.standard import interface as record, valid_call\n"
        "from docs_site.operators import page_of, pages\n"
        "x = sz.tensor([0, 1], sz.float16)\n"
        "print(interface.more.op_erf(x=x), sz.more.erf is not sz.erf, 'more' in dir(sz))\n"
        "print(sz.more.erf(sz.to_sparse(x)).to_dense().tolist())\n"
        "print(pickle.loads(pickle.dumps(interface.more.op_erf)) is interface.more.op_erf)\n"
        "print(record('more:erf').clause == '1.1', record('erf').clause == '7.2.12.7')\n"
        "print('x' in valid_call('more:erf'), '## erf' in pages()[page_of('functions', 'more')])\n"
        "try: sz.more.erf('1')\n"
        "except sz.TypeMismatch as error: print(error)",
    )
    assert "SUCCESS" in said
    assert "[0.0, 0.8427734375]" in said
    assert "more.erf (1.1): x is a str" in said
    assert "False" not in said


def test_the_kit_has_cases_of_it_and_it_passes(tree: Path) -> None:
    said = run(
        tree,
        "-c",
        "from suanzi.conformance.check import check\n"
        "for op in ('erf', 'more:erf'):\n"
        "    found = check('suanzi', ops=[op], jobs=1)\n"
        "    print(found.conforms, *sorted({result.group for result in found.results}))",
    )
    groups = "calls empty example plain promotion random sizes special status strided".split()
    assert [line.split() for line in said.splitlines()] == [["True", *groups]] * 2


def test_the_tests_of_all_operators_have_it_and_pass(tree: Path) -> None:
    files = """standard/test_registry standard/test_coverage release/test_reference
        together/test_functions together/test_levels faces/interface/test_written
        faces/interface/test_statuses tensors/sparse/test_elementwise"""
    options = ["-q", "-p", "no:cacheprovider", "-n", "0", "-k", "erf] or current or every_function"]
    run(tree, "-m", "pytest", *options, *(f"tests/{file}.py" for file in files.split()))
