"""Makes the recorded calls of a program again: under the target's rules, or in the target itself.

``kept``       what a recorder kept: calls, and the tensors that they were given and returned
``meaning``    what a call of PyTorch is in operators of the standard
``computing``  who computes: suanzi's operators under a rule set, or an installed framework
``errors``     how far two results are apart: ULP and cosine
``replay``     each call on its own inputs, and chained; what departs, by line and layer
"""

from suanzi.port.replay.replay import Replayed, replay

__all__ = ["Replayed", "replay"]
