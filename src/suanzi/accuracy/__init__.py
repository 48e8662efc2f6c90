"""How accurate a backend's functions are: the largest error in units of the last place, and more.

``functions``  what is measured, in float64 and with all digits
``inputs``     every bit pattern, or a search for the worst
``sweeper``    a subject in a process of its own, with tensors in files
``errors``     the errors of results, and what mpmath decides
``engine``     tasks, threads, and rows
``report``     a table, and JSON
"""

from suanzi.accuracy.functions import FUNCTIONS
from suanzi.accuracy.report import Accuracy, accuracy

__all__ = ["FUNCTIONS", "Accuracy", "accuracy"]
