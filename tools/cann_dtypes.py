"""Reads which dtypes CANN's aclnn operators take, by chip, out of checkouts of its public sources.

    git clone https://github.com/hicann/ops-math
    git clone https://github.com/hicann/ops-nn
    git clone https://github.com/hicann/ops-cv
    git clone https://github.com/hicann/ops-transformer
    python tools/cann_dtypes.py ops-math ops-nn ops-cv ops-transformer > src/suanzi/.../cann.txt

An operator's GetWorkspaceSize checks its arguments against lists of dtypes, and which list it takes
depends on the chip. `aclnn/` follows these checks for one chip after the other, from argument to
argument, and notes what an argument must be in any case. What depends on more than the chip is left
out: a dtype that is not listed is refused, one that is listed need not be taken with any other.
An operator whose checks cannot be followed has the dtypes of its page in docs/ (marked "page").
Only operators are written that `other-names.txt` has, or that torch_npu calls.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

from aclnn.checks import CHIPS, Sources, checks
from aclnn.documents import documented
from suanzi.port.available import table
from suanzi.standard import other_names

SHORT = {
    "DT_BOOL": "bool", "DT_INT4": "i4", "DT_INT8": "i8", "DT_INT16": "i16", "DT_INT32": "i32",
    "DT_INT64": "i64", "DT_UINT8": "u8", "DT_UINT16": "u16", "DT_UINT32": "u32",
    "DT_UINT64": "u64", "DT_FLOAT16": "f16", "DT_BF16": "bf16", "DT_FLOAT": "f32",
    "DT_DOUBLE": "f64", "DT_COMPLEX32": "c32", "DT_COMPLEX64": "c64", "DT_COMPLEX128": "c128",
    "DT_FLOAT8_E4M3FN": "f8e4m3fn", "DT_FLOAT8_E5M2": "f8e5m2",
}  # fmt: skip
"""Dtypes of CANN that suanzi has; of the others nothing is said."""
ORDER = {name: i for i, name in enumerate(SHORT.values())}


def commit(folder: Path) -> str:
    """Return the name and the commit of a checkout; a bare tree says that it is one."""
    done = subprocess.run(
        ["git", "-C", str(folder), "log", "-1", "--format=%h %cs"], capture_output=True, text=True
    )
    return f"hicann/{folder.name}, commit {done.stdout.strip() or 'unknown'}"


def wanted() -> set[str]:
    """Return the operators of CANN that the table of names has, each with its form in place."""
    names = {name for row in other_names.table() for name in row.names.get("aclnn", ())}
    npu = table("torch_npu")
    names |= {kernel.function for kernel in npu.kernels.values()} if npu else set()
    return names | {"aclnnInplace" + name[len("aclnn") :] for name in names}


def main() -> None:
    """Print the facts of all operators that are wanted."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("checkout", nargs="+", type=Path)
    reader.add_argument("--all", action="store_true", help="every operator that can be read")
    reader.add_argument("--commit", nargs="*", help="what to say of trees that are no checkouts")
    given = reader.parse_args()
    said = given.commit or [commit(folder) for folder in given.checkout]
    asked = wanted()
    print("# Which dtypes CANN's aclnn operators take: written by tools/cann_dtypes.py.\n")
    print("target  cann")
    for one in said:
        print(f"source  {one}")
    print("chips   " + " ".join(CHIPS))
    print("note    910b stands for 910_93 (A3) too, which has its lists.")
    print("note    A dtype that is not listed is refused by the operator's own check of arguments,")
    print("note    or is not on its page (page).")
    print("\n# operator, places of its arguments, chips: dtypes")
    found: dict[str, tuple[dict[str, dict[str, frozenset[str]]], list[str]]] = {}
    for folder in given.checkout:
        sources = Sources(folder)
        paths = sorted(folder.rglob("op_api/aclnn_*.cpp"))
        # What is under "experimental" is built only on request, under the names of the others.
        for path in [one for one in paths if "experimental" not in one.parts]:
            if not given.all and not asked & set(
                re.findall(r"(aclnn\w+)GetWorkspaceSize", path.read_text())
            ):
                continue
            for name, parameters, by_chip in checks(sources, path):
                if (given.all or name in asked) and any(by_chip.values()):
                    found.setdefault(name, (by_chip, parameters))
    pages = {}
    for folder in given.checkout:
        for path in sorted(folder.rglob("docs/aclnn*.md")):
            for name, parameters, facts in documented(path):
                if (given.all or name in asked) and name not in found and facts:
                    pages[name] = {chip: facts.get(chip, {}) for chip in CHIPS}, parameters
    found |= pages
    for name in sorted(found):
        by_chip, parameters = found[name]
        by_list: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
        for at, parameter in enumerate(parameters):
            chips_of: dict[tuple[str, ...], list[str]] = {}
            for chip in CHIPS:
                known = [SHORT[d] for d in by_chip[chip].get(parameter, ()) if d in SHORT]
                # A chip that takes no dtype lacks the operator, and another one is called there.
                if known and not parameter.lower().startswith("out"):
                    chips_of.setdefault(tuple(sorted(known, key=ORDER.__getitem__)), []).append(
                        chip
                    )
            for dtypes, chips in chips_of.items():
                by_list.setdefault((tuple(chips), dtypes), []).append(str(at))
        for (chips_in, dtypes), places in by_list.items():
            where = " ".join(chips_in) + " page" * (name in pages)
            print(f"{name:34} {','.join(places):6} {where:17} : {' '.join(dtypes)}")


if __name__ == "__main__":
    main()
