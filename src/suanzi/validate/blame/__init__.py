"""Which operator of the running model is wrong? Every call is judged on its own inputs.

    with sz.blame() as report:
        loss = model(x).sum()
        loss.backward()
    print(report)

A sample of the results of each operator that PyTorch dispatches is compared with the exact answer;
the bound follows from the operator, the dtype and the inputs. Errors do not add up from call to
call, so that one run on one device names the operator and the line.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from suanzi.base.status import InvalidArgument
from suanzi.validate.blame.options import Options, options
from suanzi.validate.blame.report import Report, Site
from suanzi.validate.blame.runs import SAMPLES, SIZE
from suanzi.validate.blame.saved import replay
from suanzi.validate.blame.watching import Watcher

__all__ = ["Report", "Site", "blame", "replay", "watch"]


def watcher_of(wanted: Options, report: Report) -> AbstractContextManager[Any]:
    """Return what sees the calls of a framework."""
    if wanted.framework == "torch":
        return Watcher(wanted, report)
    if wanted.framework == "jax":
        from suanzi.validate.blame.primitives import Jax

        return Jax(wanted, report)
    from suanzi.validate.blame.functions import OBSERVERS

    return OBSERVERS[wanted.framework](wanted, report)


@contextmanager
def watch(wanted: Options, report: Report) -> Iterator[Report]:
    """Judge what the block calls, and fill a report; an error of the block passes on."""
    folder = os.path.dirname(wanted.save or "") or "."
    if not os.path.isdir(folder):
        raise InvalidArgument(f"blame: save: the folder {folder!r} does not exist.")
    watcher = watcher_of(wanted, report)
    try:
        with watcher:
            yield report
    except BaseException as error:
        words = str(error).strip().splitlines() or [""]
        report.raised = f"{type(error).__name__}: {words[0]}"
        raise


class Blame:
    """``sz.blame``: judges a block; ``sz.blame.replay`` makes a saved call again."""

    replay = staticmethod(replay)

    @contextmanager
    def __call__(
        self,
        *,
        ops: Iterable[str] | str | None = None,
        share: float = 1.0,
        every: int = 1,
        overhead: float | str | None = 10.0,
        unusual: bool = False,
        memory: int = 1 << 30,
        twice: bool = False,
        seed: int = 0,
        save: str | None = None,
        record: str | None = None,
        against: str | None = None,
        samples: int = SAMPLES,
        record_size: int = SIZE,
        framework: str = "torch",
    ) -> Iterator[Report]:
        """Judge the operators that the block calls, forward and backward.

        `ops` are names of PyTorch's operators, without ``aten::``; `share` is that of the calls
        which are judged; with `every` only the first of so many steps, calls of the outermost
        module, is. `overhead` is how many times as long the block may take: from 10 on, the first
        call of each line, dtype and size is judged at once, others while there is time; None
        judges all. Steps are left out to time the program, and where watching alone takes too
        long; the report counts them. With `unusual` only calls are whose inputs have NaN,
        infinities or outliers. `memory` bounds the bytes of copies of one call. With `twice` every
        judged call is made again, and the bits are compared. `save` is a file for the first wrong
        call of each line: ``save="bad-call.safetensors"`` writes ``bad-call-0.safetensors`` and so
        on. `seed` chooses the elements of samples.

        `record` is a file for the run: of each result of each call and layer a hash, its size and
        `samples` elements; it has at most `record_size` bytes. A block that is run
        `against` such a file, on another device or with another version, is compared with it:
        ``report.comparison`` has where the two part, and which call explains it.

        `framework` is that of the block: ``"torch"``, ``"jax"``, ``"paddle"`` or ``"mindspore"``.
        Of JAX primitives are seen, of the last two functions, without gradients.
        """
        wanted = options(
            ops, share, every, overhead, unusual, memory, twice, seed, save, record, against,
            samples, record_size, framework,
        )  # fmt: skip
        with watch(wanted, Report()) as report:
            yield report


blame = Blame()
