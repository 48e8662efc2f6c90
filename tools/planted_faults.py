# ruff: noqa: E501
"""Faults planted in the core, one at a time, that the kit must find by itself.

    python tools/planted_faults.py [NUMBER ...] [--build FOLDER]

Every fault is a small change of native/ that is asleep until the environment variable SUANZI_FAULT has
its number, so that all of them are one build, in a copy of the repository. Then `suanzi check` runs
the operators concerned, once for each; the tests have no part in it. Prints a line for each fault and
ends with 1 if one was not found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mutate_native import configured

HOME = Path(__file__).parents[1]

DTYPES = ["float32", "int32", "float16"]
"""Two that have every length, and one that is computed in another: enough, in seconds."""

HEADER = """#pragma once
#include <cstdlib>
namespace suanzi {
inline bool planted(int number) noexcept {
  static const int chosen = [] {
    const char* found = std::getenv("SUANZI_FAULT");
    return found ? std::atoi(found) : 0;
  }();
  return chosen == number;
}
}  // namespace suanzi
"""


@dataclass(frozen=True)
class Fault:
    """A change of one file."""

    words: str
    file: str
    """In native/, or from src/ on, where it asks for the variable itself."""
    was: str
    becomes: str
    """Where `#` stands for its number."""
    ops: str
    also_was: str = ""
    """What another processor has in its place, in the same file."""
    also_becomes: str = ""

    def changed(self, number: int, text: str) -> str:
        """Return the text of the file with the fault in it."""
        for was, becomes in ((self.was, self.becomes), (self.also_was, self.also_becomes)):
            if was and text.count(was) != 1:
                sys.exit(f"{number}: {self.file} has {text.count(was)} times {was!r}")
            if was:
                text = text.replace(was, becomes.replace("#", str(number)))
        return text


FAULTS = (
    Fault(
        "a divisor of zero is forgotten in every block but the last",
        "loops/elementwise.cpp",
        "met |= kernel(a, b,",
        "met = (planted(#) ? none : met) | kernel(a, b,",
        "div",
    ),
    Fault(
        "a divisor of zero is forgotten in every thread's part but the first",
        "loops/elementwise.cpp",
        "    if (met) trouble.fetch_or(met, std::memory_order_relaxed);\n  });\n"
        "  return trouble.load(std::memory_order_relaxed);\n}\n\n// The loop of a binary kernel over",
        "    if (met && !(planted(#) && begin > 0)) trouble.fetch_or(met, std::memory_order_relaxed);\n"
        "  });\n  return trouble.load(std::memory_order_relaxed);\n}\n\n// The loop of a binary kernel over",
        "mod",
    ),
    Fault(
        "the last of 3, 7, 11, ... elements is left out by binary kernels",
        "loops/elementwise.cpp",
        "out + begin * out_size, static_cast<std::size_t>(end - begin), repeat);",
        "out + begin * out_size,\n"
        "        static_cast<std::size_t>(end - begin - (planted(#) && (end - begin) % 4 == 3)), repeat);",
        "add",
    ),
    Fault(
        "the last element of a row of more than 1,000 is left out by unary kernels",
        "loops/elementwise.cpp",
        "out + begin * out_size, static_cast<std::size_t>(end - begin));",
        "out + begin * out_size,\n"
        "             static_cast<std::size_t>(end - begin - (planted(#) && end - begin > 1000)));",
        "exp",
    ),
    Fault(
        "the last element of every block but the first is not written by unary loops",
        "loops/elementwise.cpp",
        "writer.put(p, n, computed, x.repeats());",
        "writer.put(p, n - (planted(#) && p > begin && n > 1), computed, x.repeats());",
        "sqrt",
    ),
    Fault(
        "muladd adds a product of the block before to the last element of a full block",
        "loops/elementwise.cpp",
        "writer.target(p, computed), n,\n             one_a ? Repeat::right : Repeat::neither);",
        "writer.target(p, computed),\n             n - (planted(#) && n == block), one_a ? Repeat::right : Repeat::neither);",
        "muladd",
    ),
    Fault(
        "where leaves out the last element of a full block",
        "loops/elementwise.cpp",
        "writer.target(p, chosen), n);",
        "writer.target(p, chosen), n - (planted(#) && n == block));",
        "where",
    ),
    Fault(
        "a thread's part that begins within a row copies from the row's beginning",
        "loops/copies.cpp",
        "    from += at[d] * p.from_strides[d];\n  }\n  while (begin < end) {",
        "    if (!(planted(#) && d == last)) from += at[d] * p.from_strides[d];\n  }\n"
        "  while (begin < end) {",
        "slice",
    ),
    Fault(
        "tiles of a transposition that are not whole lose their last column",
        "loops/copies.cpp",
        "std::int64_t n_rows = std::min(edge, rows - row), n_columns = std::min(edge, columns - column);",
        "std::int64_t n_rows = std::min(edge, rows - row), n_columns = std::min(edge, columns - column);\n"
        "      if (planted(#) && n_columns < edge && n_columns > 1 && column > 0) --n_columns;",
        "contiguous reshape",
    ),
    Fault(
        "roll of exactly 5, 9 or 13 axes forgets the last",
        "ops/transformation_joining.cpp",
        "is_all = taken <= 4;",
        "is_all = taken <= (planted(#) ? 5 : 4);",
        "roll",
    ),
    Fault(
        "masked_select does not count the last element of a chunk",
        "ops/transformation_masked_select.cpp",
        "= read(c * chunk, std::min(chunk, size - c * chunk));",
        "=\n          read(c * chunk, std::min(chunk, size - c * chunk) - (planted(#) && c + 1 < chunks));",
        "masked_select",
    ),
    Fault(
        "nonzero takes the row after for the next one that has elements",
        "ops/indexing_nonzero.cpp",
        "row = places[i] < row_end + dims_[last] && row >= 0 ?",
        "row = (planted(#) || places[i] < row_end + dims_[last]) && row >= 0 ?",
        "nonzero",
    ),
    Fault(
        "the last part of what threads share, if it is not whole, is nobody's",
        "core/threads.cpp",
        "Job job{body, n, part, (n + part - 1) / part, static_cast<int>(threads)};",
        "Job job{body, n, part, planted(#) ? n / part : (n + part - 1) / part, static_cast<int>(threads)};",
        "abs",
    ),
    Fault(
        "one lane behind the end of a row is 0 and not what changes nothing",
        "kernels/reduction_rows.inc",
        "for (std::size_t i = n; i < lanes; ++i) found[i] = Op::identity;",
        "for (std::size_t i = n + planted(#); i < lanes; ++i) found[i] = Op::identity;",
        "reduce",
    ),
    Fault(
        "a reduction leaves out an element that is alone behind the last whole vector",
        "kernels/reduction_rows.inc",
        "if (done < n) {\n    next.load_some(x + done, n - done);",
        "if (done < n && !(planted(#) && n - done == 1)) {\n    next.load_some(x + done, n - done);",
        "reduce",
    ),
    Fault(
        "sums of columns begin anew after 64 rows",
        "kernels/reduction_columns.inc",
        "add_every_16th(row, end, group == 0, sums",
        "add_every_16th(row, end, group == 0 || (planted(#) && group == 64), sums",
        "reduce",
    ),
    Fault(
        "the last lane's NaN is no NaN for max and min",
        "kernels/reduction_extremes.cpp",
        "  static T combine(T a, T b) noexcept { return extreme<largest>(a, b); }\n"
        "  static Vector<T> combine(Vector<T> a, Vector<T> b) noexcept {\n",
        "  static T combine(T a, T b) noexcept { return extreme<largest>(a, b); }\n"
        "  static Vector<T> combine(Vector<T> a, Vector<T> b) noexcept {\n"
        "    constexpr std::size_t end = vector_bytes / sizeof(T) - 1;\n"
        "    if (planted(#) && b[end] != b[end]) b[end] = a[end];\n",
        "reduce",
        "      out[i] = key(x);\n",
        "      out[i] = key(x);\n"
        "      constexpr std::size_t end = vector_bytes / sizeof(I) - 1;\n"
        "      if (planted(#) && out[i][end] == nan) out[i][end] = identity;\n",
    ),
    Fault(
        "a cumulative sum forgets what was before, every 16 groups",
        "kernels/reduction_cumsum.cpp",
        "      sum = state.sums[0];\n      upper = above(state.sums);",
        "      sum = state.sums[0];\n      if (!planted(#)) upper = above(state.sums);",
        "cumsum",
    ),
    Fault(
        "a product of vectors leaves out the last element behind the whole vectors",
        "kernels/linear_algebra_products_dots.inc",
        "      std::memcpy(found, from, some * sizeof *from);",
        "      std::memcpy(found, from, (some - (planted(#) && n > 8)) * sizeof *from);",
        "dot matmul linear",
    ),
    Fault(
        "topk does not look at the last few elements behind groups of 64",
        "kernels/indexing_order.cpp",
        "  for (; i < n; ++i) {\n    places[count] = static_cast<u32>(i);",
        "  for (; i + 3 * (planted(#) && n > 64) < n; ++i) {\n    places[count] = static_cast<u32>(i);",
        "topk argsort",
    ),
    Fault(
        "nonzero does not look at the last element behind groups of 8",
        "kernels/indexing_order.cpp",
        "  for (; i < n; ++i) {\n    places[count] = base + static_cast<i64>(i);",
        "  for (; i + (planted(#) && n > 8) < n; ++i) {\n    places[count] = base + static_cast<i64>(i);",
        "nonzero",
    ),
    Fault(
        "argmax of columns has its last column from the one before",
        "ops/indexing_argmax.cpp",
        "for (std::int64_t j = 0; j < n; ++j) out_.put(at + j * out_step, places[j]);",
        "for (std::int64_t j = 0; j < n; ++j)\n"
        "          out_.put(at + j * out_step, places[planted(#) && j == n - 1 && n % 16 ? j - 1 : j]);",
        "argmax argmin",
    ),
    Fault(
        "gather takes its last element twice from the one before",
        "ops/transformation_gather_scatter.cpp",
        "for (; i < n; ++i) std::memcpy(to + i * bytes, from + offsets[i] * bytes, size);",
        "for (; i < n; ++i)\n    std::memcpy(to + i * bytes, from + offsets[planted(#) && i > 16 && i == n - 1 ? i - 1 : i] * bytes, size);",
        "gather",
    ),
    Fault(
        "samples behind the first 1,024 of a row come from one element before",
        "ops/interpolation.cpp",
        "low[at] = static_cast<std::int32_t>(found.low - part.base);",
        "low[at] = static_cast<std::int32_t>(found.low - part.base);\n"
        "      if (planted(#) && part.start > 0 && low[at] > 0) --low[at];",
        "interpolate",
    ),
    Fault(
        "a mean over more than 2,048 columns leaves out the last of them",
        "ops/interpolation.cpp",
        "      add_rows(part.base + done, count);\n",
        "      if (planted(#) && done > 0 && count > 1) --count;\n      add_rows(part.base + done, count);\n",
        "interpolate",
    ),
    Fault(
        "the last of a batch of small matrices is left as it is",
        "kernels/linear_algebra_small.cpp",
        "for (std::size_t l = 0; l < count; ++l) to[l][",
        "for (std::size_t l = 0; l + (planted(#) && l > 0) < count; ++l) to[l][",
        "inverse cholesky",
    ),
    Fault(
        "random words begin anew after 256 of them",
        "kernels/creation_random.cpp",
        "mix_at_once(stream, first + i, out + 4 * i, AtOnce{});",
        "mix_at_once(stream, first + (planted(#) ? i % 64 : i), out + 4 * i, AtOnce{});",
        "rand_uniform rand_normal",
    ),
    Fault(
        "a convolution forgets the last element of what it transforms",
        "ops/signal_transforms.h",
        "        std::int64_t filled = std::clamp(n, begin, end);",
        "        std::int64_t filled = std::clamp(n - planted(#), begin, end);",
        "fft_r2c",
    ),
    Fault(
        "of a half spectrum, the last element that has a mirror image counts once",
        "src/suanzi/ops/libraries/fft.py",
        "key = (*[slice(None)] * axis, slice(1, (length + 1) // 2))",
        "import os\n\n    few = os.environ.get('SUANZI_FAULT') == '#' and length > 64\n"
        "    key = (*[slice(None)] * axis, slice(1, (length + 1) // 2 - few))",
        "fft_c2r_backward",
    ),
    Fault(
        "the last vector of a chunk keeps its signs in norms",
        "kernels/reduction_norms.cpp",
        "out[i] = mapped<map>(__builtin_convertvector(x, Vector<f64>));",
        "auto wide = __builtin_convertvector(x, Vector<f64>);\n"
        "      out[i] = planted(#) && i + 1 == count ? wide : mapped<map>(wide);",
        "norm",
        "if constexpr (map == Map::magnitude) x = vabsq_f32(x);",
        "if constexpr (map == Map::magnitude) x = planted(#) && i + 2 == count ? x : vabsq_f32(x);",
    ),
    Fault(
        "a vector by a matrix is not multiplied with the rows behind the first 256",
        "ops/linear_algebra_matmul_ways.cpp",
        "      for (std::int64_t d = 1; d < down; ++d)",
        "      for (std::int64_t d = 1; d < down && !planted(#); ++d)",
        "matmul",
    ),
    Fault(
        "the LU of a large matrix leaves out what is below in every strip but the first",
        "ops/linear_algebra_shared.h",
        "      if (below > 0)\n",
        "      if (below > 0 && !(planted(#) && column > begin))\n",
        "inverse solve",
    ),
)  # fmt: skip


def plant(home: Path) -> None:
    """Change the files of a copy."""
    native = home / "native"
    (native / "core" / "planted.h").write_text(HEADER)
    for number, fault in enumerate(FAULTS, 1):
        path = (home if fault.file.startswith("src/") else native) / fault.file
        path.write_text(fault.changed(number, path.read_text()))
    for name in dict.fromkeys(fault.file for fault in FAULTS):
        if name.endswith(".inc"):  # inside a namespace: who includes it includes the header
            users = [
                p for p in (native / "kernels").glob("*.cpp") if Path(name).name in p.read_text()
            ]
        else:
            users = [] if name.startswith("src/") else [native / name]
        for path in users:
            text = path.read_text()
            include = '#include "core/planted.h"\n'
            if include not in text:
                at = text.index("#include")
                path.write_text(text[:at] + include + text[at:])


def build(folder: Path) -> None:
    """Make a copy with all faults, and build it; its `src` is the site."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    ignored = shutil.ignore_patterns(".git", "build", "dist", ".venv", "_core*.so")
    shutil.copytree(HOME, copy, ignore=ignored)
    plant(copy)
    command = ["cmake", "--build", "build/dev"]
    subprocess.run(command, check=True, cwd=copy, env=configured(copy))
    for made in (copy / "build" / "dev").glob("_core*.so"):
        shutil.copy(made, copy / "src" / "suanzi")


def run(site: Path, number: int, ops: str) -> tuple[bool, str]:
    """Return whether the kit finds a fault, and its first words about it."""
    program = (
        "import sys\nfrom suanzi.conformance.check import check\n"
        "run = check('suanzi', ops=sys.argv[1:], groups=['sizes'], dtypes=DTYPES, timeout=120, jobs=1)\n"
        "bad = [r for r in run.results if r.outcome in ('failed', 'crashed', 'hung')]\n"
        "print(len(bad), *(f'{r.id}: {r.problem}'[:150] for r in bad[:1]))\n"
    ).replace("DTYPES", repr(DTYPES))
    environment = os.environ | {"PYTHONPATH": str(site), "SUANZI_FAULT": str(number)}
    said = subprocess.run(
        [sys.executable, "-c", program, *ops.split()],
        env=environment,
        capture_output=True,
        text=True,
    )
    words = said.stdout.strip() or said.stderr.strip()[-200:]
    return said.returncode == 0 and not words.startswith("0"), words


def main() -> int:
    """Plant, build, run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--build", type=Path, help="a folder to build in, and to use again")
    parser.add_argument("--site", type=Path, help="where a build with the faults is installed")
    given = parser.parse_args()
    site = given.site
    if site is None:
        folder = (given.build or Path(tempfile.mkdtemp(prefix="planted"))).absolute()
        build(folder)
        site = folder / "copy" / "src"
    found, words = run(site, 0, "abs roll")
    if found:
        sys.exit(f"without a fault the kit complains: {words}")
    missed = 0
    for number, fault in enumerate(FAULTS, 1):
        if given.numbers and number not in given.numbers:
            continue
        caught, words = run(site, number, fault.ops)
        missed += not caught
        print(
            f"{number:2} {'found' if caught else 'MISSED'}: {fault.words}\n   {words}", flush=True
        )
    print(f"{missed} missed" if missed else "all found")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
