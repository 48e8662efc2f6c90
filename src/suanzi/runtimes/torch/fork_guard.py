"""Processes that were forked: a GPU that the parent used cannot be used by its child."""

from __future__ import annotations

import os

import torch

from suanzi.base.status import InvalidArgument


class _State:
    used = forked = False


def _before() -> None:
    _State.used = torch.cuda.is_initialized()


def _forked() -> None:
    _State.forked = _State.forked or _State.used


def check(place: torch.device) -> None:
    """Raise InvalidArgument for a GPU of the parent process: CUDA does not survive a fork."""
    if _State.forked and place.type == "cuda":
        raise InvalidArgument(
            f"{place} was used by the parent of this process, which was forked: CUDA cannot be "
            "used here. Start processes with multiprocessing.get_context('spawn'), or use the "
            "device in the child alone."
        )


os.register_at_fork(before=_before, after_in_child=_forked)
