"""The public path of :mod:`suanzi.tensors.npy`: the same module by this name."""

import sys

from suanzi.tensors import npy as module
from suanzi.tensors.npy import *  # noqa: F403

sys.modules[__name__] = module
