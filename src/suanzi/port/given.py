"""Which calls of a program a target is given, and is compared with."""

from __future__ import annotations

from suanzi.promote.rules import RuleSet
from suanzi.recording.calls import Call, Calls

OWN_GRADIENTS = ("mindspore", "paddle", "openvino", "jax", "numpy")
"""Targets that do not run the backward of the source: they differentiate themselves, or not."""
CONVERTERS = ("openvino",)
"""Targets that convert a model: what its forward calls for inference, and nothing around it."""


class Given:
    """The calls that a target is given: all, but for one that converts models.

    Of a program in which no module ran under eval it is what modules called in training, of one
    without modules, and of a recording that does not name them, everything.
    """

    def __init__(self, calls: Calls, target: RuleSet) -> None:
        self.target = target.name
        self.has_backward = not target.name.startswith(OWN_GRADIENTS)
        seen = {call.forward for call in calls.calls if not call.backward}
        converts = target.name.startswith(CONVERTERS)
        self.forward = next((f for f in ("eval", "train") if converts and f in seen), "")
        left_out = (c.count for c in calls.calls if self.forward and not self.has(c))
        self.left_out = sum(left_out)
        """How many calls it is not compared with, because it would not convert them."""

    def has(self, call: Call) -> bool:
        """Tell whether a call is compared."""
        if call.backward and not self.has_backward:
            return False
        return not self.forward or call.forward == self.forward

    def notes(self) -> list[str]:
        """Say what was left out, and why."""
        if not self.forward:
            return []
        many = f"{self.left_out} other call{'s are' if self.left_out != 1 else ' is'} not compared"
        if self.forward == "train":
            return [
                f"no module ran under eval: {self.target} is compared with what forward called in "
                f"training; {many}"
            ]
        if not self.left_out:
            return []
        return [f"{self.target} converts what forward calls under eval: {many}"]
