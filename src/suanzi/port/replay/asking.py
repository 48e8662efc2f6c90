"""What `suanzi port --replay` is asked for, checked before a program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from suanzi.base.status import InvalidArgument
from suanzi.port.replay.computing import Live, check_live
from suanzi.port.replay.kept import read_kept
from suanzi.port.replay.replay import Replayed, replay
from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Calls


def check_replay(source: str, targets: Sequence[RuleSet], size: int, python_to: str | None) -> None:
    """Raise for what cannot be replayed."""
    if source != "torch":
        raise InvalidArgument(
            f"port: --replay keeps the inputs of PyTorch programs; those of {source} are not kept."
        )
    if size < 1:
        raise InvalidArgument(f"port: --replay-bytes is {size}; give a number of at least 1.")
    if python_to is None:
        return
    if len(targets) != 1:
        names = ", ".join(one.name for one in targets)
        raise InvalidArgument(
            f"port: --python-to runs one target, and there are {len(targets)}: {names}. "
            "Name one with --to."
        )
    check_live(targets[0].name)


def replay_all(
    calls: Calls,
    folder: Path,
    targets: Sequence[RuleSet],
    python_to: str | None,
    progress: Callable[[str], None],
) -> list[Replayed]:
    """Return the calls that were kept in a folder, made again for each target."""
    kept = read_kept(folder)
    found = []
    for one in targets:
        live = None if python_to is None else Live(one.name, python_to)

        def told(done: int, of: int, name: str = one.name) -> None:
            progress(f"replaying for {name}: {done} of {of} calls")

        try:
            found.append(replay(calls, kept, one, live, told))
        finally:
            if live is not None:
                live.close()
    return found
