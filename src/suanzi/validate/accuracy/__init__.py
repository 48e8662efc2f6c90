"""How accurate a backend's functions are: the largest error in units of the last place, and more.

``functions``  what is measured element by element, in float64 and with all digits
``inputs``     every bit pattern, or a search for the worst; ``pairs``, of two operands
``samples``    reductions, softmax and norms, on rows of several lengths and conditions
``sweeper``    a subject in a process of its own, with tensors in files
``errors``     the errors of results, and what mpmath decides
``engine``     tasks, threads, and rows
``run``        a run: whole, a shard, on a cluster, continued from a ``state``
``report``     a table of ``text``, JSON, and a ``page``; ``merging`` of shards, ``compare`` of two
"""

from suanzi.validate.accuracy.functions import FUNCTIONS
from suanzi.validate.accuracy.report import Accuracy, read
from suanzi.validate.accuracy.run import accuracy

__all__ = ["FUNCTIONS", "Accuracy", "accuracy", "read"]
