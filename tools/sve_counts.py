"""Counts the instructions of loops on ARM with NEON and with SVE, as an emulator executes them.

    python tools/sve_counts.py BUILD

BUILD is a folder that CMake built the core in, for ARM: suanzi's kernels are linked from there.
Next to them are the same loops in plain C++, which the compiler vectorises for NEON and for SVE,
and some for SVE by hand. qemu-aarch64 runs each over 4,096 elements and over 8,192, one instruction
at a time, and the difference is printed for 1,000 elements. CONTRIBUTING.md has what was decided by
them.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NATIVE = Path(__file__).resolve().parents[1] / "native"


@dataclass
class Loop:
    """What is counted: by our kernel, in plain C++, and where the compiler fails, SVE by hand."""

    ours: str
    plain: str
    by_hand: str = ""


def each(body: str) -> str:
    """Return a loop over vectors of SVE, the last of them cut by its predicate p."""
    begin = "for (size_t i = 0; i < n; i += svcntw()) { svbool_t p = svwhilelt_b32(i, n);"
    return f"{begin} {body} }}"


REDUCE = (
    "k.reductions->of[(int)ReduceMode::{}][(int)Dtype::float32].rows(a, 0, 1, (int64_t)n, out);"
)
LOOPS = {
    "`c = a + b`, float32": Loop(
        "k.binary[(int)BinaryOp::add][(int)Lane::f32](a, b, out, n, Repeat::neither);",
        "for (size_t i = 0; i < n; i++) ((float*)out)[i] = a[i] + b[i];",
    ),
    "polynomial of degree 6, float32": Loop(
        "",
        """for (size_t i = 0; i < n; i++) {
             float p = 1.f / 720;
             for (int j = 5; j >= 0; j--) p = __builtin_fmaf(p, a[i], 1.f / (j + 1));
             ((float*)out)[i] = p;
           }""",
    ),
    "float32 added up in float64, by 16 sums": Loop(
        REDUCE.format("sum"),
        """double sums[16] = {};
           for (size_t i = 0; i < n; i += 16)
             for (size_t j = 0; j < 16; j++) sums[j] += a[i + j];
           for (size_t j = 0; j < 16; j++) ((double*)out)[j] = sums[j];""",
    ),
    "`where`, a mask of bytes, float32": Loop(
        "k.select[2](mask, a, b, out, n);",
        "for (size_t i = 0; i < n; i++) ((float*)out)[i] = mask[i] ? a[i] : b[i];",
        each("""svbool_t yes = svcmpne(p, svld1ub_u32(p, mask + i), 0u);
                svst1(p, (float*)out + i, svsel(yes, svld1(p, a + i), svld1(p, b + i)));"""),
    ),
    "float32 to int8, saturating": Loop(
        "k.convert[(int)Lane::f32][(int)Lane::i8](a, out, n);",
        """for (size_t i = 0; i < n; i++) {
             float x = a[i] < -128.f ? -128.f : a[i];
             x = x > 127.f ? 127.f : x;
             ((signed char*)out)[i] = x == x ? (signed char)x : 0;
           }""",
        each("""svint32_t x = svcvt_s32_x(p, svld1(p, a + i));
                svst1b(p, (int8_t*)out + i, svmax_x(p, svmin_x(p, x, 127), -128));"""),
    ),
    "the largest of float32, or NaN": Loop(
        REDUCE.format("max"),
        """float most = a[0];
           for (size_t i = 0; i < n; i++) most = a[i] > most || a[i] != a[i] ? a[i] : most;
           *(float*)out = most;""",
        f"""svfloat32_t most = svdup_f32(a[0]);
            {each("most = svmax_m(p, most, svld1(p, a + i));")}
            *(float*)out = svmaxv(svptrue_b32(), most);""",
    ),
}
PROGRAM = """
#include <cstdlib>
#include "kernels/kernels.h"
#include "kernels/reduction/reduction.h"
#ifdef __ARM_FEATURE_SVE
#include <arm_sve.h>
#endif
using namespace suanzi;
namespace suanzi { const Kernels& baseline_kernels() noexcept; }
static float a[8192], b[8192];
static unsigned char mask[8192];
alignas(64) static double out[8192];
__attribute__((noinline)) static void work(const Kernels& k, const float* a, const float* b,
                                           const unsigned char* mask, void* __restrict out,
                                           size_t n) {
  WORK
}
int main(int, char** argv) {
  work(baseline_kernels(), a, b, mask, out, (size_t)std::atoi(argv[1]));
}
"""
NEON = ["-march=armv8-a"]
LENGTHS = [128, 256, 512]


def sve(bits: int) -> list[str]:
    """Return the options for vectors of this length."""
    return ["-march=armv8.2-a+sve", f"-msve-vector-bits={bits}"]


def executed(qemu: str, program: Path, bits: int, n: int) -> int:
    """Return how many instructions the program takes for n elements."""
    # Versions of qemu know one of the first two.
    single = {"QEMU_SINGLESTEP": "1", "QEMU_ONE_INSN_PER_TB": "1", "QEMU_LOG": "exec,nochain"}
    command = [qemu, "-cpu", f"max,sve-max-vq={bits // 128}", str(program), str(n)]
    told = subprocess.run(command, capture_output=True, text=True, env=os.environ | single)
    if told.returncode:
        sys.exit(told.stderr[-1000:])
    return told.stderr.count("\nTrace ")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="a folder of CMake's")
    build = parser.parse_args().build
    objects = sorted(map(str, build.glob("CMakeFiles/kernels_baseline.dir/native/kernels/**/*.o")))
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    own = platform.machine() in ("aarch64", "arm64")
    compiler = shutil.which("g++" if own else "aarch64-linux-gnu-g++")
    if not objects or not qemu or not compiler:
        sys.exit("needs the objects of a build for ARM, qemu-user-static and g++ for ARM")
    for tool in (compiler, qemu):
        told = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
        print(told.stdout.splitlines()[0])
    heads = ["loop", "our kernel (NEON)", "the compiler's NEON"]
    heads += [f"{who} SVE, {bits} bits" for bits in LENGTHS for who in ("its", "by hand")]
    print("|", " | ".join(heads), "|\n|", "---|" * len(heads), sep="")
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "loop.cpp", Path(folder) / "loop"

        def count(work: str, options: list[str], bits: int = 128) -> str:
            if not work:
                return ""
            source.write_text(PROGRAM.replace("WORK", work))
            command = [compiler, "-std=c++20", "-O3", "-fno-math-errno", "-fno-trapping-math"]
            command += ["-ffp-contract=off", "-static", *options, f"-I{NATIVE}", str(source)]
            subprocess.run([*command, *objects, "-o", str(program)], check=True)
            once, twice = (executed(qemu, program, bits, n) for n in (4096, 8192))
            return f"{(twice - once) / 4.096:,.0f}"

        for name, loop in LOOPS.items():
            cells = [count(loop.ours, NEON), count(loop.plain, NEON)]
            for bits in LENGTHS:
                cells += [count(work, sve(bits), bits) for work in (loop.plain, loop.by_hand)]
            print("|", " | ".join([name, *cells]), "|", flush=True)


if __name__ == "__main__":
    main()
