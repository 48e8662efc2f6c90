"""Writes the bill of materials of a wheel: what is compiled into the core next to suanzi's code.

python tools/write_sbom.py VERSION XSIMD_PARENT > suanzi.cdx.json

CMake calls it with the interpreter that builds, so that the versions are those of the headers that
were compiled; the file goes into the wheel's `dist-info/sboms` (PEP 770). It is CycloneDX 1.6, and
the same for the same versions: no time, no serial number.
"""

import importlib.metadata
import json
import re
import sys
from pathlib import Path
from typing import Any

import nanobind


def defined(header: Path, prefix: str) -> str:
    """Return the version that a header defines in three macros."""
    text = header.read_text("utf-8")
    names = (f"{prefix}_VERSION_{part}" for part in ("MAJOR", "MINOR", "PATCH"))
    return ".".join(re.findall(rf"#define {name}\s+(\d+)", text)[0] for name in names)


def component(name: str, version: str, licence: str, url: str, purl: str) -> dict[str, Any]:
    """Return what CycloneDX says of a library."""
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{"license": {"id": licence}}],
        "purl": purl,
        "externalReferences": [{"type": "vcs", "url": url}],
    }


def bill(version: str, xsimd_parent: Path) -> dict[str, Any]:
    """Return the bill of materials of a version, built with what is installed here."""
    robin = Path(nanobind.__file__).parent / "ext/robin_map/include/tsl/robin_growth_policy.h"
    binding = importlib.metadata.version("nanobind")
    maps = defined(robin, "TSL_RH")
    vectors = defined(xsimd_parent / "xsimd/config/xsimd_config.hpp", "XSIMD")
    parts = [
        ("nanobind", binding, "BSD-3-Clause", "wjakob/nanobind", f"pkg:pypi/nanobind@{binding}"),
        ("robin-map", maps, "MIT", "Tessil/robin-map", f"pkg:github/tessil/robin-map@v{maps}"),
        (
            "xsimd",
            vectors,
            "BSD-3-Clause",
            "xtensor-stack/xsimd",
            f"pkg:github/xtensor-stack/xsimd@{vectors}",
        ),
    ]
    ours = f"pkg:pypi/suanzi@{version}"
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": ours,
                "name": "suanzi",
                "version": version,
                "licenses": [{"license": {"id": "Apache-2.0"}}],
                "purl": ours,
            }
        },
        "components": [
            component(name, number, licence, f"https://github.com/{where}", purl)
            for name, number, licence, where, purl in parts
        ],
        "dependencies": [{"ref": ours, "dependsOn": [purl for *_, purl in parts]}],
    }


if __name__ == "__main__":
    print(json.dumps(bill(sys.argv[1], Path(sys.argv[2])), indent=2))
