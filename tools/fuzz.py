"""Random calls of every operator, in processes of their own: an answer or a status, never else.

Every operator, dtype, layout, rule set and form (Python's, its symbols, the standard's, sparse,
quantised), every function of the array API (xp.*) and the core's for parts of a tensor (core.*),
with arguments of every kind, at one of two gaits.

By default each answer is compared with itself (row-major copies, other threads, other
instruction-set levels, parts, the other form) and with NumPy, and now and then cases of the kit are
made of fresh values, whose truth is exact. A call is made of the seed and its number alone, so that
`--only NUMBER` makes it again.

With `--storm` calls are made as fast as they go, some hundred times as many, and held to little:
an answer or a status that is not INTERNAL_ERROR, soon, from operands that are the same afterwards.
A number stands for two thousand calls there, and `--only NUMBER` looks for the very one.

What is found is made as simple as it can be and printed as Python to paste.

    python tools/fuzz.py --seconds 300 --processes 16
    python tools/fuzz.py --seed 7 --only 12345          # one call again, here
    python tools/fuzz.py --storm --seconds 300 --processes 16

With `--device torch:cpu`, or `--device cuda`, each call is made on that device, too, and compared
with the CPU's answer: the same status, bits or bounds as the page of devices states. Its storm
makes the calls there alone.

    python tools/fuzz.py --device torch:cpu --seconds 300

`--surface` chooses a part of the library: core, nn, array-api, cluster (tensors of blocks on Dask),
torch:cpu, or c, suanzi as a C library with the standard's header, which a compiler makes first.

    python tools/fuzz.py --surface nn --seconds 60

With `--hostile npy,report`, or `all`, valid files are changed and read: tensors, recordings,
reports, evidence and requests over MCP.

    python tools/fuzz.py --hostile all --seconds 60
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import shutil
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # there is a process for each core

from fuzzing import c_library
from fuzzing.devices import use
from fuzzing.judging import Finding
from fuzzing.making import NAMES, call_of
from fuzzing.processes import HANG, Place, Run, said
from fuzzing.shrinking import as_python, in_child, shrunk
from fuzzing.storm import Storm
from fuzzing.surfaces import SURFACES, names_of, surface_of
from fuzzing.walk import Walk


def main(words: list[str] | None = None) -> int:
    """Run until the time or the calls are used up; 1 if something was found."""
    args = _arguments(words)
    if args.hostile:
        return _hostile(args)
    patterns = args.ops.split(",") if args.ops else ["*"]
    unknown = [pattern for pattern in patterns if not fnmatch.filter(NAMES, pattern)]
    if unknown:
        sys.exit(f"no operator of this program: {', '.join(unknown)}")
    surface = surface_of(args.surface, args.device)
    names = names_of(surface)
    names = tuple(n for n in names if any(fnmatch.fnmatchcase(n, p) for p in patterns))
    if not names:
        sys.exit(f"the surface {args.surface} has none of {args.ops}")
    if args.storm and surface.device == c_library.NAME:
        sys.exit("a call through C takes as long as the careful gait: leave --storm out")
    use(surface.device)
    gait = (Storm if args.storm else Walk)(args.seed, names, surface.device)
    if args.only is not None:
        again = _storm_again if isinstance(gait, Storm) else _again
        return again(args.seed, args.only, names, surface.device)
    return _go(Run(args, gait))


def _hostile(args: argparse.Namespace) -> int:
    """Read files that were changed, of the kinds that are asked for."""
    from fuzzing.hostile import KINDS, Hostile

    names = list(KINDS) if args.hostile == "all" else args.hostile.split(",")
    unknown = [name for name in names if name not in KINDS]
    if unknown:
        sys.exit(f"no kind of files: {', '.join(unknown)}; there are {', '.join(KINDS)}")
    gait = Hostile(args.seed, tuple(names))
    if args.only is not None:
        gait.place = gait.valid / "changed"  # not where the valid ones are
        gait.place.mkdir()
        kind, path = gait.changed(args.only)
        print(f"# {path}", flush=True)
        kind.read(path)  # with a traceback, if there is one
        return 0
    status = _go(Run(args, gait))
    if not status:  # otherwise the files that matter are there
        shutil.rmtree(gait.valid, ignore_errors=True)
    return status


def _go(run: Run) -> int:
    """Make calls until the end, and report."""
    # A shell lets what it has in the background ignore the first.
    for end in (signal.SIGINT, signal.SIGTERM):
        signal.signal(end, signal.default_int_handler)
    try:
        run.go()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        run.end()
    return run.report()


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--storm", action="store_true", help="many calls, hardly looked at")
    parser.add_argument("--seconds", type=float, default=60, help="how long (default: 60)")
    parser.add_argument("--calls", type=int, default=1 << 62, help="how many numbers at most")
    parser.add_argument("--processes", type=int, default=1, help="how many processes")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other calls")
    parser.add_argument(
        "--ops", default="", help="names as add or xp.linalg.*, with commas between"
    )
    parser.add_argument(
        "--only", type=int, help="make the calls of this number again, and shrink what is found"
    )
    parser.add_argument("--surface", default="", choices=["", *SURFACES], help="a part alone")
    parser.add_argument("--hostile", default="", metavar="KINDS",
                        help="read files that were changed: npy,report,... or all")  # fmt: skip
    parser.add_argument("--device", default="", help="make calls there and compare: torch:cpu")
    parser.add_argument(
        "--hang", type=float, default=HANG, help="seconds after which a call hangs (default: 60)"
    )
    parser.add_argument("--findings", type=int, default=20, help="stop after so many")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser.parse_args(words)


def _again(seed: int, index: int, names: tuple[str, ...], device: str) -> int:
    call = call_of(seed, index, names, device)
    found = in_child(call, HANG)
    if not isinstance(found, Finding):
        print(f"# call {index} of seed {seed}: {found}\n{as_python(call)}")
        return 0
    print(f"# {said(seed, Place(index), found)}\n{as_python(shrunk(call, found.kind))}")
    return 1


def _storm_again(seed: int, index: int, names: tuple[str, ...], device: str) -> int:
    storm = Storm(seed, names, device)
    everything = storm.everything(index)
    if not everything:
        print(f"# call {index} of seed {seed}: nothing is found")
        return 0
    for place, found in everything:
        print(f"# {said(seed, place, found)}\n{storm.explained(place, found)}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
