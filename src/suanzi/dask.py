"""The public path of :mod:`suanzi.runtimes.cluster.dask`: the same module by this name."""

import sys

from suanzi.runtimes.cluster import dask as module
from suanzi.runtimes.cluster.dask import *  # noqa: F403

sys.modules[__name__] = module
