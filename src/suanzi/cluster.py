"""The public path of :mod:`suanzi.runtimes.cluster`: the same module by this name."""

import sys

from suanzi.runtimes import cluster as module
from suanzi.runtimes.cluster import *  # noqa: F403

sys.modules[__name__] = module
