"""The public path of :mod:`suanzi.tensors.saving`: the same module by this name."""

import sys

from suanzi.tensors import saving as module
from suanzi.tensors.saving import *  # noqa: F403

sys.modules[__name__] = module
