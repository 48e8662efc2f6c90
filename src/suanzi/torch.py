"""The public path of :mod:`suanzi.runtimes.torch`: the same module by this name."""

import sys

from suanzi.runtimes import torch as module
from suanzi.runtimes.torch import *  # noqa: F403

sys.modules[__name__] = module
