"""All float32 arguments of a range, on a device: PyTorch computes references and counts there.

Only what was counted returns to the kit, with the arguments that mpmath has to look at. The subject
is PyTorch itself, or a framework that shares tensors with it by DLPack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

if __package__ in (None, ""):  # by an interpreter that need not have suanzi
    import references
    import tallies
    import wire
    import worker
else:
    from suanzi.conformance.subjects import references, tallies, wire, worker

_SIGN = -(1 << 31)


def _shared(adapter: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return how tensors become PyTorch's, and how they become the subject's."""
    try:
        import torch
    except ImportError:
        raise wire.Unsupported("no PyTorch counts on the device") from None
    if adapter.name == "torch":
        return (lambda x: x), (lambda x: x)
    if adapter.name == "jax":
        import jax

        return torch.from_dlpack, jax.dlpack.from_dlpack
    raise wire.Unsupported(f"{adapter.name} shares no tensors on the device")


def swept(adapter: Any, question: dict[str, Any]) -> dict[str, Any]:
    """Return what was counted, over the magnitudes from `start` to `stop` with both signs."""
    try:
        ours, theirs = _shared(adapter)
    except wire.Unsupported as reason:
        return {"elsewhere": str(reason)}
    import torch

    device = adapter.device or "cpu"
    half = torch.arange(question["start"], question["stop"], dtype=torch.int32, device=device)
    x = torch.cat([half, half | _SIGN]).view(torch.float32)
    given = {question["operand"]: theirs(x), **question["more"]}
    status, outputs = worker._called(adapter, question["op"], given)
    if status != "SUCCESS":
        return {"refused": str(outputs)[:400]}
    found = ours(outputs[0])
    if found.dtype != torch.float32:
        return {"refused": f"the result is {str(found.dtype).partition('.')[2]}"}
    wide, result = x.double(), found.double()
    exact = references.evaluated(question["function"], references.torch_names(device), wide)
    counted = tallies.judged(
        torch, question["form"], wide, result, exact, narrow=references.NARROW,
        skip=torch.isinf(wide) if question["limits"] else None, zero=question["zero"],
        most=16 * tallies.MOST,
    )  # fmt: skip
    del wide, exact
    places = [counted["worst_at"], counted["special_at"] or 0, *counted["disputed"]]
    at = torch.tensor(places, device=device)
    n = half.shape[0]
    return {
        "counted": counted,
        "places": dict(zip(map(str, places), zip(_hex(x[at]), _hex(result[at])))),  # noqa: B905
        "order": tallies.disorder(question["order"], result[:n], result[n:]),
        "asymmetric": tallies.asymmetry(torch, question["symmetry"], result[:n], result[n:]),
    }


def _hex(x: Any) -> list[str]:
    return [float(one).hex() for one in x.tolist()]
